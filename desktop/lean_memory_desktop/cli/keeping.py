"""`lean-memory backup` and `restore`: copies of everything, looked over when they are made and again before they come back.

Both work on the files themselves, also beside a running service, which sees what came back at its next call.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import NotFoundError
from lean_memory_desktop.cli.console import ask, can_ask, complain, counted, say, table, write_json
from lean_memory_desktop.cli.moments import show_moment
from lean_memory_desktop.cli.opening import check_root, data_root, known_files, open_files, zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory import Memory
    from lean_memory.custody import Backup, Restored


def backup(options: Options) -> int:
    """Back up every namespace, or the one that was named."""
    if options.listed or options.verify:
        # Also of a namespace that is not there any more.
        check_root(options)
        with open_files(options) as memory:
            return _list(options, memory.backups()) if options.listed else _verify(options, memory)
    with known_files(options) as memory:
        if options.scrub:
            return _scrub(options, memory)
        only = [options.namespace] if "namespace" in vars(options) else None
        if only is None and not (memory.namespaces() or memory.other_files()):
            raise NotFoundError(f"Nothing is remembered in {data_root(options)} yet, so there is nothing to back up. No backup was made.")
        made = memory.backup(Path(options.words[0]).absolute() if options.words else None, namespaces=only)
    if options.json:
        write_json(_form(made))
        return Exit.FINE
    say(f"Backed up {counted(len(made.namespaces), 'namespace')} ({made.bytes:,} bytes) to {made.path}.")
    for sentence in made.left_out:
        complain(f"Left out: {sentence}")
    return Exit.FAILED if made.left_out else Exit.FINE


def restore(options: Options) -> int:
    """Bring a backup back, after asking."""
    only = options.namespace if "namespace" in vars(options) else None
    check_root(options)
    with open_files(options) as memory:
        if not options.words:
            return _list(options, memory.backups())
        if not options.yes:
            # Nobody is asked about a backup that is not there or cannot be read.
            memory.would_restore(options.words[0], namespace=only)
        if not _agreed(options, only):
            return Exit.FAILED
        done = memory.restore(options.words[0], namespace=only)
    if options.json:
        write_json({"restored": [_restored_form(one) for one in done]})
        return Exit.FINE
    for one in done:
        _report(one, options)
    return Exit.FINE


def _verify(options: Options, memory: Memory) -> int:
    """Read a backup whole."""
    if not options.words:
        raise BadUseError("Name the backup to verify, as in: lean-memory backup --verify NAME. lean-memory backup --list lists them.")
    found = memory.verify_backup(options.words[0])
    if options.json:
        write_json(_form(found))
    elif found.problem:
        complain(found.problem)
    else:
        # Only a backup's folder holds the sums that its files had.
        how = "every byte as it was written" if found.path.is_dir() else "read whole and found sound"
        say(f"{found.path.name} can be used: {counted(len(found.namespaces), 'namespace')}, {how}.")
    return Exit.FAILED if found.problem else Exit.FINE


def _scrub(options: Options, memory: Memory) -> int:
    """Take what was forgotten out of the backups."""
    from lean_memory_bridge.schemas import NOT_LOOKED_AT

    done = memory.scrub_backups(options.namespace)
    if options.json:
        write_json({"backups": [str(path) for path in done.backups], "left": list(done.left), "holding_copies": list(done.holding_copies)})
        return Exit.FAILED if done.left else Exit.FINE
    if done.backups:
        say(f"Made again without what was forgotten of {options.namespace!r}, each under the name given here; the old ones are gone:")
        for path in done.backups:
            say(path.name, indent=2)
    else:
        say(f"No backup in the data folder holds anything of {options.namespace!r} that was forgotten; none was changed.")
    for sentence in done.left:
        complain(f"Not done: {sentence}")
    if done.holding_copies:
        say("These files may still hold a copy; delete them if it must go there too:")
        for name in done.holding_copies:
            say(name, indent=2)
    say(NOT_LOOKED_AT)
    return Exit.FAILED if done.left else Exit.FINE


def _list(options: Options, backups: list[Backup]) -> int:
    if options.json:
        write_json({"backups": [_form(one) for one in backups]})
        return Exit.FINE
    if not backups:
        raise NotFoundError("There is no backup in the data folder; `lean-memory backup` makes one.")
    rows = [
        (
            one.path.name,
            show_moment(one.at, zone_of(options)),
            one.problem or ", ".join(held.name for held in one.namespaces),
            f"{one.bytes:,}",
        )
        for one in backups
    ]
    table(("backup", "of", "holds", "bytes"), rows)
    return Exit.FINE


def _agreed(options: Options, only: str | None) -> bool:
    if options.yes:
        return True
    if not can_ask():
        raise BadUseError(
            "This replaces what the memory holds now, and there is no terminal to ask you at, so nothing was changed; add --yes if you mean it."
        )
    what = "every namespace that the backup holds" if only is None else f"the namespace {only!r}"
    complain(
        f"What {what} remembers now is replaced by {options.words[0]}, but for what was forgotten since. The present state is kept aside."
    )
    if ask("Restore? Type yes to go on:").casefold() in ("yes", "y"):
        return True
    complain("Nothing was changed.")
    return False


def _report(one: Restored, options: Options) -> None:
    say(
        f"{one.name!r} is as of {show_moment(one.at, zone_of(options))} again: {counted(one.episodes, 'text')}, {counted(one.facts, 'fact')}."
    )
    if one.scrubbed:
        say(f"{counted(one.scrubbed, 'fact')} had been forgotten since and did not come back.", indent=2)
    if one.kept_aside is not None:
        say(f"What it held before is in {one.kept_aside}.", indent=2)
    for note in one.notes:
        say(note, indent=2)


def _form(one: Backup) -> dict[str, object]:
    return {
        "path": str(one.path),
        "at": one.at,
        "occasion": one.occasion,
        "bytes": one.bytes,
        "namespaces": [asdict(held) for held in one.namespaces],
        "left_out": list(one.left_out),
        "problem": one.problem,
    }


def _restored_form(one: Restored) -> dict[str, object]:
    aside = None if one.kept_aside is None else str(one.kept_aside)
    return {**asdict(one), "kept_aside": aside, "notes": list(one.notes)}
