"""Taking what was erased out of the write-ahead log, and out of corners of pages that SQLite left unused."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar, cast

import apsw

from lean_memory.errors import BusyError, DamagedFileError, StorageError
from lean_memory.store.connection import pragma_int
from lean_memory.store.traces import Traces

_PATIENCE_SECONDS = 10.0
_ATTEMPT_WAITS_MS = 500
_PAUSE_SECONDS = 0.01
_CHUNK = 1 << 22
_TELLING = 8
"""Bytes; shorter traces also stand by chance among vectors and numbers."""
_REWRITTEN_IN_MEMORY = 256 << 20
"""Bytes; a larger file is rewritten by way of a file in its own folder."""

_T = TypeVar("_T")


class Turn(Protocol):
    """Does something with the connection while nobody else uses it, and gives what came of it.

    The connection is had in no other way, and may be another one each time: the file may be closed and opened anew in between.
    """

    def __call__(self, do: Callable[[apsw.Connection], _T], /) -> _T: ...


def alone(con: apsw.Connection) -> Turn:
    """The turns of a connection that only one thread knows."""

    def turn(do: Callable[[apsw.Connection], _T], /) -> _T:
        return do(con)

    return turn


def purge(turn: Turn, path: Path, traces: Sequence[bytes] = (), *, rewrite: bool = False) -> None:
    """Empty the log into the file, and rewrite the file if one of `traces` is still in it, or in any case.

    Moving cells between pages can leave copies in space that SQLite does not use or overwrite; only a rewrite removes those. The file
    stays marked as one to be purged where a trace is there even then. The connection is used in turns, and not while the
    file is looked through. Raises `BusyError` when another program reads for so long that the log cannot be emptied, and another
    `StorageError` when the disk does not let it happen; the next opening tries again.
    """
    with _said_to_be_erased(path):
        _empty_log(turn, path)
        if rewrite or any_in_file(path, traces):
            named = turn(lambda con: _rewrite(con, path))
            _empty_log(turn, path)
            if any_in_file(path, _telling(traces, named)):
                return
        turn(lambda con: con.execute("DELETE FROM setting WHERE key = 'unpurged'").fetchall())


def any_in_file(path: Path, traces: Sequence[bytes]) -> bool:
    """Whether one of the byte strings stands anywhere in the file.

    The file is read through SQLite's own file layer (see `kind_of`).
    """
    if not traces:
        return False
    looked_for = Traces(traces)
    overlap = max(len(t) for t in traces)
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size, offset, tail = file.xFileSize(), 0, b""
        while offset < size:
            window = tail + file.xRead(min(_CHUNK, size - offset), offset)
            if looked_for.stand_in(window):
                return True
            offset += len(window) - len(tail)
            tail = window[-overlap:]
        return False
    finally:
        file.xClose()


def _empty_log(turn: Turn, path: Path) -> None:
    """Move the log into the file and cut it to nothing; readers of older moments are waited for, a little at a time.

    SQLite itself waits for them, but not for another connection that is emptying the log.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if turn(_attempt_to_empty):
            return
        time.sleep(_PAUSE_SECONDS)
    raise BusyError(
        f"It was erased, and no search finds it; but another program has been reading {path.name} all the while, so its log still holds "
        "copies. They go as soon as that program stops reading: close it, or open this namespace again."
    )


def _attempt_to_empty(con: apsw.Connection) -> bool:
    """Try it for a part of a second; gives whether it was done."""
    waits = con.pragma("busy_timeout")
    usual = waits if isinstance(waits, int) else 0
    con.set_busy_timeout(_ATTEMPT_WAITS_MS)
    try:
        return _try_to_empty(con)
    finally:
        con.set_busy_timeout(usual)


def _try_to_empty(con: apsw.Connection) -> bool:
    row = con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return row is not None and row[0] == 0


def _rewrite(con: apsw.Connection, path: Path) -> bytes:
    """Write the file anew from what it holds, and give the names in it. What is put down meanwhile stays in memory, or in its folder."""
    if pragma_int(con, "page_count") * pragma_int(con, "page_size") <= _REWRITTEN_IN_MEMORY:
        con.execute("VACUUM")
        return _names(con)
    folder = str(path.parent).replace("'", "''")
    con.execute(f"PRAGMA temp_store_directory = '{folder}'")
    con.execute("PRAGMA temp_store = FILE")
    try:
        con.execute("VACUUM")
    finally:
        con.execute("PRAGMA temp_store = MEMORY")
    return _names(con)


def _names(con: apsw.Connection) -> bytes:
    """The scripts of the file's tables, in lower case."""
    scripts = cast("list[tuple[str]]", con.execute("SELECT lower(sql) FROM sqlite_schema WHERE sql IS NOT NULL").fetchall())
    return "\n".join(row[0] for row in scripts).encode()


def _telling(traces: Sequence[bytes], named: bytes) -> list[bytes]:
    """The traces that stand in no file by chance, nor by the names of its tables."""
    return [trace for trace in traces if len(trace) >= _TELLING and trace.lower() not in named]


@contextmanager
def _said_to_be_erased(path: Path) -> Generator[None]:
    """What fails here fails after the commit: say that it was erased, what may remain, and when that goes."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyError(_but(path, "another program kept it locked for too long")) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise DamagedFileError(_but(path, f"it is damaged ({error})")) from error
    except apsw.FullError as error:
        raise StorageError(_but(path, "the disk is full, and rewriting it takes as much room again: free some")) from error
    except (apsw.Error, OSError) as error:
        raise StorageError(_but(path, f"that failed ({error})")) from error


def _but(path: Path, reason: str) -> str:
    return (
        f"It was erased, and no search finds it; but copies in unused parts of {path.name} and in its log could not be removed: {reason}. "
        "They go when this namespace is opened again."
    )
