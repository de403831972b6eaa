"""Bringing a namespace back from a copy: looked over, brought up to date and scrubbed beside the memory, then put in its place at one stroke.

The file that is there may be open in other processes, so it is not exchanged: its pages are written over in one transaction of SQLite's, by the
online backup the other way round. Whoever reads goes on with the old state until then; a crash leaves the old or the new one. The same
lock is held while the state of before is kept aside, so that nothing which was acknowledged falls between the two.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import apsw

from lean_memory.clock import Clock
from lean_memory.custody import Backup, Occasion, Restored
from lean_memory.domain import Instant
from lean_memory.errors import (
    BusyError,
    DamagedFileError,
    InvalidInputError,
    LeanMemoryError,
    NewerSchemaError,
    NotFoundError,
    StorageError,
    quoted,
)
from lean_memory.settings import Settings
from lean_memory.store import backups, clear
from lean_memory.store.connection import errors_translated, folder_shared, has_moved, open_connection, pragma_int
from lean_memory.store.copying import contents_of, sync_folder
from lean_memory.store.migrate import builtin_migrations, put_in_place
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import BACKUPS, COMPANIONS, SUFFIX, FileKind, kind_of, opened_to_look, path_of, remove_draft
from lean_memory.store.own_schema import refuse_more_than_ours
from lean_memory.store.restored_rows import refuse_other_rows, refuse_what_is_to_come
from lean_memory.store.scrub import Graves, Scrubbed, graves_of, next_moment, scrub

_LINKS_APART = "UPDATE index_change SET change = change + ?"
_OTHER_NUMBERS = 10**13
_ASIDE_DAMAGED = "The file that was there is damaged; it is kept aside as it is."
_UNTOLD = "What was forgotten since could not be read from it; only what the newest other backup knows of that was left out."
_UNGUARDED = "It had tombstones of another history, which are let go; what they forbade could be learned again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """How the file of a namespace stands before something takes its place."""

    is_there: bool
    is_sound: bool
    graves: Graves | None
    moment: Instant


def restore_one(source: Path, name: str, work: Path, *, at: int, root: Path, settings: Settings, clock: Clock) -> Restored:
    """Bring one namespace back from the copy `source`, which stays as it is, and keep its present state aside; `work` is an empty folder.

    Raises `DamagedFileError`, `ForeignFileError` or `NewerSchemaError` before anything is changed; `LeaseHeldError` during maintenance.
    """
    path, draft = path_of(root, name), path_of(work, name)
    present = look_at(path)
    # What fails now is the disk of the memory: the copy was read whole before.
    with errors_translated(path):
        shutil.copyfile(source, draft)
    if contents_of(draft).is_cleared:
        raise NotFoundError(f"{source} holds nothing: the namespace “{quoted(name)}” had been cleared. Nothing was changed.")
    scrubbed = prepared(work, name, present.moment, _graves(root, name, present, source), settings=settings, clock=clock)
    held = contents_of(draft)
    aside = take_place(draft, path, present, now=clock(), settings=settings, occasion=Occasion.BEFORE_RESTORE)
    notes = [_ASIDE_DAMAGED] if present.is_there and not present.is_sound else []
    notes += [_UNTOLD] if present.is_there and present.graves is None else []
    notes += [] if scrubbed.is_guarded else [_UNGUARDED]
    return Restored(
        name=name,
        at=Instant(at),
        episodes=held.episodes,
        facts=held.facts,
        kept_aside=aside,
        scrubbed=scrubbed.facts,
        notes=tuple(notes),
    )


def restore_file(source: Path, only: str | None, root: Path) -> tuple[str, Instant]:
    """Which namespace a single copy holds, and of when it is. Raises `InvalidInputError` for the memory's own file, else as `restore_one`."""
    if source.parent.resolve() == root.resolve() and source.name.endswith(SUFFIX):
        raise InvalidInputError(f"{source} is the memory itself, not a copy of it; nothing was changed.")
    if source.is_file() and kind_of(source) is FileKind.OURS:
        refuse_more_than_ours(source)
    held = contents_of(source)
    if only is not None and held.name != only:
        raise NotFoundError(f"{source} holds the namespace “{quoted(held.name)}”, not “{quoted(only)}”; nothing was changed.")
    return held.name, Instant(round(source.stat().st_mtime * 1000))


def look_at(path: Path) -> Present:
    """How the file at `path` stands, read whole. Raises `ForeignFileError` only where it is a link; what else is there can be kept aside."""
    kind = kind_of(path)
    if kind is FileKind.MISSING:
        return Present(is_there=False, is_sound=True, graves=None, moment=Instant(0))
    if kind is not FileKind.OURS:
        return Present(is_there=True, is_sound=False, graves=None, moment=Instant(0))
    try:
        with errors_translated(path), contextlib.closing(opened_to_look(path)) as con:
            graves, moment = _told(con)
            if pragma_int(con, "user_version") > builtin_migrations()[-1].version:
                raise NewerSchemaError(
                    f"{path.name} was written by a newer Lean Memory, so nothing takes its place. Update the program first."
                )
            is_sound = con.execute("PRAGMA quick_check(1)").get == "ok"
            return Present(is_there=True, is_sound=is_sound, graves=graves, moment=moment)
    except (NewerSchemaError, BusyError):
        raise
    except (StorageError, apsw.Error):
        return Present(is_there=True, is_sound=False, graves=None, moment=Instant(0))


def settle(con: apsw.Connection, moment: Instant) -> None:
    """Let a copy go on from `moment`, and no reader take it for a state that it saw before, inside the caller's transaction."""
    con.execute("UPDATE setting SET value = max(value, ?) WHERE key = 'next_moment'", (moment,))
    con.execute(_LINKS_APART, (_OTHER_NUMBERS + secrets.randbelow(_OTHER_NUMBERS),))


def take_place(draft: Path, path: Path, present: Present, *, now: Instant, settings: Settings, occasion: Occasion) -> Path | None:
    """Let a finished file take the place of the one at `path`, whose state is kept aside; gives where. Whole, or not at all."""
    with errors_translated(path):
        if present.is_there and present.is_sound:
            return _write_over(draft, path, present, now=now, settings=settings, occasion=occasion)
        aside = _set_aside(path) if present.is_there else None
        if not put_in_place(draft, path):
            raise BusyError(f"Another program made {path.name} just now, so nothing took its place. Try again.")
        return aside


def refuse_if_more_was_forgotten(con: apsw.Connection, before: Graves | None) -> None:
    """Raise `BusyError` where an open file knows of more that was forgotten than it did `before`: what is to be written is not without it."""
    if before is not None and not set(graves_of(con).rows) <= set(before.rows):
        raise BusyError("Something was forgotten here just now, which might have come back; nothing was changed. Try again.")


def _write_over(draft: Path, path: Path, present: Present, *, now: Instant, settings: Settings, occasion: Occasion) -> Path | None:
    with (
        folder_shared(path.parent),
        contextlib.closing(open_connection(draft, busy_timeout_ms=0, readonly=True, immutable=True)) as new,
        contextlib.closing(open_connection(path, busy_timeout_ms=settings.busy_timeout_ms)) as old,
    ):
        # Out of WAL mode the lock would keep readers out too, ourselves among them.
        old.execute("PRAGMA journal_mode = WAL").fetchall()
        aside: Path | None = None
        with old.backup("main", new, "main") as writing:
            # No page yet: this takes the lock on writing, which is held until the end.
            writing.step(0)
            if has_moved(old):
                raise BusyError(f"Another program cleared {path.name} just now, so nothing took its place. Try again.")
            aside = _kept_aside(path, present, now=now, settings=settings, occasion=occasion)
            while not writing.done:
                writing.step(-1)
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return aside


def _kept_aside(path: Path, present: Present, *, now: Instant, settings: Settings, occasion: Occasion) -> Path | None:
    """Keep the present state, unless there is nothing in it; with a maintenance run at work nothing is replaced."""
    with contextlib.closing(opened_to_look(path)) as con:
        clear.refuse_while_leased(con, now, "replaced")
        refuse_if_more_was_forgotten(con, present.graves)
        name = cast("str", con.execute("SELECT value FROM setting WHERE key = 'namespace'").get)
        if con.execute("SELECT 1 FROM episode LIMIT 1").get is None:
            return None
    return backups.back_up(path.parent, [name], now=now, occasion=occasion).path


def _set_aside(path: Path) -> Path:
    """Move a file that cannot be used, with what SQLite keeps beside it, out of the way."""
    folder = path.parent / BACKUPS / f"damaged-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700, parents=True)
    for end in (*COMPANIONS, ""):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(folder / (path.name + end))
    sync_folder(path.parent)
    return folder


def prepared(work: Path, name: str, moment: Instant | None, graves: Sequence[Graves], *, settings: Settings, clock: Clock) -> Scrubbed:
    """Bring the copy in `work` up to date, scrub it, and see that it keeps its promises; to be put in the memory's place, it goes on from `moment`."""
    refuse_more_than_ours(path_of(work, name))
    store = NamespaceStore.open(work, name, settings=settings, clock=clock, create=False)
    try:
        store.look(lambda tx: refuse_other_rows(tx.connection, name))
        if moment is not None:
            # What is in its place may have been written under the same clock.
            refuse_what_is_to_come(store.look(lambda tx: next_moment(tx.connection)), max(moment, clock()))
        scrubbed = store.change(lambda tx: scrub(tx, graves))
        store.purge_now(scrubbed.texts)
        if moment is not None:
            store.change(lambda tx: settle(tx.connection, moment))
        problems = store.check()
        if problems:
            raise DamagedFileError(f"The copy of “{quoted(name)}” does not keep its promises ({problems[0]}), so it was not used.")
    finally:
        store.close()
    finish_file(path_of(work, name))
    return scrubbed


def finish_file(path: Path) -> None:
    """Leave a file that is in no use without a log, so that it is whole in itself."""
    with contextlib.closing(open_connection(path, busy_timeout_ms=1_000)) as con:
        con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        con.execute("PRAGMA journal_mode = DELETE").fetchall()
    remove_draft(path.with_name(path.name + "-wal"))


def _graves(root: Path, name: str, present: Present, source: Path) -> list[Graves]:
    """What is known to have been forgotten: by the file that is there, or where it cannot tell, by the newest backup that can.

    An older one may forbid what the person has allowed again since.
    """
    if present.graves is not None:
        return [present.graves]
    for backup in backups.backups_in(root) if present.is_there else ():
        for held in backup.namespaces:
            if held.name == name and backup.path / held.file != source:
                with contextlib.suppress(LeanMemoryError, apsw.Error):
                    return [_graves_in(backup, held.file)]
    return []


def _graves_in(backup: Backup, file: str) -> Graves:
    path = backup.path / file
    with errors_translated(path), contextlib.closing(open_connection(path, busy_timeout_ms=0, readonly=True, immutable=True)) as con:
        return graves_of(con)


def _told(con: apsw.Connection) -> tuple[Graves | None, Instant]:
    try:
        return graves_of(con), next_moment(con)
    except (apsw.Error, TypeError):
        return None, Instant(0)
