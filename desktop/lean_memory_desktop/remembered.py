"""What the tray keeps between two starts: a small file of the data root, for its owner's eyes only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from lean_memory.private_files import replace_private
from lean_memory_desktop.news import Told

DESKTOP_FILE = "desktop.json"
_LATEST = 1e11
"""Seconds since 1970; no clock says more, and what is damaged might."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The person's choices, and what was told already."""

    notifies: bool = True
    told: Told = field(default_factory=Told)


def read_remembered(root: Path) -> Remembered:
    """What was kept; the defaults where there is nothing, or nothing that can be understood."""
    held = read_object(root / DESKTOP_FILE)
    told = held.get("told")
    return Remembered(
        notifies=held.get("notifies") is not False, told=_told(cast("dict[str, Any]", told)) if isinstance(told, dict) else Told()
    )


def write_remembered(root: Path, remembered: Remembered) -> None:
    """Keep it. Raises `OSError`."""
    write_object(root / DESKTOP_FILE, asdict(remembered))


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is none, or none that can be understood."""
    try:
        held = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", held) if isinstance(held, dict) else {}


def write_object(path: Path, value: Mapping[str, object]) -> None:
    """Put a JSON file in place, whole or not at all, for its owner's eyes only. Raises `OSError`."""
    replace_private(path, json.dumps(value))


def _told(held: dict[str, Any]) -> Told:
    waiting, pulling, told = held.get("waiting"), held.get("pulling"), held.get("troubles")
    troubles = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return Told(
        waiting=waiting if isinstance(waiting, int) and waiting > 0 else 0,
        pulling=pulling if isinstance(pulling, str) else "",
        troubles={what: float(at) for what, at in troubles.items() if isinstance(at, int | float) and 0 <= at <= _LATEST},
    )
