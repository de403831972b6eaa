"""Where things are and how the engine is set, read once at the composition root and passed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_ROOT = "~/.lean_memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The engine's settings.

    `timezone` is the IANA name used when an episode names none; `None` means the system's.
    `busy_timeout_ms` is how long a write waits for another process before `BusyError`.
    """

    root: Path
    timezone: str | None = None
    busy_timeout_ms: int = 20_000


def read_settings(root: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the environment (`LM_DATA_ROOT`, `LM_TZ`); an explicit `root` wins."""
    chosen = root if root is not None else environ.get("LM_DATA_ROOT") or DEFAULT_ROOT
    return Settings(
        root=Path(chosen).expanduser().absolute(),
        timezone=environ.get("LM_TZ") or None,
    )
