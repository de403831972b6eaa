"""Opening SQLite with sqlite-vec loaded, transactions, and the one place where the driver's errors become ours."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw
import sqlite_vec  # pyright: ignore[reportMissingTypeStubs]  # the package has no types; one function of it is used

from lean_memory.errors import BusyError, DamagedFileError, ExtensionLoadingError, StorageError, StorageFullError

if sys.platform != "win32":
    import fcntl

APPLICATION_ID = 0x4C4D656D
"""Marks our files in SQLite's header: the letters "LMem"."""

_CACHE_KIB = 16_000
_MMAP_BYTES = 256 * 1024 * 1024
_FULL_BELOW_BYTES = 64 * 1024
_TRIES = 4

_T = TypeVar("_T")


def open_connection(path: Path, *, busy_timeout_ms: int, readonly: bool = False, immutable: bool = False) -> apsw.Connection:
    """A connection to an existing file, set for durable, erasing, cross-process use; `immutable` for folders nobody can write to."""
    mode = "ro" if readonly else "rw"
    uri = f"file:{quote(str(path))}?mode={mode}" + ("&immutable=1" if immutable else "")
    access = apsw.SQLITE_OPEN_READONLY if readonly else apsw.SQLITE_OPEN_READWRITE
    con = apsw.Connection(uri, flags=access | apsw.SQLITE_OPEN_URI)
    try:
        distrust(con)
        con.set_busy_timeout(busy_timeout_ms)
        load_vectors(con)
        _set_pragmas(con, readonly=readonly)
    except BaseException:
        con.close()
        raise
    return con


def distrust(con: apsw.Connection) -> None:
    """Let nothing that stands in a file act by itself: it may have been made by anybody. Ours have neither triggers nor views."""
    con.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    con.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    con.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    con.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)


@contextmanager
def folder_shared(folder: Path) -> Generator[None]:
    """Held from opening a file to having read from it, so that nobody removes it in between.

    SQLite finds a file's log by name: a file that is removed and made anew during another's opening would have its log taken over.
    Windows removes no open file, so nothing is needed there.
    """
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


@contextmanager
def folder_alone(folder: Path) -> Generator[bool]:
    """Held while a file is removed; gives whether nobody is opening one. Does not wait."""
    if sys.platform == "win32":
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(handle)


def found_again(do: Callable[[], _T]) -> _T:
    """What `do` gives, which looks at a file and opens it; done anew where the file went in between, as others clear it."""
    for _ in range(_TRIES - 1):
        with suppress(apsw.CantOpenError, FileNotFoundError):
            return do()
    return do()


def load_vectors(con: apsw.Connection) -> None:
    """Load sqlite-vec, or say in one sentence that this Python's driver cannot."""
    try:
        con.enable_load_extension(True)
        con.load_extension(sqlite_vec.loadable_path())
        con.enable_load_extension(False)
    except (AttributeError, apsw.ExtensionLoadingError) as error:
        raise ExtensionLoadingError(
            "SQLite could not load the sqlite-vec extension on this machine; nothing was changed. "
            "Reinstall the packages apsw and sqlite-vec for this Python (pip install --force-reinstall apsw sqlite-vec) and try again."
        ) from error


def _set_pragmas(con: apsw.Connection, *, readonly: bool) -> None:
    # temp_store in memory keeps what a sort spills out of the shared temporary folder.
    con.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    con.execute("PRAGMA temp_store = MEMORY")
    con.execute("PRAGMA foreign_keys = ON")
    if readonly:
        con.execute(f"PRAGMA mmap_size = {_MMAP_BYTES}")
    else:
        con.execute("PRAGMA synchronous = FULL")
        con.execute("PRAGMA secure_delete = ON")


@contextmanager
def immediate(con: apsw.Connection, kind: str = "IMMEDIATE") -> Generator[None]:
    """One write transaction: committed when the block ends, rolled back by any exception."""
    try:
        con.execute(f"BEGIN {kind}")
        yield
        con.execute("COMMIT")
    finally:
        if con.in_transaction:
            con.execute("ROLLBACK")


@contextmanager
def snapshot(con: apsw.Connection) -> Generator[None]:
    """One read transaction: everything read in the block is of one moment."""
    try:
        con.execute("BEGIN")
        yield
    finally:
        if con.in_transaction:
            con.execute("ROLLBACK")


def roll_back(con: apsw.Connection) -> None:
    """End the transaction, if SQLite has not ended it by itself (as it does on a full disk)."""
    if con.in_transaction:
        con.execute("ROLLBACK")


def run_script(con: apsw.Connection, script: str) -> None:
    """Run every statement of a script; the driver would stop at the first row otherwise."""
    for _ in con.execute(script):
        pass


def has_moved(con: apsw.Connection) -> bool:
    """Whether the connection's file is no longer the one at its path (removed, or another put in its place)."""
    moved = ctypes.c_int(0)
    return con.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(moved)) and moved.value != 0


def pragma_int(con: apsw.Connection, name: str) -> int:
    """The value of a pragma that is a number."""
    value = con.pragma(name)
    if not isinstance(value, int):
        raise TypeError(f"PRAGMA {name} gave {value!r}")
    return value


@contextmanager
def errors_translated(path: Path) -> Generator[None]:
    """Turn the driver's and the system's errors about `path` into the tree of `errors.py`; mistakes in our SQL pass as they are."""
    try:
        yield
    except apsw.Error as error:
        known = _translation(error, path)
        if known is None:
            raise
        raise known from error
    except OSError as error:
        raise _os_translation(error, path) from error


def _translation(error: apsw.Error, path: Path) -> StorageError | None:
    known: StorageError | None = None
    match error:
        case apsw.BusyError() | apsw.LockedError():
            known = BusyError(
                f"Another program kept {path.name} locked for too long; nothing of this call was written. Try again in a moment."
            )
        case apsw.FullError():
            known = _full(path)
        case apsw.IOError() | apsw.CantOpenError() if _is_full(path):
            known = _full(path)
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            known = _damaged(path, error)
        case apsw.SQLError() if "malformed" in str(error):
            known = _damaged(path, error)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            known = StorageError(
                f"{path} cannot be opened for this ({error}). Nothing was changed. "
                "Check that the file and its folder belong to you and can be written."
            )
        case apsw.IOError():
            known = StorageError(
                f"The disk reported an error on {path} ({error}). What was acknowledged before is kept; this call wrote nothing. Check the disk."
            )
        case _:
            pass
    return known


def _os_translation(error: OSError, path: Path) -> StorageError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _full(path)
    return StorageError(f"{path} cannot be used: {error.strerror or error}. Nothing was changed. Check the folder and its permissions.")


def _full(path: Path) -> StorageFullError:
    return StorageFullError(
        f"The disk that holds {path} is full; nothing of this was kept, and all that was acknowledged before is. Free some space and try again."
    )


def _damaged(path: Path, error: apsw.Error) -> DamagedFileError:
    return DamagedFileError(
        f"{path} is damaged ({error}). It was not changed. Keep a copy of it, run `lean-memory doctor`, or restore a backup."
    )


def _is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _FULL_BELOW_BYTES
    except OSError:
        return False
