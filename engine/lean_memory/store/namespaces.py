"""Which file holds which namespace, and what lies in the data root."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import cast
from urllib.parse import quote

import apsw

from lean_memory.errors import DamagedFileError, ForeignFileError, InvalidNamespaceError, StorageError, quoted
from lean_memory.private_files import UPLOADS
from lean_memory.store.connection import APPLICATION_ID, distrust, errors_translated, folder_shared

SUFFIX = ".memory.db"
BACKUPS = "backups"
"""The folder of the data root that holds backups."""
COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite may put beside a file while it is open."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))],
)
_LONGEST_STEM = 120
_KEPT_OF_LONG = 60
_HEADER_BYTES = 100
_LOOKS = 5
_MAGIC = b"SQLite format 3\x00"
_DRAFT = re.compile(r"\.memory\.db\.new-(?P<process>\d{1,10})-[0-9a-f]+$")
_UNFINISHED = "It was being made when its program was stopped. It holds nothing, and goes when the namespace is next opened."
_RESTORE = "If it held your memory, `lean-memory restore` brings a backup of it back."
_LINK = "is a link to another place, where SQLite would keep its log apart from it. Put the file itself there, or choose another data root."


class FileKind(Enum):
    """What a path in the data root is to us."""

    MISSING = auto()
    OURS = auto()
    FOREIGN = auto()
    LINK = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFile:
    """A namespace that has a file."""

    name: str
    path: Path
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFile:
    """A database in the data root that is not a namespace of ours, with the reason in words; it is never written."""

    path: Path
    reason: str
    name: str | None = None
    """The namespace whose file it seems to be, where it cannot be used as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What the data root holds, by name."""

    namespaces: tuple[NamespaceFile, ...] = ()
    others: tuple[OtherFile, ...] = ()


def file_name(name: str) -> str:
    """The file of a namespace: different for every name, also where case, Unicode form or device names are not told apart.

    Lower-case ASCII letters, digits, `-` and `_` stay; every other byte of the UTF-8 form becomes `=` and two hex digits. Device names
    and long names become their beginning, `==` (which no escape gives) and a hash.
    """
    stem = "".join(c if c in _PLAIN else "".join(f"={byte:02x}" for byte in c.encode()) for c in checked_name(name))
    if stem in _RESERVED or len(stem) > _LONGEST_STEM:
        stem = f"{stem[:_KEPT_OF_LONG]}=={hashlib.sha256(name.encode()).hexdigest()[:40]}"
    return stem + SUFFIX


def checked_name(name: str) -> str:
    """The name itself, or an error that says why it cannot be one."""
    if not name:
        raise InvalidNamespaceError("A namespace needs a name; an empty one was given. Nothing was written.")
    if "\0" in name:
        raise InvalidNamespaceError("A namespace name cannot hold the NUL character. Nothing was written.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidNamespaceError(
            "The namespace name is not valid Unicode (it holds half a surrogate pair). Nothing was written."
        ) from error
    return name


def path_of(root: Path, name: str) -> Path:
    """Where the file of a namespace is, or would be."""
    return root / file_name(name)


def kind_of(path: Path) -> FileKind:
    """What is at `path`, by its header alone. Nothing is opened for writing.

    The file is read through SQLite's own file layer: closing any other handle would drop the locks that connections
    of this process hold on it.
    """
    if path.is_symlink():
        return FileKind.LINK
    if not path.exists():
        return FileKind.MISSING
    # Ours have plain names; SQLite could not even be asked for one that is not UTF-8.
    if not path.name.isascii() or not path.is_file() or path.stat().st_size < _HEADER_BYTES:
        return FileKind.FOREIGN
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        header = file.xRead(_HEADER_BYTES, 0)
    finally:
        file.xClose()
    ours = header.startswith(_MAGIC) and int.from_bytes(header[68:72], "big") == APPLICATION_ID
    return FileKind.OURS if ours else FileKind.FOREIGN


def refuse_foreign(path: Path) -> None:
    """Raise if something that is not ours lies where the file of a namespace would be."""
    kind = kind_of(path)
    if kind is FileKind.LINK:
        raise ForeignFileError(f"{path} {_LINK} It was not touched.")
    if kind is FileKind.FOREIGN:
        raise ForeignFileError(
            f"{path} was not made by Lean Memory, so it was not touched. {_RESTORE} "
            "Otherwise move it away or choose another namespace or data root."
        )


def check_identity(con: apsw.Connection, path: Path, name: str) -> None:
    """Raise if the open file at `path` holds another namespace than `name`: somebody moved or copied it there."""
    held, _ = stored_identity(con, path)
    if held != name:
        raise ForeignFileError(
            f"{path} holds the namespace “{quoted(held)}”, not “{quoted(name)}”; it was moved or copied here and not touched."
        )


def prepare_root(root: Path) -> None:
    """Make the data root, for its owner's eyes only; a folder that is still empty is made private too."""
    with errors_translated(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "posix" and root.stat().st_uid == os.geteuid() and not any(root.iterdir()):
            root.chmod(0o700)


def make_private(path: Path) -> None:
    """Take the file away from everybody but its owner, where we are the owner; files that SQLite adds later follow its mode."""
    for file in (path, *(path.with_name(path.name + end) for end in COMPANIONS)):
        with contextlib.suppress(OSError):
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def size_on_disk(path: Path) -> int:
    """Bytes of the file and of what SQLite keeps beside it."""
    total = 0
    for file in (path, *(path.with_name(path.name + end) for end in COMPANIONS)):
        with contextlib.suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


def copies_of(path: Path) -> tuple[str, ...]:
    """What may hold what was in a namespace's file: backups, those of older versions beside it too, logs that were set aside, uploads.

    Others make backups meanwhile: where a folder went while it was looked at, as one that got its name, all is looked at again.
    """
    found: list[str] = []
    for _ in range(_LOOKS):
        found, is_whole = _seen_copies(path)
        if is_whole:
            break
    return tuple(found)


def _seen_copies(path: Path) -> tuple[list[str], bool]:
    """What is seen of them at one look, and whether all that was there could be looked at."""
    root, name, found = path.parent, path.name, list[str]()
    try:
        backups = sorted((root / BACKUPS).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        backups = []
    places = [(root, f"{name}.backup-*"), (root, f"{name}-wal.orphan-*"), *((folder, name) for folder in backups)]
    places += [*((folder, f"{name}.backup-*") for folder in backups), (root / UPLOADS, "*")]
    for folder, pattern in places:
        with contextlib.suppress(FileNotFoundError):
            found += map(str, sorted(folder.glob(pattern)))
    return found, all(folder.exists() for folder in backups)


def draft_of(path: Path) -> Path:
    """A name under which the file of a namespace can be made, of this process alone."""
    return path.with_name(f"{path.name}.new-{os.getpid()}-{secrets.token_hex(4)}")


def abandoned_drafts(root: Path) -> list[Path]:
    """Files that were being made by processes that are gone."""
    return [path for path in sorted(root.iterdir()) if (draft := _DRAFT.search(path.name)) and not is_alive(int(draft["process"]))]


def remove_draft(draft: Path) -> None:
    """Remove a file that is not in its place yet, with what SQLite keeps beside it."""
    for end in ("", *COMPANIONS):
        draft.with_name(draft.name + end).unlink(missing_ok=True)


def remove_abandoned_drafts(path: Path) -> None:
    """Remove what was left of a namespace's file by processes that were stopped while they made it, where that is allowed."""
    with contextlib.suppress(OSError):
        for draft in abandoned_drafts(path.parent):
            if draft.name.startswith(f"{path.name}.new-"):
                remove_draft(draft)


def is_alive(process: int) -> bool:
    """Whether a process with this number may be there."""
    if os.name != "posix":
        # Asking would end it there; a file that it has open cannot be removed, and one that it has not is nobody's.
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def listing(root: Path) -> Listing:
    """Every namespace in the data root by its exact name, and every other database that lies there. Raises `StorageError`."""
    found: list[NamespaceFile] = []
    others: list[OtherFile] = []
    with errors_translated(root):
        if not root.is_dir():
            return Listing()
        paths = sorted(path for path in root.iterdir() if path.suffix == ".db")
        drafts = abandoned_drafts(root)
    for path in paths:
        entry = _entry(path)
        if isinstance(entry, NamespaceFile):
            found.append(entry)
        elif entry is not None:
            others.append(entry)
    others += [OtherFile(path=draft, reason=_UNFINISHED) for draft in drafts]
    return Listing(namespaces=tuple(sorted(found, key=lambda n: n.name)), others=tuple(others))


def _entry(path: Path) -> NamespaceFile | OtherFile | None:
    """What to say of a file; nothing of one that is gone, or was cleared while other programs still had it open."""
    try:
        with errors_translated(path):
            try:
                return _ours(path)
            except FileNotFoundError:
                return None
    except StorageError as error:
        return OtherFile(path=path, reason=str(error), name=_name_by(path))


def _ours(path: Path) -> NamespaceFile | OtherFile | None:
    match kind_of(path):
        case FileKind.MISSING:
            return None
        case FileKind.LINK:
            return OtherFile(path=path, reason=f"It {_LINK}", name=_name_by(path))
        case FileKind.FOREIGN:
            name = _name_by(path)
            # One of ours that lost its beginning looks like this, too.
            lost = "" if name is None else f" If it is {name!r}, it has lost its beginning. {_RESTORE}"
            return OtherFile(path=path, reason=f"It was not made by Lean Memory.{lost}", name=name)
        case FileKind.OURS:
            pass
    name, cleared = _identity(path)
    if cleared:
        return None
    if file_name(name) != path.name:
        return OtherFile(
            path=path,
            reason=f"It holds the namespace “{quoted(name)}”, whose file would be {file_name(name)}; it was moved or copied here.",
        )
    return NamespaceFile(name=name, path=path, bytes=size_on_disk(path))


def _name_by(path: Path) -> str | None:
    """The namespace whose file would have this name, as far as the name tells."""
    stem = path.name.removesuffix(SUFFIX)
    try:
        name = re.sub(rb"=([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), stem.encode()).decode()
        return name if file_name(name) == path.name else None
    except (UnicodeError, InvalidNamespaceError):
        return None


def _identity(path: Path) -> tuple[str, bool]:
    with contextlib.closing(opened_to_look(path)) as con:
        return stored_identity(con, path)


def opened_to_look(path: Path) -> apsw.Connection:
    """A connection with which the file was read; where it can be written it is opened so, though nothing is.

    A read-only connection would leave its -wal and -shm behind.
    """
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        with folder_shared(path.parent):
            return _looking(str(path), apsw.SQLITE_OPEN_READWRITE)
    try:
        return _looking(f"file:{quote(str(path))}?mode=ro", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        return _looking(f"file:{quote(str(path))}?mode=ro&immutable=1", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _looking(name: str, flags: int) -> apsw.Connection:
    con = apsw.Connection(name, flags=flags)
    try:
        distrust(con)
        con.set_busy_timeout(2_000)
        con.pragma("user_version")
    except BaseException:
        con.close()
        raise
    return con


def stored_identity(con: apsw.Connection, path: Path) -> tuple[str, bool]:
    """The exact name stored in the open file at `path`, and whether the file has been cleared. Raises `DamagedFileError`."""
    if con.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'setting'").fetchone() is None:
        raise _damaged(path, "does not say which namespace it holds")
    settings = dict(cast("list[tuple[str, object]]", con.execute("SELECT key, value FROM setting").fetchall()))
    if not isinstance(settings.get("namespace"), str):
        raise _damaged(path, "does not say which namespace it holds")
    if not isinstance(settings.get("next_moment"), int):
        raise _damaged(path, "does not say when something was last recorded in it")
    if not isinstance(settings.get("salt"), bytes):
        raise _damaged(path, "has lost what it knows forgotten sentences by")
    return str(settings["namespace"]), "cleared" in settings


def _damaged(path: Path, what: str) -> DamagedFileError:
    return DamagedFileError(f"{path} {what}. It was not changed. Keep a copy of it and restore a backup.")
