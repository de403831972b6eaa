"""Making a file, and bringing one of an older version up to date."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

import apsw

from lean_memory.errors import DamagedFileError, NewerSchemaError, StorageError
from lean_memory.store.connection import APPLICATION_ID, immediate, open_connection, pragma_int, roll_back, run_script, snapshot
from lean_memory.store.copying import copy_file, sync_folder
from lean_memory.store.namespaces import draft_of, prepare_root, remove_draft

_ORPHAN_AFTER_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What leads from version `version - 1` to `version`."""

    version: int
    script: str


def builtin_migrations() -> tuple[Migration, ...]:
    """The migrations that this version of the program knows, oldest first; a file's name begins with its number."""
    folder = resources.files("lean_memory.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple(Migration(version=int(f.name[:4]), script=f.read_text(encoding="utf-8")) for f in files)


def create_file(path: Path, name: str, migrations: Sequence[Migration]) -> None:
    """Make the file of a namespace, whole or not at all; when another process was first, its file stays.

    The file is built under a name of its own and then linked to `path`, so nobody ever sees half of it.
    """
    prepare_root(path.parent)
    _set_orphan_aside(path.with_name(path.name + "-wal"))
    draft = draft_of(path)
    try:
        _build(draft, name, migrations)
        put_in_place(draft, path)
    finally:
        remove_draft(draft)


def migrate(con: apsw.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Bring the file to the newest version known: one transaction for each step, after a backup of what is there.

    A crash at any point leaves the file in the old or in the new version. Of several processes, one migrates.
    """
    for step in migrations:
        if pragma_int(con, "user_version") < step.version:
            with _foreign_keys_off(con), immediate(con):
                # Another process may have been here while this one waited for the lock.
                if pragma_int(con, "user_version") == step.version - 1:
                    _back_up(path, step.version - 1)
                    _take(con, step)


def check_schema(con: apsw.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Raise `DamagedFileError` if the file has not the tables of its version, or `NewerSchemaError` if a newer one lacks those we read."""
    # Of one moment, since another process may be bringing the file up to date.
    with snapshot(con):
        version, there = pragma_int(con, "user_version"), _objects(con)
    known = _schema(tuple(step for step in migrations if step.version <= version))
    if version > migrations[-1].version and not known.keys() <= there.keys():
        raise NewerSchemaError(
            f"{path.name} was written by a newer Lean Memory (file version {version}) and cannot be read by this one. Nothing was changed; "
            "update the program."
        )
    broken = sorted(name for name, script in known.items() if there.get(name) != script)
    if version <= migrations[-1].version and (broken or not known):
        what = f"lacks its {', '.join(broken)}" if broken else f"says that it is of version {version}, which there never was"
        raise DamagedFileError(f"{path} is damaged: it {what}. It was not changed. Keep a copy of it and restore a backup.")


@cache
def _schema(migrations: tuple[Migration, ...]) -> Mapping[str, str]:
    """What the migrations make, by name."""
    with contextlib.closing(apsw.Connection(":memory:")) as con:
        for step in migrations:
            run_script(con, step.script)
        return _objects(con)


def _objects(con: apsw.Connection) -> dict[str, str]:
    """The scripts of what a file is made of, by name; SQLite's own aside."""
    found = con.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'").fetchall()
    return dict(cast("list[tuple[str, str]]", found))


def _take(con: apsw.Connection, step: Migration) -> None:
    run_script(con, step.script)
    if con.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise DamagedFileError(f"The file cannot be brought to version {step.version}: some of its rows refer to rows that are not there.")
    con.execute(f"PRAGMA user_version = {step.version}")


@contextmanager
def _foreign_keys_off(con: apsw.Connection) -> Generator[None]:
    """SQLite rebuilds tables safely only with the keys off, and they cannot be switched inside a transaction."""
    con.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        con.execute("PRAGMA foreign_keys = ON")


def _back_up(path: Path, version: int) -> None:
    """Copy the file beside itself; the caller holds the write lock, so the copy is what the migration starts from."""
    target = path.with_name(f"{path.name}.backup-v{version}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}")
    draft = target.with_name(target.name + ".partial")
    try:
        copy_file(path, draft)
        draft.replace(target)
    finally:
        remove_draft(draft)


def _build(draft: Path, name: str, migrations: Sequence[Migration]) -> None:
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with contextlib.closing(open_connection(draft, busy_timeout_ms=1_000)) as con:
        con.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        try:
            con.execute("BEGIN IMMEDIATE")
            for step in migrations:
                _take(con, step)
            settings = {"namespace": name, "salt": secrets.token_bytes(32), "next_moment": 0}
            con.executemany("INSERT INTO setting (key, value) VALUES (?, ?)", settings.items())
            con.execute("COMMIT")
        finally:
            roll_back(con)
        con.execute("PRAGMA journal_mode = WAL")


def put_in_place(draft: Path, path: Path) -> bool:
    """Give a finished file its name; false where another process was first, whose file then stays."""
    _set_orphan_aside(path.with_name(path.name + "-wal"))
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links: renaming is the next best, and fails on Windows where the name is taken.
        if path.exists():
            return False
        draft.rename(path)
    sync_folder(path.parent)
    return True


def _set_orphan_aside(wal: Path) -> None:
    """A log left by a file that somebody removed by hand would be played into the new one."""
    if wal.with_name(wal.name.removesuffix("-wal")).exists():
        return
    with contextlib.suppress(FileNotFoundError):
        if time.time() - wal.stat().st_mtime < _ORPHAN_AFTER_SECONDS:
            raise StorageError(f"{wal} was left behind by a file that was removed just now. Nothing was changed; try again in a minute.")
        wal.rename(wal.with_name(f"{wal.name}.orphan-{secrets.token_hex(2)}"))
