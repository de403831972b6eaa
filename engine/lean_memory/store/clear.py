"""Clearing a namespace: emptied and marked in one transaction, then removed where nobody else has the file open.

A file that other processes have open cannot be taken from under them: it stays, empty and marked, is listed by nobody, and the next
write makes it a namespace again. Whoever writes looks, with the write lock held, whether the file at the path is still the one that
is open; whoever removes does so with the same lock held. So nothing is ever acknowledged into a file that is gone.
"""

from __future__ import annotations

import contextlib
import secrets
from functools import partial
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import LeaseHeldError, NewerSchemaError
from lean_memory.store import search_index
from lean_memory.store.connection import (
    folder_alone,
    folder_shared,
    found_again,
    has_moved,
    immediate,
    open_connection,
    pragma_int,
    roll_back,
)
from lean_memory.store.migrate import builtin_migrations, check_schema
from lean_memory.store.namespaces import FileKind, check_identity, kind_of, refuse_foreign
from lean_memory.store.only_maker import remove_lock
from lean_memory.store.purge import alone, purge

LEASE_LASTS_MS = 5 * 60 * 1000
"""A maintenance run whose last heartbeat is older holds nothing any more."""

_REMOVE_WAITS_MS = 100

_EMPTY = (
    "access", "derivation", "kept", "proposal_target", "journal", "proposal", "run", "evidence_link", "evidence", "fact_version", "fact", "passage", "entity_alias", "entity",
    "episode", "tombstone",
)  # fmt: skip
"""Tables in an order that breaks no reference; `fact` refers to itself, so its references are dropped first."""


def clear_file(path: Path, name: str, *, busy_timeout_ms: int, now: Instant) -> bool:
    """Empty the file of a namespace, and remove it where nobody else has it open; gives whether there was such a namespace.

    Raises `LeaseHeldError` while a maintenance run is alive.
    """
    con = found_again(partial(_opened, path, name, busy_timeout_ms))
    if con is None:
        return False
    try:
        if pragma_int(con, "user_version") > builtin_migrations()[-1].version:
            raise NewerSchemaError(f"{path.name} was written by a newer Lean Memory, so it was not cleared. Update the program first.")
        was_there = not is_cleared(con)
        empty_file(con, now)
        purge(alone(con), path)
    except BaseException:
        con.close()
        raise
    remove_if_unused(con, path)
    remove_lock(path)
    return was_there


def _opened(path: Path, name: str, busy_timeout_ms: int) -> apsw.Connection | None:
    """A connection to the namespace's file, if there is one."""
    refuse_foreign(path)
    if kind_of(path) is FileKind.MISSING:
        return None
    with folder_shared(path.parent):
        con = open_connection(path, busy_timeout_ms=busy_timeout_ms)
        try:
            check_identity(con, path, name)
        except BaseException:
            con.close()
            raise
        return con


def empty_file(con: apsw.Connection, now: Instant) -> None:
    """Erase everything and mark the file as cleared, in one transaction; refused while a maintenance run is alive."""
    check_schema(con, Path(con.filename), builtin_migrations())
    with immediate(con):
        refuse_while_leased(con, now)
        con.execute("UPDATE fact SET superseded_by = NULL WHERE superseded_by IS NOT NULL")
        for table in _EMPTY:
            con.execute(f"DELETE FROM {table}")
        search_index.delete_all(con)
        con.execute("UPDATE setting SET value = ? WHERE key = 'salt'", (secrets.token_bytes(32),))
        con.execute("INSERT OR REPLACE INTO setting (key, value) VALUES ('cleared', ?), ('unpurged', 1)", (now,))


def remove_if_unused(con: apsw.Connection, path: Path) -> bool:
    """Remove a cleared file if this connection is the only one in the world that has it open. Closes the connection."""
    try:
        con.set_busy_timeout(_REMOVE_WAITS_MS)
        with folder_alone(path.parent) as alone:
            return alone and _remove(con, path)
    except apsw.BusyError:
        return False
    finally:
        roll_back(con)
        con.close()


def _remove(con: apsw.Connection, path: Path) -> bool:
    # Leaving WAL mode removes the log at the path, whosever it is.
    if has_moved(con) or not _leave_wal(con):
        return False
    con.execute("BEGIN EXCLUSIVE")
    if has_moved(con) or not is_cleared(con):
        return False
    # Windows removes no file that is open; there it stays, empty and marked.
    with contextlib.suppress(PermissionError):
        path.unlink()
        return True
    return False


def is_cleared(con: apsw.Connection) -> bool:
    """Whether the file is marked as cleared and nothing has been written to it since."""
    return con.execute("SELECT 1 FROM setting WHERE key = 'cleared'").fetchone() is not None


def revive(con: apsw.Connection) -> None:
    """Make a cleared file a namespace again, inside the caller's write transaction."""
    con.execute("DELETE FROM setting WHERE key = 'cleared'")


def _leave_wal(con: apsw.Connection) -> bool:
    """SQLite changes the journal mode only for the one connection that is left."""
    try:
        return con.execute("PRAGMA journal_mode = DELETE").get == "delete"
    except apsw.LockedError:
        return False


def refuse_while_leased(con: apsw.Connection, now: Instant, done: str = "cleared") -> None:
    """Raise `LeaseHeldError` while a maintenance run is alive."""
    alive = cast(
        "tuple[str, int] | None",
        con.execute(
            "SELECT holder, heartbeat_at FROM run WHERE state = 'running' AND heartbeat_at > ?", (now - LEASE_LASTS_MS,)
        ).fetchone(),
    )
    if alive is not None:
        raise LeaseHeldError(
            f"A maintenance run ({alive[0]}) is working on this namespace, so it was not {done}. Try again when the run has ended."
        )
