"""One namespace's file, open in this process: the only way in for everybody outside the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock, RLock
from typing import TypeVar, cast

import apsw

from lean_memory.clock import Clock
from lean_memory.domain import (
    ClearResult,
    Episode,
    EpisodeId,
    Fact,
    FactId,
    ForgetResult,
    HistoryEntry,
    Instant,
    Modality,
    NamespaceStatus,
    Visibility,
)
from lean_memory.errors import ClosedError, NotFoundError, StorageError, quoted
from lean_memory.forking import Mutex
from lean_memory.settings import Settings
from lean_memory.store import clear as clearing
from lean_memory.store.connection import errors_translated, found_again, has_moved, roll_back, snapshot
from lean_memory.store.episodes import NewEpisode, load_episode, recent_episodes, unfinished_episodes
from lean_memory.store.facts import FactFilter, read_fact, read_facts, read_history
from lean_memory.store.foresight import sentences_of
from lean_memory.store.forget import traces_of
from lean_memory.store.forget_scope import Reach
from lean_memory.store.forgetting import Target, erase, erase_as_seen
from lean_memory.store.grounds import Grounds, read_grounds
from lean_memory.store.health import check_invariants, read_status
from lean_memory.store.migrate import Migration, builtin_migrations
from lean_memory.store.namespaces import FileKind, copies_of, kind_of, path_of
from lean_memory.store.opened_file import FileOpener, OpenedFile
from lean_memory.store.purge import purge
from lean_memory.store.reading import HydratedRow, ReadTransaction
from lean_memory.store.tombstones import has_erased, has_tombstones
from lean_memory.store.writing import WriteTransaction

__all__ = ["HydratedRow", "NamespaceStore", "NewEpisode", "ReadTransaction", "WriteTransaction"]

_T = TypeVar("_T")

_LOOKS_EVERY_SECONDS = 0.001
_LOOKS_BEFORE = 2
"""How often what is to be forgotten is looked for while others may write, before they have to wait for it."""


class NamespaceStore:
    """One namespace's file. Thread-safe: one write connection behind a lock, readers from a pool, each on a snapshot.

    Readers wait for nobody. Every write is one `BEGIN IMMEDIATE` transaction, so several processes may have the file open;
    nothing is cached between transactions. After `close()` every call raises `ClosedError`.
    """

    def __init__(self, opener: FileOpener, opened: OpenedFile, clock: Clock) -> None:
        self._opener = opener
        self._opened: OpenedFile | None = opened
        """`None` once closed, and between the failure to open the file anew and the next call, which tries again."""
        self._closed = False
        self._lock = RLock()
        self._writing = Lock()
        """Held during a write transaction, besides `_lock`."""
        self._purging = Mutex()
        """Held while something is forgotten, before the others."""
        self.name = opener.name
        self.path = opener.path
        self.clock = clock

    @classmethod
    def open(
        cls,
        root: Path,
        name: str,
        *,
        settings: Settings,
        clock: Clock,
        create: bool = True,
        migrations: Sequence[Migration] | None = None,
    ) -> NamespaceStore:
        """Open a namespace under `root`, made first if there is none and `create` says so, brought up to date if it is older.

        Raises `InvalidNamespaceError`, `NotFoundError`, `ForeignFileError`, or another `StorageError`. A file of a newer version, or
        one that cannot be written, opens for reading only.
        """
        path = path_of(root, name)
        opener = FileOpener(
            path=path,
            name=name,
            busy_timeout_ms=settings.busy_timeout_ms,
            migrations=builtin_migrations() if migrations is None else migrations,
        )
        with errors_translated(path):
            return cls(opener, opener.open(create=create), clock)

    @property
    def writable(self) -> bool:
        """Whether the file can be written by this version of the program."""
        with errors_translated(self.path):
            return self._current().writer is not None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock, errors_translated(self.path):
            self._closed = True
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.close()

    def let_go(self, deadline: float) -> bool:
        """Close the file and let nobody open it until `go_on`; gives whether it was done before the deadline, on the monotonic clock.

        The next call after `go_on` opens the file again. What the calling thread itself is in the middle of is not closed.
        """
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return False
        done = False
        try:
            with suppress(StorageError), errors_translated(self.path):
                done = not self._writing.locked() and self._close_for_now(deadline)
        finally:
            if not done:
                self._lock.release()
        return done

    def go_on(self) -> None:
        """Let the file be opened again after `let_go`, by the same thread or by the only one of a forked child."""
        self._lock.release()

    # What is said

    def record_episode(self, new: NewEpisode) -> Episode:
        """Keep what was said, with its passages and their words; durable when this returns."""
        return self.record_episodes([new])[0]

    def record_episodes(self, many: Iterable[NewEpisode]) -> list[Episode]:
        """Keep several episodes in one transaction, in order."""
        return self.change(lambda tx: [tx.record(new) for new in many])

    def unfinished(self) -> list[Episode]:
        """Episodes that were stored and not finished, oldest first."""
        return self._look(unfinished_episodes)

    def recent_episodes(self, before: EpisodeId, *, client: str | None, limit: int) -> list[Episode]:
        """The last `limit` episodes of a client that were stored before another, oldest first."""
        return self._look(lambda con: recent_episodes(con, before, client, limit))

    def episode(self, uid: EpisodeId) -> Episode:
        """An episode by its id."""
        return self._look(lambda con: load_episode(con, uid))

    # What is known

    def change(self, do: Callable[[WriteTransaction], _T], *, anew: bool = True) -> _T:
        """One write transaction, committed when `do` ends and rolled back by any exception. Nothing slow belongs inside it.

        A namespace that was cleared begins anew with it, or with `anew` off stays cleared and `NotFoundError` is raised.

        Ctrl-C, wherever it comes, leaves neither the lock nor the transaction behind: they are let go of by calls of the driver and of
        the lock themselves, which it cannot come between, and not by functions, which it can keep from running.
        """
        with self._lock:
            self._refuse_nested()
            with self._writing, errors_translated(self.path):
                try:
                    tx = self._begin(anew=anew)
                    done = do(tx)
                    self._commit(tx)
                    return done
                finally:
                    if (opened := self._opened) is not None and (con := opened.writer) is not None and con.in_transaction:
                        con.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Generator[WriteTransaction]:
        """The same for a block. Ctrl-C may leave it open for as long as the block's frame is kept, as a debugger does."""
        with self._lock:
            self._refuse_nested()
            with self._writing, errors_translated(self.path):
                tx = self._begin()
                try:
                    yield tx
                    self._commit(tx)
                finally:
                    roll_back(tx.connection)

    def look(self, do: Callable[[ReadTransaction], _T]) -> _T:
        """What `do` reads from one snapshot of the file."""
        return self._look(lambda con: do(ReadTransaction(connection=con, namespace=self.name)))

    @contextmanager
    def read(self) -> Generator[ReadTransaction]:
        """The same for a block."""
        with errors_translated(self.path):
            while True:
                opened = self._current()
                con = opened.readers.take()
                if con is not None:
                    try:
                        with snapshot(con):
                            # This is also the first read, with which the snapshot begins.
                            if not self._is_left_behind(con):
                                yield ReadTransaction(connection=con, namespace=self.name)
                                return
                    finally:
                        opened.readers.give_back(con)
                self._reopened(opened)

    def facts(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        visibility: Visibility,
        modalities: frozenset[Modality] | None,
        limit: int | None = None,
    ) -> list[Fact]:
        """The facts that `visibility` lets through, newest `valid_at` first, then the one recorded later; `None` modalities are all."""
        wanted = FactFilter(subject=subject, predicate=predicate, modalities=modalities, limit=limit)
        return self._look(lambda con: read_facts(con, self.name, wanted, visibility))

    def fact(self, fact_id: FactId) -> Fact:
        """A fact by its id, however it stands. Raises `NotFoundError`."""
        return self._look(lambda con: read_fact(con, self.name, fact_id))

    def history(self, fact_id: FactId) -> list[HistoryEntry]:
        """The chain that a fact belongs to, oldest first. Raises `NotFoundError`."""
        return self._look(lambda con: read_history(con, self.name, fact_id))

    def grounds(self, fact_id: FactId) -> Grounds:
        """What is stored of how a fact came about, what it ended and what ended it. Raises `NotFoundError`."""
        return self._look(lambda con: read_grounds(con, self.name, fact_id))

    def status(self) -> NamespaceStatus:
        """Counts and health."""
        with errors_translated(self.path):
            refusal = self._current().refusal
        return self._look(lambda con: read_status(con, self.name, self.path, refusal, self.clock()))

    def check(self) -> list[str]:
        """What does not hold of the promises about a file, a sentence each; empty when all do."""
        return self._look(check_invariants)

    # What is erased

    def forget(
        self,
        *,
        fact_id: FactId | str | None = None,
        episode_id: EpisodeId | str | None = None,
        entity: str | None = None,
        reach: Reach | None = None,
        call: str | None = None,
    ) -> ForgetResult:
        """Erase exactly one of a fact (or a passage, by the id of its hit), an episode, everything about an entity, or what `reach` covers.

        What it said is in no file of the namespace afterwards, and is not learned again. Backups that may hold it are named in the
        result. Passages that were changed wait for their vectors (`texts_without_vector`). Raises `NotFoundError`; `BusyError`, or another
        `StorageError` that says so, if it is erased but copies in the log or in unused parts of the file could not be removed for now.
        A `call` is a name by which `has_erased` knows it from the moment on in which it is erased.
        """
        target = Target(fact_id=fact_id, episode_id=episode_id, entity=entity, reach=reach, call=call)
        with self._purging.held:
            erased = None
            for _ in range(_LOOKS_BEFORE):
                before = self._look(target.find)
                erased = self.change(partial(erase_as_seen, seen=before))
                if erased is not None:
                    break
            if erased is None:
                erased = self.change(lambda tx: erase(tx, target.find(tx.connection)))
            traces = self._look(partial(traces_of, texts=erased.texts))
            purge(self._turn, self.path, traces)
        return replace(erased.result, backups_holding_copies=copies_of(self.path))

    def purge_now(self, texts: Iterable[str]) -> None:
        """Take erased texts out of the log and out of unused parts of the file."""
        with self._purging.held:
            purge(self._turn, self.path, self._look(partial(traces_of, texts=texts)))

    def would_forget(
        self, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None, reach: Reach | None = None
    ) -> list[str]:
        """The texts that `forget` with the same arguments would erase. Raises `NotFoundError` where it would."""
        target = Target(fact_id=fact_id, episode_id=episode_id, entity=entity, reach=reach)
        return self._look(lambda con: sentences_of(con, target.scope(con)))

    def has_erased(self, call: str) -> bool:
        """Whether a call of this name has erased what it asked for."""
        return self._look(partial(has_erased, call=call))

    def has_tombstones(self) -> bool:
        """Whether anything was ever forgotten here."""
        return self._look(has_tombstones)

    @classmethod
    def clear(cls, root: Path, name: str, *, settings: Settings, clock: Clock) -> ClearResult:
        """Remove a namespace with everything in it; gives whether there was one, and the files that may hold copies of it.

        Raises `LeaseHeldError` while a maintenance run is alive. Processes that have the file open go on with an empty namespace.
        """
        path = path_of(root, name)
        with errors_translated(path):
            existed = clearing.clear_file(path, name, busy_timeout_ms=settings.busy_timeout_ms, now=clock())
            return ClearResult(existed=existed, copies=copies_of(path))

    def _current(self) -> OpenedFile:
        opened = self._opened
        return self._reopened(None) if opened is None else opened

    def _close_for_now(self, deadline: float) -> bool:
        opened, self._opened = self._opened, None
        if opened is None:
            return True
        opened.close()
        while opened.readers.in_use():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOKS_EVERY_SECONDS)
        return True

    def _turn(self, do: Callable[[apsw.Connection], _T], /) -> _T:
        """Do something with the write connection, outside a transaction, while nobody else uses it; a file that was closed is opened."""
        with self._lock:
            self._refuse_nested()
            con = self._current().write_connection()
            roll_back(con)
            return do(con)

    def _refuse_nested(self) -> None:
        if self._writing.locked():
            raise RuntimeError("a write transaction was begun inside another one")

    def _begin(self, *, anew: bool = True) -> WriteTransaction:
        """Begin a write transaction in the file that is at the path now; with the moment of everything recorded in it."""
        while True:
            if not anew and kind_of(self.path) is FileKind.MISSING:
                raise self._cleared()
            opened = self._current()
            con = opened.write_connection()
            # With the lock held it is nobody's: whoever began it was interrupted.
            roll_back(con)
            con.execute("BEGIN IMMEDIATE")
            moved = has_moved(con)
            if not anew and (moved or clearing.is_cleared(con)):
                raise self._cleared()
            if not moved:
                break
            roll_back(con)
            self._reopened(opened)
        free = cast("int", con.execute("SELECT value FROM setting WHERE key = 'next_moment'").get)
        return WriteTransaction(con, self.name, Instant(max(self.clock(), free)))

    def _cleared(self) -> NotFoundError:
        return NotFoundError(f"The namespace “{quoted(self.name)}” was cleared meanwhile.")

    def _commit(self, tx: WriteTransaction) -> None:
        tx.connection.execute("UPDATE setting SET value = ? WHERE key = 'next_moment'", (max(tx.recorded_at, tx.began_at + 1),))
        tx.connection.execute("COMMIT")

    def _look(self, do: Callable[[apsw.Connection], _T]) -> _T:
        with errors_translated(self.path):
            while True:
                opened = self._current()
                # Whether it is left behind is also the first read, with which the snapshot begins. Other threads may close the file meanwhile.
                found = found_again(partial(opened.readers.look, lambda con: None if self._is_left_behind(con) else [do(con)]))
                if found is not None:
                    return found[0]
                self._reopened(opened)

    def _is_left_behind(self, con: apsw.Connection) -> bool:
        """Whether the open file was cleared and removed, and another one is at its path now."""
        return clearing.is_cleared(con) and has_moved(con) and kind_of(self.path) is FileKind.OURS

    def _reopened(self, left: OpenedFile | None) -> OpenedFile:
        """The file at the path, opened anew in place of `left` unless another thread has done so.

        What is left is closed first: the new file's log has the same names. If opening then fails, the next call tries again.
        """
        with self._lock:
            if self._closed:
                raise ClosedError(f"The namespace “{quoted(self.name)}” was closed; open it again to go on.")
            opened = self._opened
            if opened is None or opened is left:
                self._opened = None
                if opened is not None:
                    opened.close()
                opened = self._opened = self._opener.open(create=True)
            return opened
