"""Taking what was erased out of the write-ahead log, and out of corners of pages that SQLite left unused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from lean_memory.errors import BusyError

_ATTEMPTS = 20
_ATTEMPT_WAITS_MS = 500
_CHUNK = 1 << 22
_TRACES_LOOKED_FOR = 64
"""Beyond this many, rewriting the file is cheaper than looking."""


def purge(con: apsw.Connection, path: Path, traces: Sequence[bytes] = ()) -> None:
    """Empty the log into the file, and rewrite the file if one of `traces` is still in it.

    Moving cells between pages can leave copies in space that SQLite does not use or overwrite; only a rewrite removes those.
    Raises `BusyError` when another program reads for so long that the log cannot be emptied; the next opening tries again.
    """
    _empty_log(con, path)
    if len(traces) > _TRACES_LOOKED_FOR or any_in_file(path, traces):
        con.execute("PRAGMA temp_store = FILE")
        con.execute("VACUUM")
        con.execute("PRAGMA temp_store = MEMORY")
        _empty_log(con, path)
    con.execute("DELETE FROM setting WHERE key = 'unpurged'")


def any_in_file(path: Path, traces: Sequence[bytes]) -> bool:
    """Whether one of the byte strings, given in ASCII lower case, stands anywhere in the file, whatever its ASCII case.

    The file is read through SQLite's own file layer (see `kind_of`).
    """
    if not traces:
        return False
    overlap = max(len(t) for t in traces)
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size, offset, tail = file.xFileSize(), 0, b""
        while offset < size:
            chunk = file.xRead(min(_CHUNK, size - offset), offset)
            window = tail + chunk.lower()
            if any(trace in window for trace in traces):
                return True
            offset += len(chunk)
            tail = window[-overlap:]
        return False
    finally:
        file.xClose()


def _empty_log(con: apsw.Connection, path: Path) -> None:
    """Move the log into the file and cut it to nothing; readers of older moments are waited for, a little at a time."""
    waits = con.pragma("busy_timeout")
    con.set_busy_timeout(_ATTEMPT_WAITS_MS)
    try:
        if any(_try_to_empty(con) for _ in range(_ATTEMPTS)):
            return
    finally:
        con.set_busy_timeout(waits if isinstance(waits, int) else 0)
    raise BusyError(
        f"It was erased, and no search finds it; but another program has been reading {path.name} all the while, so its log still holds "
        "copies. They go as soon as that program stops reading: close it, or open this namespace again."
    )


def _try_to_empty(con: apsw.Connection) -> bool:
    row = con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return row is not None and row[0] == 0
