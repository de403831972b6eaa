"""Backups: folders with a copy of each namespace and a manifest, whole or not there at all.

A backup is made under a name of its own, looked over, and given its name at the end. The manifest holds the length and SHA-256 of every file and
its own sum, so that a copy that was cut off or changed since is recognised before anything is done with it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any, cast

from lean_memory.arguments import EARLIEST, LATEST
from lean_memory.custody import BackedUp, Backup, Occasion
from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError, LeanMemoryError, NotFoundError, StorageError, StorageFullError
from lean_memory.store.connection import errors_translated
from lean_memory.store.copying import contents_of, copy_file, sha256_of, sync_file, sync_folder
from lean_memory.store.namespaces import BACKUPS, FileKind, file_name, is_alive, kind_of, path_of, prepare_root, size_on_disk
from lean_memory.store.own_schema import refuse_more_than_ours

MANIFEST = "manifest.json"
KEEP = "keep.toml"
_FORMAT = "lean-memory backup"
_VERSION = 1
_WORK = re.compile(r"^\.lean-memory-[a-z]+-(?P<process>\d{1,10})-[0-9a-f]+$")
_LEFT_FREE = 16 << 20
"""Bytes; a backup never takes the last room of a disk, which the memory itself needs."""
_DAYS: Mapping[str, Callable[[dt.datetime], object]] = {
    "daily": lambda at: at.date(),
    "weekly": lambda at: at.isocalendar()[:2],
    "monthly": lambda at: (at.year, at.month),
}

Rules = Mapping[str, Mapping[str, int]]


def back_up(
    root: Path, names: Iterable[str], *, now: Instant, occasion: Occasion, to: Path | None = None, unusable: Sequence[str] = ()
) -> Backup:
    """Copy namespaces into a new folder, by default one of its own in the data root, and look every copy over; durable when this returns.

    Of several, one that cannot be copied is left out with a sentence, as are those that are `unusable`; of one, the error is raised. Raises `StorageError`, `StorageFullError`.
    """
    folder = _place_for(root, now, occasion) if to is None else to
    wanted = list(names)
    with errors_translated(folder):
        if to is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StorageError(f"{folder} is there already and not an empty folder, so no backup was put there. Name another one.")
        draft = _swept_work_folder(folder.parent, "making")
    try:
        with errors_translated(folder):
            _check_room(root, wanted, folder.parent)
            backup = _made(root, wanted, draft, folder, now=now, occasion=occasion, unusable=unusable)
            _put_in_place(draft, folder)
        return backup
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_backup(folder: Path) -> Backup:
    """A backup by its manifest; its files are not looked at. Raises `NotFoundError`, or `DamagedFileError` where the manifest is not as it was written."""
    try:
        with errors_translated(folder):
            text = (folder / MANIFEST).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _damaged(folder) from error
    except StorageError as error:
        if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
            raise NotFoundError(f"{folder} is no backup: it has no {MANIFEST}. Nothing was changed.") from error
        raise
    try:
        return _read(folder, text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _damaged(folder) from error


def check_file(folder: Path, held: BackedUp) -> Path:
    """The file of one namespace in a backup, after it was read whole and found as it was written. Raises `DamagedFileError`."""
    path = folder / held.file
    with errors_translated(path):
        if not path.is_file():
            raise DamagedFileError(f"The backup {folder} lacks its file {held.file}, so it was not used. Choose another backup.")
        size = path.stat().st_size
        if size != held.bytes:
            raise DamagedFileError(
                f"The backup {folder} is not whole: {held.file} has {size:,} of {held.bytes:,} bytes. It was not used. Choose another backup."
            )
        if sha256_of(path) != held.sha256:
            raise DamagedFileError(
                f"The backup {folder} is damaged: {held.file} is not as it was written. It was not used. Choose another backup."
            )
        if kind_of(path) is FileKind.OURS:
            refuse_more_than_ours(path)
    return path


def backups_in(root: Path) -> list[Backup]:
    """The backups in a data root, newest first; those that cannot be read with why."""
    folder = root / BACKUPS
    found: list[Backup] = []
    # Of each anybody may remove it meanwhile, and the last one takes the folder along.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in list(folder.iterdir()):
            with contextlib.suppress(FileNotFoundError):
                if path.is_dir() and not path.name.startswith("."):
                    found.append(_read_or_why_not(path))
    return sorted(found, key=lambda backup: (backup.at, backup.path.name), reverse=True)


def _read_or_why_not(path: Path) -> Backup:
    at = Instant(round(path.stat().st_mtime * 1000))
    try:
        return read_backup(path)
    except LeanMemoryError as error:
        return Backup(path=path, at=at, occasion="", problem=str(error))


def drop_old(root: Path) -> list[Path]:
    """Remove the backups that the rules no longer keep; gives their folders.

    The last one that holds a namespace stays as long as the namespace's file is there: what the newer backups had to leave out may be in
    that one alone.
    """
    found = backups_in(root)
    dropped = no_longer_kept(found, rules_for(root))
    held = _names_in(backup for backup in found if backup not in dropped)
    gone: list[Path] = []
    for backup in sorted(dropped, key=lambda one: one.at, reverse=True):
        names = _names_in([backup])
        if any(path_of(root, name).exists() for name in names - held):
            held |= names
        else:
            gone.append(backup.path)
    for path in gone:
        remove(path)
    return gone


def _names_in(backups: Iterable[Backup]) -> set[str]:
    return {one.name for backup in backups for one in backup.namespaces}


def rules_for(root: Path) -> Rules:
    """What is kept: the person's rules where there are some, else those that come with the program. Raises `StorageError`."""
    own = root / BACKUPS / KEEP
    given = own if own.is_file() else resources.files("lean_memory.store") / "backups.toml"
    try:
        return _rules(tomllib.loads(given.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{own} cannot be understood ({error}), so no backup was removed. Mend it or delete it.") from error


def _rules(told: Mapping[str, object]) -> Rules:
    """The rules as they stand in a file. Raises `ValueError` where one is none."""
    for occasion, rule in told.items():
        counts = list(cast("Mapping[str, object]", rule).values()) if isinstance(rule, dict) else [None]
        if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
            raise ValueError(f"what it says of {occasion} is no rule")
    return cast("Rules", told)


def no_longer_kept(backups: Sequence[Backup], rules: Rules) -> list[Backup]:
    """The backups that no rule keeps, of the occasions that have rules. Those with a problem count for nothing and stay. Pure."""
    dropped: list[Backup] = []
    for occasion, rule in rules.items():
        mine = sorted((b for b in backups if b.occasion == occasion and not b.problem), key=lambda b: b.at, reverse=True)
        kept = {b.path for b in mine[: rule.get("last", 0)]}
        for period, name in _DAYS.items():
            newest: dict[object, Path] = {}
            for backup in mine:
                newest.setdefault(name(dt.datetime.fromtimestamp(backup.at / 1000, dt.UTC)), backup.path)
            kept.update(list(newest.values())[: rule.get(period, 0)])
        dropped += [b for b in mine if b.path not in kept]
    return dropped


def work_folder(parent: Path, what: str) -> Path:
    """A new private folder for work in progress, of this process alone."""
    folder = parent / f".lean-memory-{what}-{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


@contextlib.contextmanager
def at_work(root: Path, what: str) -> Generator[Path]:
    """A private folder in the data root for the time of the block. What killed processes left of theirs goes first."""
    prepare_root(root)
    parent = root / BACKUPS
    with errors_translated(parent):
        folder = _swept_work_folder(parent, what)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            parent.rmdir()


def _swept_work_folder(parent: Path, what: str) -> Path:
    """A work folder, after what killed processes left of theirs was removed."""
    while True:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            remove_abandoned(parent)
            return work_folder(parent, what)
        except FileNotFoundError:
            # Whose work ended just now has removed the empty folder.
            continue


def remove_abandoned(parent: Path) -> None:
    """Remove what processes that are gone left of their work."""
    for path in parent.iterdir():
        if (work := _WORK.match(path.name)) and not is_alive(int(work["process"])):
            shutil.rmtree(path, ignore_errors=True)


def write_manifest(folder: Path, backup: Backup) -> None:
    """Write the manifest of a backup that is being made in `folder`."""
    _write(folder / MANIFEST, backup)


def remove(folder: Path) -> None:
    """Remove a backup: the manifest first, as what is left of a removal that was cut off is no backup."""
    (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def described(path: Path) -> BackedUp:
    """A copy as a manifest tells of it, after it was looked over."""
    held = contents_of(path)
    return BackedUp(
        name=held.name,
        file=path.name,
        bytes=path.stat().st_size,
        sha256=sha256_of(path),
        schema_version=held.schema_version,
        episodes=held.episodes,
        facts=held.facts,
        next_moment=held.next_moment,
    )


def _made(
    root: Path, names: Sequence[str], draft: Path, folder: Path, *, now: Instant, occasion: Occasion, unusable: Sequence[str]
) -> Backup:
    done: list[BackedUp] = []
    left_out = list(unusable)
    for name in names:
        try:
            if (one := _copied(root, name, draft)) is not None:
                done.append(one)
        except StorageFullError:
            raise
        except StorageError as error:
            if len(names) + len(unusable) == 1:
                raise
            (draft / file_name(name)).unlink(missing_ok=True)
            left_out.append(f"{name}: {error}")
    backup = Backup(path=folder, at=now, occasion=occasion.value, namespaces=tuple(done), left_out=tuple(left_out))
    write_manifest(draft, backup)
    sync_folder(draft)
    return backup


def _copied(root: Path, name: str, draft: Path) -> BackedUp | None:
    path = path_of(root, name)
    target = draft / path.name
    with errors_translated(path):
        if kind_of(path) is FileKind.MISSING:
            return None
        copy_file(path, target)
    one = described(target)
    if one.name != name:
        raise DamagedFileError(f"{path} holds the namespace “{one.name}”, not “{name}”, so it was not backed up.")
    return one


def _write(path: Path, backup: Backup) -> None:
    told: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "at": backup.at,
        "occasion": backup.occasion,
        "namespaces": [asdict(one) for one in backup.namespaces],
        "left_out": list(backup.left_out),
    }
    text = json.dumps({**told, "sum": _sum(told)}, ensure_ascii=True, indent=1)
    path.touch(mode=0o600)
    path.write_text(text + "\n", encoding="utf-8")
    sync_file(path)


def _read(folder: Path, text: str) -> Backup:
    told = cast("dict[str, Any]", json.loads(text))
    written = told.pop("sum")
    if told["format"] != _FORMAT or told["version"] != _VERSION:
        raise StorageError(f"{folder} was made by another version of this program and cannot be restored by this one. Update the program.")
    if written != _sum(told):
        raise ValueError("the manifest is not as it was written")
    namespaces = tuple(map(_held, cast("list[dict[str, Any]]", told["namespaces"])))
    if any(one.file != file_name(one.name) for one in namespaces) or len({one.name for one in namespaces}) < len(namespaces):
        raise ValueError("a file has another name than its namespace gives it")
    left_out = tuple(map(str, cast("list[object]", told["left_out"])))
    return Backup(path=folder, at=_moment(told["at"]), occasion=str(told["occasion"]), namespaces=namespaces, left_out=left_out)


def _held(told: Mapping[str, Any]) -> BackedUp:
    """One namespace as a manifest tells of it. Raises `ValueError` or `TypeError` where that is not what is written there."""
    one = BackedUp(**told)
    counts = cast("tuple[object, ...]", (one.bytes, one.schema_version, one.episodes, one.facts))
    if not all(isinstance(count, int) and count >= 0 for count in counts) or not isinstance(cast("object", one.sha256), str):
        raise ValueError("a number is none")
    _moment(one.next_moment)
    return one


def _moment(value: object) -> Instant:
    if not isinstance(value, int) or not EARLIEST <= value <= LATEST:
        raise ValueError("a moment is none")
    return Instant(value)


def _sum(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _damaged(folder: Path) -> DamagedFileError:
    return DamagedFileError(f"The manifest of {folder} is damaged, so the backup was not used. Choose another one.")


def _place_for(root: Path, now: Instant, occasion: Occasion) -> Path:
    at = dt.datetime.fromtimestamp(now / 1000, dt.UTC)
    return root / BACKUPS / f"{at:%Y%m%dT%H%M%SZ}-{occasion.value}-{secrets.token_hex(4)}"


def room_at(root: Path) -> int:
    """How many bytes are free on the disk of a data root, which need not be there yet."""
    folder = next(folder for folder in (root, *root.absolute().parents) if folder.exists())
    return shutil.disk_usage(folder).free


def _check_room(root: Path, names: Sequence[str], folder: Path) -> None:
    wanted = sum(size_on_disk(path_of(root, name)) for name in names)
    free = shutil.disk_usage(folder).free
    if free < wanted + _LEFT_FREE:
        raise StorageFullError(
            f"The backup needs {wanted:,} bytes and the disk of {folder} has {free:,} free, so none was made. Free some space, or name another folder."
        )


def _put_in_place(draft: Path, folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()
    draft.rename(folder)
    sync_folder(folder.parent)
