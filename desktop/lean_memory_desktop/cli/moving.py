"""`lean-memory export` and `import`: a namespace as one file, and back, with what it would change shown first."""

from __future__ import annotations

import getpass
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import can_ask, counted, say, write_json
from lean_memory_desktop.cli.opening import known_files, open_files
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory.custody import Imported, Part

_SHOWN = 20


def export(options: Options) -> int:
    """Write a namespace to a file."""
    path = Path(options.words[0]).absolute()
    with known_files(options) as memory:
        written = memory.export(options.namespace, path, passphrase=_passphrase(options, again=True))
    if options.json:
        write_json({**asdict(written), "path": str(written.path)})
    else:
        say(
            f"{options.namespace!r} ({counted(written.facts, 'fact')}) is in {written.path}{', under your passphrase' if written.is_sealed else ''}."
        )
    return Exit.FINE


def import_(options: Options) -> int:
    """Say what a bundle would bring, and bring it with --apply."""
    name = options.namespace if "namespace" in vars(options) else None
    with open_files(options) as memory:
        told = memory.import_(options.words[0], namespace=name, apply=options.apply, passphrase=_passphrase(options))
    if options.json:
        aside = None if told.kept_aside is None else str(told.kept_aside)
        write_json({**asdict(told), "kept_aside": aside, "parts": [asdict(part) for part in told.parts], "notes": list(told.notes)})
    else:
        _report(told)
    return Exit.FINE


def _report(told: Imported) -> None:
    would = "" if told.is_applied else "would "
    headings = {"add": f"{would}come new", "change": f"{would}go on from what is here", "conflict": "contradict what is here, which stays"}
    say(f"Into {told.namespace!r}: {counted(told.episodes, 'new text')}, {counted(told.same, 'subject')} known already.")
    for fate, heading in headings.items():
        parts = [part for part in told.parts if part.fate == fate]
        if parts:
            say(f"{len(parts)} {heading}:")
            for part in parts[:_SHOWN]:
                say(_line(part), indent=2)
            if len(parts) > _SHOWN:
                say(f"and {len(parts) - _SHOWN} more (--json lists all)", indent=2)
    if told.forgotten:
        say(f"{counted(told.forgotten, 'fact')} had been forgotten here and {would or 'did '}not come back.")
    if told.kept_aside is not None:
        say(f"What it held before is in {told.kept_aside}.")
    for note in told.notes:
        say(note)
    if not told.is_applied:
        say("Nothing was written; add --apply to do it.")


def _line(part: Part) -> str:
    there = " / ".join(part.there) or f"{part.subject} {part.predicate}"
    return f"{there} (here: {' / '.join(part.here)})" if part.here else there


def _passphrase(options: Options, *, again: bool = False) -> str | None:
    """The passphrase where one is asked for: never an argument, which other programs could read."""
    if not options.passphrase:
        return None
    given = os.environ.get("LM_PASSPHRASE")
    if given is not None:
        return given
    if not can_ask():
        raise BadUseError("There is no terminal to ask you for the passphrase at; put it into LM_PASSPHRASE.")
    typed = getpass.getpass("Passphrase: ")
    if again and getpass.getpass("Once more: ") != typed:
        raise BadUseError("The two differ; nothing was written.")
    return typed
