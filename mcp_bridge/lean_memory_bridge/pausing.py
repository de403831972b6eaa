"""Whether the person has paused the memory for every assistant at once: a file of the data root. Standard library alone.

It holds until the person takes it back, over restarts; the tray writes it, and the service looks at it with every call.
"""

from __future__ import annotations

from pathlib import Path

PAUSED_FILE = "paused"


def is_paused(root: Path) -> bool:
    """Whether no assistant is let in at present."""
    return (root / PAUSED_FILE).exists()


def pause(root: Path) -> None:
    """Let no assistant in. Raises `OSError`."""
    (root / PAUSED_FILE).touch(mode=0o600)


def resume(root: Path) -> None:
    """Let them in again, but for those that are paused by themselves. Raises `OSError`."""
    (root / PAUSED_FILE).unlink(missing_ok=True)
