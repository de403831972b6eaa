"""From a bundle's records to a file of their own, checked and without what was forgotten here; then in the place of nothing, or merged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lean_memory.clock import Clock
from lean_memory.custody import Fate, Imported, Occasion
from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError
from lean_memory.settings import Settings
from lean_memory.store import backups, clear
from lean_memory.store.bundle_rows import Record, file_of, make_index
from lean_memory.store.connection import errors_translated, open_connection, snapshot
from lean_memory.store.merge_write import Merger
from lean_memory.store.merging import Plan, Side, plan, side_of
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import opened_to_look, path_of
from lean_memory.store.restored_rows import refuse_what_is_to_come
from lean_memory.store.restoring import Present, finish_file, look_at, refuse_if_more_was_forgotten, settle, take_place
from lean_memory.store.scrub import Graves, Scrubbed, graves_of, next_moment, scrub
from lean_memory.store.writing import WriteTransaction

_ELSEWHERE = "What was forgotten where the bundle was made is not known here: this memory has tombstones of its own."
_UNMERGED = "Proposals and runs of maintenance stay where they were made, as there is a memory here already."
_BURIED = (
    "Some of what was forgotten where the bundle was made was not forgotten here: it is not to be learned anew; what is here of it stays."
)
_NOTHING = Side(slots={}, texts={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What is to be brought in, under which name, of which schema."""

    name: str
    schema_version: int
    records: Iterable[Record]


def bring_in(given: Given, work: Path, *, root: Path, settings: Settings, clock: Clock, apply: bool) -> Imported:
    """Plan what the records would do to the namespace in `root`, and do it if `apply`. `work` is an empty folder for the time of the call.

    Raises `DamagedFileError` for records that make no sound file, and `LeaseHeldError` during maintenance; nothing is changed then.
    """
    path, draft = path_of(root, given.name), path_of(work, given.name)
    present = look_at(path)
    if present.is_there and not present.is_sound:
        raise DamagedFileError(f"{path} is damaged, so nothing was brought in. Restore a backup of it first.")
    shared = file_of(draft, given.name, given.schema_version, given.records)
    graves = [] if present.graves is None else [present.graves]
    store = NamespaceStore.open(work, given.name, settings=settings, clock=clock, create=False)
    try:
        scrubbed = _checked(store, shared, graves, present.moment, now=clock())
        there = store.look(lambda tx: side_of(tx.connection))
        buried = _only_there(present.graves, store.look(lambda tx: graves_of(tx.connection)))
    finally:
        store.close()
    finish_file(draft)
    here = _here(path) if present.is_there else _NOTHING
    planned = plan(here, there)
    is_new = bool(planned.episodes or buried) or any(fate in {Fate.ADD, Fate.CHANGE} for fate in planned.fates.values())
    if not apply or (present.is_there and not is_new):
        return _told(given, planned, scrubbed, is_applied=apply, notes=(_BURIED,) if buried and present.is_there else ())
    if not here.texts:
        aside = take_place(draft, path, present, now=clock(), settings=settings, occasion=Occasion.BEFORE_IMPORT)
        return _told(given, planned, scrubbed, is_applied=True, notes=(), aside=aside)
    return _merged(given, draft, there, scrubbed, present, root=root, settings=settings, clock=clock)


def _checked(store: NamespaceStore, shared: dict[int, int], graves: list[Graves], moment: Instant, *, now: Instant) -> Scrubbed:
    refuse_what_is_to_come(store.look(lambda tx: next_moment(tx.connection)), now)
    store.change(lambda tx: make_index(tx, shared))
    problems = store.check()
    if problems:
        raise DamagedFileError(f"The bundle does not keep the promises of a memory ({problems[0]}), so it was not used.")
    scrubbed = store.change(lambda tx: scrub(tx, graves))
    store.purge_now(scrubbed.texts)
    store.change(lambda tx: settle(tx.connection, moment))
    return scrubbed


def _only_there(here: Graves | None, there: Graves) -> bool:
    """Whether something was forgotten there and not here, as far as that can be told."""
    if here is None or here.salt != there.salt:
        return here is None and bool(there.rows)
    return not {digest for digest, _ in there.rows} <= {digest for digest, _ in here.rows}


def _here(path: Path) -> Side:
    with errors_translated(path), contextlib.closing(opened_to_look(path)) as con, snapshot(con):
        return side_of(con)


def _merged(
    given: Given, draft: Path, there: Side, scrubbed: Scrubbed, present: Present, *, root: Path, settings: Settings, clock: Clock
) -> Imported:
    """Merge; planned anew under the lock, since others may have written, after the present state was kept aside."""
    store = NamespaceStore.open(root, given.name, settings=settings, clock=clock, create=False)
    try:
        aside = backups.back_up(root, [given.name], now=clock(), occasion=Occasion.BEFORE_IMPORT)

        def write(tx: WriteTransaction) -> tuple[Plan, bool]:
            clear.refuse_while_leased(tx.connection, tx.recorded_at, "changed")
            refuse_if_more_was_forgotten(tx.connection, present.graves)
            planned = plan(side_of(tx.connection), there)
            with contextlib.closing(open_connection(draft, busy_timeout_ms=0, readonly=True, immutable=True)) as con:
                Merger(there=con, con=tx.connection).run(planned, there)
                is_guarded = _bury(tx, graves_of(con))
            tx.tick()
            return planned, is_guarded

        planned, is_guarded = store.change(write, anew=False)
    finally:
        store.close()
    notes = (_UNMERGED,) if is_guarded else (_UNMERGED, _ELSEWHERE)
    return _told(given, planned, scrubbed, is_applied=True, notes=notes, aside=aside.path)


def _bury(tx: WriteTransaction, graves: Graves) -> bool:
    """Take over what may not be learned again, where it can be read here; nothing is erased by that. Whether it could."""
    own = graves_of(tx.connection)
    if own.salt == graves.salt:
        tx.connection.executemany("INSERT OR IGNORE INTO tombstone (digest, forgotten_at) VALUES (?, ?)", graves.rows)
    return own.salt == graves.salt or not graves.rows


def _told(
    given: Given, planned: Plan, scrubbed: Scrubbed, *, is_applied: bool, notes: tuple[str, ...], aside: Path | None = None
) -> Imported:
    return Imported(
        namespace=given.name,
        is_applied=is_applied,
        episodes=len(planned.episodes),
        parts=planned.parts,
        same=sum(fate is Fate.SAME for fate in planned.fates.values()),
        forgotten=scrubbed.facts,
        kept_aside=aside,
        notes=notes,
    )
