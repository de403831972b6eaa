"""One opening of a namespace's file: its write connection and its readers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw

from lean_memory.errors import DamagedFileError, NewerSchemaError, NotFoundError, StorageError, quoted
from lean_memory.store.clear import is_cleared, remove_if_unused, revive
from lean_memory.store.connection import folder_shared, found_again, has_moved, immediate, open_connection, pragma_int
from lean_memory.store.migrate import Migration, check_schema, create_file, migrate
from lean_memory.store.namespaces import FileKind, check_identity, kind_of, make_private, refuse_foreign, remove_abandoned_drafts
from lean_memory.store.purge import alone, purge
from lean_memory.store.reading import ReaderPool
from lean_memory.store.search_index import begin_to_count

_WAL = "wal"
_NOT_COUNTED = "SELECT 1 FROM embedding_model WHERE 'lacking_' || id NOT IN (SELECT key FROM setting)"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """The connections to one file; `writer` is `None` where the file can only be read, and `refusal` says why."""

    path: Path
    writer: apsw.Connection | None
    readers: ReaderPool
    refusal: StorageError | None = None

    def write_connection(self) -> apsw.Connection:
        """The connection to write with, or the error that says why there is none."""
        if self.writer is None:
            raise self.refusal or StorageError(f"{self.path} is open for reading only.")
        return self.writer

    def close(self) -> None:
        """Close every connection; a cleared file that nobody else has open goes now."""
        self.readers.close()
        if self.writer is None:
            return
        # Where another file has taken its place, closing must leave the log at the path alone: it is that file's.
        try:
            if not has_moved(self.writer) and is_cleared(self.writer):
                remove_if_unused(self.writer, self.path)
        finally:
            self.writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOpener:
    """How the file of one namespace is opened, now and again after it was cleared."""

    path: Path
    name: str
    busy_timeout_ms: int
    migrations: Sequence[Migration]

    def open(self, *, create: bool) -> OpenedFile:
        """Open the file, made or brought up to date first; a file that is not ours or not of this namespace is refused untouched."""
        remove_abandoned_drafts(self.path)
        while True:
            opened = found_again(partial(self._look_and_open, create=create))
            if opened is not None:
                return opened

    def _look_and_open(self, *, create: bool) -> OpenedFile | None:
        refuse_foreign(self.path)
        if kind_of(self.path) is FileKind.MISSING:
            self._make(create=create)
        with folder_shared(self.path.parent):
            return self._open_existing(create=create)

    def _make(self, *, create: bool) -> None:
        if not create:
            raise NotFoundError(f"There is no namespace “{quoted(self.name)}” in {self.path.parent}.")
        create_file(self.path, self.name, self.migrations)

    def _open_existing(self, *, create: bool) -> OpenedFile | None:
        """The opened file; `None` if it was cleared and is gone now."""
        if not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            return self._read_only(
                StorageError(
                    f"{self.path} can be read, but not written: the file or its folder belongs to somebody else. Nothing was changed."
                )
            )
        con = open_connection(self.path, busy_timeout_ms=self.busy_timeout_ms)
        keep = False
        try:
            check_identity(con, self.path, self.name)
            check_schema(con, self.path, self.migrations)
            if pragma_int(con, "user_version") > self.migrations[-1].version:
                return self._read_only(self._newer(pragma_int(con, "user_version")))
            if is_cleared(con) and not self._is_still_there(con, create=create):
                return None
            self._prepare(con)
            keep = True
        finally:
            if not keep:
                con.close()
        return OpenedFile(path=self.path, writer=con, readers=ReaderPool(self._connect_reader))

    def _is_still_there(self, con: apsw.Connection, *, create: bool) -> bool:
        """Whether a cleared file can be written to again; one out of WAL mode may be removed at any moment unless it is revived."""
        if not create:
            raise NotFoundError(f"There is no namespace “{quoted(self.name)}” in {self.path.parent}.")
        if con.pragma("journal_mode") != _WAL:
            with immediate(con):
                if has_moved(con):
                    return False
                revive(con)
        return True

    def _prepare(self, con: apsw.Connection) -> None:
        if con.pragma("journal_mode") != _WAL:
            con.execute("PRAGMA journal_mode = WAL")
        migrate(con, self.path, self.migrations)
        make_private(self.path)
        if con.execute(_NOT_COUNTED).get is not None:
            with immediate(con):
                begin_to_count(con)
        if con.execute("SELECT 1 FROM setting WHERE key = 'unpurged'").fetchone() is not None:
            self._purge_again(con)

    def _purge_again(self, con: apsw.Connection) -> None:
        """What was looked for is not known any more, so the file is rewritten; where that fails, the mark stays."""
        try:
            purge(alone(con), self.path, rewrite=True)
        except DamagedFileError:
            raise
        except StorageError:
            return

    def _newer(self, version: int) -> NewerSchemaError:
        return NewerSchemaError(
            f"{self.path.name} was written by a newer Lean Memory (file version {version}, this program knows {self.migrations[-1].version}). "
            "It can be read, and nothing was changed; update the program to write to it."
        )

    def _read_only(self, refusal: StorageError) -> OpenedFile:
        con = self._connect_reader()
        try:
            check_identity(con, self.path, self.name)
            check_schema(con, self.path, self.migrations)
        finally:
            con.close()
        return OpenedFile(path=self.path, writer=None, readers=ReaderPool(self._connect_reader), refusal=refusal)

    def _connect_reader(self) -> apsw.Connection:
        try:
            with folder_shared(self.path.parent):
                return self._reader(immutable=False)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # In a folder that cannot be written SQLite cannot make its -shm; without a log nothing is missed by not having one.
            log = self.path.with_name(self.path.name + "-wal")
            if os.access(self.path.parent, os.W_OK) or (log.exists() and log.stat().st_size > 0):
                raise
            return self._reader(immutable=True)

    def _reader(self, *, immutable: bool) -> apsw.Connection:
        con = open_connection(self.path, busy_timeout_ms=self.busy_timeout_ms, readonly=True, immutable=immutable)
        try:
            # The first read is what fails where the log cannot be opened.
            pragma_int(con, "user_version")
        except BaseException:
            con.close()
            raise
        return con
