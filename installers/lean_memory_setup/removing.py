"""Uninstalling: what this program wrote outside its folder goes through the program itself, then the folder. Memories stay unless asked for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lean_memory_setup.asking import bare_environment
from lean_memory_setup.installing import ENVIRONMENTS, PROGRAM, Installation
from lean_memory_setup.one_at_a_time import SWITCHING, nobody_starts
from lean_memory_setup.placing import remove_placed

_PATIENCE = 120.0
_LEAVE = """
import sys
from pathlib import Path
from lean_memory_bridge.autostart import autostart_of
from lean_memory_desktop.cli.main import run
root = sys.argv[1]
autostart_of(Path(root)).turn_off()
run(["--root", root, "disconnect"])
"""
"""The login item and the assistants' entries, as the person would have them taken out; no assistant connected is not an error here."""
_FORGET = """
import shutil, sys
shutil.rmtree(sys.argv[1])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who may have used the program, with the data roots they used. `user`, `group`: whose rights to act with; `None` for our own."""

    roots: Sequence[Path]
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    user: int | None = None
    group: int | None = None


def uninstall(of: Installation, people: Sequence[Person], say: Callable[[str], None], *, forget_memories: bool = False) -> None:
    """Take the program off. What cannot be taken out is said and left. Raises `SetupError` where it runs and cannot be ended, and `OSError`."""
    with nobody_starts(of.home):
        if of.link.target() is not None:
            of.runs.stop()
            for person in people:
                _leave(of.python, person, say)
        if forget_memories:
            for person in people:
                _forget(person, say)
        remove_placed(of.home)
        of.link.remove()
        shutil.rmtree(of.home / ENVIRONMENTS, ignore_errors=True)
        (of.home / PROGRAM).unlink(missing_ok=True)
    (of.home / SWITCHING).unlink(missing_ok=True)


def everybody() -> list[Person]:
    """Linux, for root: each person of this computer who has a data folder or a login item of ours."""
    import os  # noqa: PLC0415 - what follows exists on POSIX only
    import pwd  # noqa: PLC0415

    found: list[Person] = []
    for entry in pwd.getpwall():
        home = Path(entry.pw_dir)
        root = home / ".lean_memory"
        if home != Path("/") and (root.is_dir() or (home / ".config" / "autostart" / "lean-memory.desktop").exists()):
            environ = {"HOME": str(home), "USER": entry.pw_name, "LOGNAME": entry.pw_name, "PATH": os.defpath, "LANG": "C.UTF-8"}
            found.append(Person(roots=[root], environ=environ, user=entry.pw_uid, group=entry.pw_gid))
    return found


def _leave(python: Path, person: Person, say: Callable[[str], None]) -> None:
    for root in person.roots:
        done = _as(person, [str(python), "-I", "-c", _LEAVE, str(root)])
        if done is None or done.returncode != 0:
            told = "" if done is None else (done.stderr or done.stdout).strip()[-500:]
            say(f"An assistant's configuration or the login item may still name Lean Memory ({root}). {told}")


def _forget(person: Person, say: Callable[[str], None]) -> None:
    for root in person.roots:
        done = _as(person, [sys.executable, "-I", "-c", _FORGET, str(root)]) if root.is_dir() else None
        if root.is_dir():
            say(f"The memories in {root} could not be removed. {'' if done is None else done.stderr.strip()[-500:]}")


def _as(person: Person, words: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    groups = None if person.user is None else ()
    try:
        return subprocess.run(
            words,
            env={**bare_environment(), **person.environ},
            cwd=person.environ.get("HOME"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
            user=person.user,
            group=person.group,
            extra_groups=groups,
        )
    except (OSError, subprocess.TimeoutExpired, subprocess.SubprocessError):
        return None
