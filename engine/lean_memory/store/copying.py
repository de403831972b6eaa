"""Copies of a namespace's file: made of one moment while others write, and looked over before anybody relies on one.

SQLite's online backup reads inside a read transaction that is held until the copy is whole. So the copy is of the moment in which it began,
writers go on beside it, and it never begins anew, as a backup in steps does whenever another process writes. `VACUUM INTO` would give the
same moment, but builds every table and index again instead of copying pages, which takes some ten times as long.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError, ForeignFileError
from lean_memory.store.connection import errors_translated, open_connection, pragma_int, snapshot
from lean_memory.store.namespaces import FileKind, kind_of, opened_to_look, stored_identity

_PAGES = 2_048
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a copy holds."""

    name: str
    is_cleared: bool
    schema_version: int
    episodes: int
    facts: int
    next_moment: Instant


def copy_file(path: Path, target: Path) -> None:
    """Copy the database at `path`, as it stands now, to the new private file `target`; durable when this returns. Others go on writing."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with contextlib.closing(opened_to_look(path)) as source, snapshot(source):
        # The snapshot begins with the first read.
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        copy_pages(source, target)
    sync_file(target)


def copy_pages(source: apsw.Connection, target: Path) -> None:
    """Copy what a connection reads into a file that nobody else has open, and leave it without a log."""
    with contextlib.closing(apsw.Connection(str(target))) as copy:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


def contents_of(path: Path) -> Contents:
    """What a copy holds, after every page, index and table of it was read. Raises `ForeignFileError` or `DamagedFileError`; writes nothing.

    For files that nobody has open: what is still in a log is not seen.
    """
    if not path.is_file() or kind_of(path) is not FileKind.OURS:
        raise ForeignFileError(f"{path} is not a file of Lean Memory, or its beginning is damaged. It was not touched.")
    with errors_translated(path), contextlib.closing(open_connection(path, busy_timeout_ms=0, readonly=True, immutable=True)) as con:
        size = pragma_int(con, "page_count") * pragma_int(con, "page_size")
        if path.stat().st_size != size:
            raise DamagedFileError(f"{path} is not whole: it has {path.stat().st_size:,} of {size:,} bytes. It was not used.")
        problems = [str(row[0]) for row in con.execute("PRAGMA integrity_check(3)").fetchall() if row[0] != "ok"]
        if problems:
            raise DamagedFileError(f"{path} is damaged ({problems[0]}). It was not used.")
        name, is_cleared = stored_identity(con, path)
        counts = con.execute(
            "SELECT (SELECT count(*) FROM episode), (SELECT count(*) FROM fact), (SELECT value FROM setting WHERE key = 'next_moment')"
        ).fetchone()
        episodes, facts, moment = cast("tuple[int, int, int]", counts)
        version = pragma_int(con, "user_version")
    return Contents(name=name, is_cleared=is_cleared, schema_version=version, episodes=episodes, facts=facts, next_moment=Instant(moment))


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file that no connection of this process has open: closing it here would drop that one's locks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sync_file(path: Path) -> None:
    """Make what was written of a file survive power loss."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a new name survive power loss, where folders can be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
