"""Where things are and how the engine is set, read once at the composition root and passed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_ROOT = "~/.lean_memory"
DEFAULT_OLLAMA_HOST = "http://127.0.0.1:11434"
DEFAULT_MODELS_ENDPOINT = "https://huggingface.co"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The engine's settings.

    `timezone` is the IANA name used when an episode names none; `None` means the system's.
    `busy_timeout_ms` is how long a write waits for another process before `BusyError`.
    `typing_model` is the name of a model of the Ollama at `ollama_host`, which must be on this machine, and `typing_timeout` the seconds an
    answer may take; `gliner_model` is a folder or hub id, fetched only if `may_download`. Without them extraction is by rules alone.
    `models_endpoint` is where the models of a tier are fetched from when the person says so: a hub, or a mirror with the hub's addresses;
    `models_manifest` names them in place of the list that comes with the package.
    `maint_auto`: the first call to a namespace that nobody has gone over for long takes care of what is provably safe, beside answering.
    """

    root: Path
    timezone: str | None = None
    busy_timeout_ms: int = 20_000
    typing_model: str | None = None
    ollama_host: str = DEFAULT_OLLAMA_HOST
    typing_timeout: float = 60.0
    gliner_model: str | None = None
    may_download: bool = False
    models_endpoint: str = DEFAULT_MODELS_ENDPOINT
    models_manifest: Path | None = None
    maint_auto: bool = False


def read_settings(root: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the environment (`LM_DATA_ROOT`, `LM_TZ`, `LM_TYPING_MODEL`, `LM_OLLAMA_HOST`, `LM_GLINER_MODEL`, `LM_DOWNLOAD=1`,
    `LM_MODELS_ENDPOINT`, `LM_MODELS_MANIFEST`, `LM_MAINT_AUTO=1`); an explicit `root` wins."""
    manifest = environ.get("LM_MODELS_MANIFEST")
    chosen = root if root is not None else environ.get("LM_DATA_ROOT") or DEFAULT_ROOT
    return Settings(
        root=Path(chosen).expanduser().absolute(),
        timezone=environ.get("LM_TZ") or None,
        typing_model=environ.get("LM_TYPING_MODEL") or None,
        ollama_host=environ.get("LM_OLLAMA_HOST") or DEFAULT_OLLAMA_HOST,
        gliner_model=environ.get("LM_GLINER_MODEL") or None,
        may_download=environ.get("LM_DOWNLOAD") == "1",
        models_endpoint=environ.get("LM_MODELS_ENDPOINT") or DEFAULT_MODELS_ENDPOINT,
        models_manifest=Path(manifest).expanduser().absolute() if manifest else None,
        maint_auto=environ.get("LM_MAINT_AUTO") == "1",
    )
