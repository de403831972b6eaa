"""The one supervisor of a data root: its lock, and what it says of itself to whoever wants to know why nothing answers."""

from __future__ import annotations

import json
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

from lean_memory.only_one import only_one
from lean_memory.private_files import replace_private

LOCK_FILE = "supervisor.lock"
STATE_FILE = "supervisor.json"
"""`state` (`running` or `failed`), `pid`, `reason`, `leaves` (whether it ends by itself once nobody uses it), and `at` in epoch milliseconds.
The shim reads it too."""


def claimed(root: Path) -> AbstractContextManager[bool]:
    """Gives whether this process is the supervisor of `root` while the block runs."""
    return only_one(root / LOCK_FILE)


def say_running(root: Path, *, leaves: bool = False) -> None:
    """Note that this process supervises `root`, and whether it leaves by itself once nobody uses it."""
    _write(root, "running", "", leaves=leaves)


def say_failed(root: Path, reason: str) -> None:
    """Note why this process gave up; `reason` is a sentence for a person."""
    _write(root, "failed", reason)


def say_gone(root: Path) -> None:
    """Take the note away at a good end."""
    (root / STATE_FILE).unlink(missing_ok=True)


def last_failure(root: Path) -> str | None:
    """Why the last supervisor gave up, if it did."""
    state = _state(root)
    return str(state.get("reason")) if state.get("state") == "failed" else None


def supervisor_pid(root: Path) -> int | None:
    """The process that says it supervises `root`; whether it still lives, only the lock tells."""
    pid = _state(root).get("pid")
    return pid if isinstance(pid, int) else None


def leaves_by_itself(root: Path) -> bool:
    """Whether the supervisor of `root` says that it ends once nobody uses it, as one that an assistant started does."""
    return _state(root).get("leaves") is True


def _state(root: Path) -> dict[str, object]:
    try:
        held = json.loads((root / STATE_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", held) if isinstance(held, dict) else {}


def _write(root: Path, state: str, reason: str, *, leaves: bool = False) -> None:
    said = {"state": state, "pid": os.getpid(), "reason": reason, "leaves": leaves, "at": time.time_ns() // 1_000_000}
    replace_private(root / STATE_FILE, json.dumps(said))
