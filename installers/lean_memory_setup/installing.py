"""Installing and bringing up to date: the new environment is made and tried beside the old one, and comes into use in one step or not at all."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lean_memory_setup.environments import Maker, check
from lean_memory_setup.failing import SetupError
from lean_memory_setup.memories import backed_up, migrated, restored
from lean_memory_setup.one_at_a_time import allow_to_look, nobody_starts
from lean_memory_setup.payload import PACKS, Payload
from lean_memory_setup.running import Runs, Started, start_again
from lean_memory_setup.switching import Link

ENVIRONMENTS = "envs"
LINK = "env"
NOTE = "installed.json"
PROGRAM = "setup.pyz"


class Outcome(StrEnum):
    INSTALLED = "installed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Where the program lies and how this system makes, links and stops it. `roots` are the data roots that an update brings along."""

    home: Path
    maker: Maker
    link: Link
    runs: Runs
    roots: Sequence[Path] = ()

    @property
    def python(self) -> Path:
        """The interpreter in use, by the path that stays."""
        return self.maker.python(self.link.path)


def install(payload: Payload, to: Installation, say: Callable[[str], None]) -> Outcome:
    """Put the payload's program into use, unless it is in use already. Raises `SetupError` and leaves everything as it was where it fails."""
    payload.verify()
    old = to.link.target()
    fresh = to.home / ENVIRONMENTS / payload.name
    if old is not None and _note(old).get("digest") == payload.digest and _works(old, to):
        return Outcome.UNCHANGED
    if old == fresh or _note(fresh):
        # In use, or kept for what may still run from it.
        fresh = fresh.with_name(f"{fresh.name}-{time.time_ns() // 1_000_000:x}")
    try:
        _make(payload, fresh, to, say)
        if old is None or not _works(old, to):
            to.link.lead_to(fresh)
        else:
            _switch(old, fresh, to, say)
    except OSError as error:
        _drop(fresh, to)
        raise SetupError(f"Lean Memory cannot be installed in {to.home}: {error}") from error
    except SetupError:
        _drop(fresh, to)
        raise
    _clear_up(to, payload, old)
    return Outcome.INSTALLED if old is None else Outcome.UPDATED


def installed_version(to: Installation) -> str | None:
    """The version in use, if there is one."""
    target = to.link.target()
    return None if target is None else _note(target).get("version")


def _make(payload: Payload, fresh: Path, to: Installation, say: Callable[[str], None]) -> None:
    fresh.parent.mkdir(parents=True, exist_ok=True)
    if fresh.exists():
        # Somebody was cut off here.
        shutil.rmtree(fresh)
    say(f"Installing Lean Memory {payload.version} …")
    to.maker.make(payload, fresh, to.link.path)
    if any(held.path == PACKS for held in payload.files):
        # The program looks for it beside its own note.
        shutil.copyfile(payload.folder / PACKS, fresh / PACKS)
    check(to.maker.python(fresh))
    (fresh / NOTE).write_text(json.dumps({"version": payload.version, "digest": payload.digest}), encoding="utf-8")


def _switch(old: Path, fresh: Path, to: Installation, say: Callable[[str], None]) -> None:
    """From a program that works to another one. Nothing that was remembered is lost, and what ran runs again, however it ends."""
    started: Sequence[Started] = ()
    try:
        with nobody_starts(to.home):
            started = to.runs.stop()
            _replace(old, fresh, to, say)
    finally:
        _start(started, say)


def _replace(old: Path, fresh: Path, to: Installation, say: Callable[[str], None]) -> None:
    # Not before all is ended: what was said in between would be missing from what comes back.
    kept = backed_up(to.maker.python(old), to.roots)
    try:
        to.link.lead_to(fresh)
        migrated(to.python, to.roots)
        check(to.python)
    except (SetupError, OSError):
        say("The new version does not work with what is here; the old one comes back.")
        to.link.lead_to(old)
        restored(to.python, kept)
        raise


def _start(started: Sequence[Started], say: Callable[[str], None]) -> None:
    for one in started:
        try:
            start_again(one)
        except OSError as error:
            # The program is in place all the same; only this one has to be started by hand.
            say(f"Lean Memory ran and could not be started again ({error}).")


def _works(environment: Path, to: Installation) -> bool:
    if not _note(environment):
        return False
    try:
        check(to.maker.python(environment))
    except SetupError:
        return False
    return True


def _note(environment: Path) -> dict[str, str]:
    try:
        held = json.loads((environment / NOTE).read_bytes())
        return {"version": str(held["version"]), "digest": str(held["digest"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _drop(fresh: Path, to: Installation) -> None:
    if to.link.target() != fresh:
        shutil.rmtree(fresh, ignore_errors=True)


def _clear_up(to: Installation, payload: Payload, old: Path | None) -> None:
    """Remove the environments before `old`, from which an assistant's shim may run until it ends, and keep this program for uninstalling."""
    allow_to_look(to.home)
    kept = {to.link.target(), old}
    for other in (to.home / ENVIRONMENTS).iterdir():
        if other not in kept:
            shutil.rmtree(other, ignore_errors=True)
    source = payload.folder / PROGRAM
    if source.exists() and payload.folder != to.home:
        shutil.copyfile(source, to.home / PROGRAM)
