"""The database of the older lean-memory, schema versions 1 to 3, read without a byte of it being written.

Tables `episode` (what was said), `entity` and `fact` are in all versions; version 2 adds `fact.record_kind` and `fact_derivation`, version 3
`entity.name_key`, which can be made anew. Times are epoch milliseconds. A file may hold several namespaces, whose names differ only in characters
that its name cannot have.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import EpisodeId
from lean_memory.errors import DamagedFileError, InvalidInputError, StorageError
from lean_memory.store.connection import errors_translated, open_connection, pragma_int
from lean_memory.store.namespaces import FileKind, kind_of

MAGIC = b"SQLite format 3\x00"
"""How every database begins."""
VERSIONS = (0, 1, 2, 3)
"""The values of `user_version`; the first files did not set it."""

_TABLES = ("episode", "entity", "fact")
_DERIVED = "fact_derivation"
_STEPS = 10_000
"""Of SQLite's virtual machine, a fraction of a millisecond: so often it is asked whether reading was cancelled."""
_UNSTORED = 4
_LEAST_ROOM = 1 << 20
"""What is read of a file has at most `_UNSTORED` times its bytes and these: rows may lack what the table says once for all of them."""

_SAID = """
    SELECT 1 FROM fact f JOIN episode e ON e.id = f.episode_id WHERE e.uid = :uid AND f.predicate = :predicate AND f.object_key = :key
    UNION ALL
    SELECT 1 FROM evidence c JOIN episode e ON e.id = c.episode_id WHERE e.uid = :uid AND c.predicate = :predicate AND c.object_key = :key
"""

Value = str | int | float | bytes | None
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderRows:
    """What a file holds of one namespace, in the order of its ids."""

    version: int
    namespace: str
    episodes: tuple[Row, ...]
    entities: tuple[Row, ...]
    facts: tuple[Row, ...]
    derivations: tuple[tuple[str, str], ...]
    """Pairs of a summary and a fact that it was made from."""


@dataclass(slots=True, kw_only=True)
class _Room:
    """How much may still be read of a file."""

    path: Path
    left: int

    def take(self, row: tuple[Value, ...]) -> None:
        """Count a row. Raises `DamagedFileError` where more is read than a file of its size can hold."""
        self.left -= sum(len(value) if isinstance(value, str | bytes) else 1 for value in row)
        if self.left < 0:
            raise DamagedFileError(f"{self.path} gives more than a file of its size can hold, so nothing of it was brought in.")


def older_files_in(root: Path) -> list[Path]:
    """The files of the older lean-memory that lie in a folder."""
    return [path for path in sorted(root.glob("*.db")) if is_older(path)] if root.is_dir() else []


def is_older(path: Path) -> bool:
    """Whether a file is a database of the older lean-memory, of whatever version."""
    if path.is_symlink() or kind_of(path) is not FileKind.FOREIGN or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return False
        with _connected(path) as con:
            if _has_tables(con):
                return True
        return _is_older_with_log(path)
    except (OSError, apsw.Error, StorageError):
        return False


def _is_older_with_log(path: Path) -> bool:
    """Whether it is one with the log beside it, in which all may be that was ever written; read as a copy, as reading it there would write."""
    log = _log_of(path)
    if log is None:
        return False
    with tempfile.TemporaryDirectory() as work, _connected(_copied(path, log, Path(work)), immutable=False) as con:
        return _has_tables(con)


def _log_of(path: Path) -> Path | None:
    log = path.with_name(f"{path.name}-wal")
    return log if log.is_file() and log.stat().st_size > 0 else None


def read_older(path: Path, work: Path, cancelled: Callable[[], bool]) -> list[OlderRows] | None:
    """What a file holds of each namespace, or nothing where it was `cancelled` meanwhile. Raises as `opened_older` does."""
    with errors_translated(path):
        size = path.stat().st_size + (0 if (log := _log_of(path)) is None else log.stat().st_size)
    room = _Room(path=path, left=_UNSTORED * size + _LEAST_ROOM)
    try:
        with opened_older(path, work, cancelled) as con:
            return [_rows_of(con, name, room) for name in _namespaces_in(con)]
    except apsw.InterruptError:
        return None


@contextlib.contextmanager
def opened_older(path: Path, work: Path, cancelled: Callable[[], bool]) -> Generator[apsw.Connection]:
    """A file to read; where it is `cancelled` meanwhile, `apsw.InterruptError` comes out of it. Where there is a log beside it, which holds what is not in the file yet, a copy of both is read in the folder `work`.

    Raises `InvalidInputError` for a database of something else, and `DamagedFileError`.
    """
    with errors_translated(path):
        log = _log_of(path)
        source = path if log is None else _copied(path, log, work)
        try:
            with _connected(source, immutable=log is None) as con:
                con.set_progress_handler(cancelled, _STEPS)
                _check(con, path)
                yield con
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError) as error:
            raise DamagedFileError(f"{path} is damaged, so nothing of it was brought in. It was not changed.") from error


def _namespaces_in(con: apsw.Connection) -> list[str]:
    found = con.execute("SELECT namespace FROM episode UNION SELECT namespace FROM fact ORDER BY 1")
    return [str(name) for (name,) in found.fetchall() if name]


def _rows_of(con: apsw.Connection, namespace: str, room: _Room) -> OlderRows:
    """Everything that an open file holds of one namespace, but for proposals and runs of its maintenance."""
    facts = _rows(con, "fact", namespace, room)
    own = {fact["id"] for fact in facts}
    pairs = con.execute("SELECT summary_id, source_id FROM fact_derivation ORDER BY 1, 2") if _columns(con, _DERIVED) else ()
    return OlderRows(
        version=max(1, pragma_int(con, "user_version")),
        namespace=namespace,
        episodes=_rows(con, "episode", namespace, room),
        entities=_rows(con, "entity", namespace, room),
        facts=facts,
        derivations=tuple((str(made), str(source)) for made, source in pairs if made in own and source in own),
    )


def has_said(con: apsw.Connection, uid: EpisodeId, predicate: str, object_key: str) -> bool:
    """Whether an episode of an open namespace has said this already, as a fact or about one."""
    return con.execute(_SAID, {"uid": uid, "predicate": predicate, "key": object_key}).fetchone() is not None


def _rows(con: apsw.Connection, table: str, namespace: str, room: _Room) -> tuple[Row, ...]:
    columns, rows = _columns(con, table), list[Row]()
    for row in con.execute(f"SELECT * FROM {table} WHERE namespace = ? ORDER BY id", (namespace,)):
        values = cast("tuple[Value, ...]", row)
        room.take(values)
        rows.append(dict(zip(columns, values, strict=True)))
    return tuple(rows)


def _columns(con: apsw.Connection, table: str) -> list[str]:
    """The columns of a table; none where it is a view or a virtual table, or has columns that are computed: those may give any amount."""
    if con.execute("SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND type = 'table'", (table,)).get is None:
        return []
    found = cast("list[tuple[str, int]]", con.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (table,)).fetchall())
    return [name for name, _ in found] if all(hidden == 0 for _, hidden in found) else []


def _check(con: apsw.Connection, path: Path) -> None:
    if not _has_tables(con):
        raise InvalidInputError(f"{path} is a database, but not one of the older lean-memory. Nothing was brought in.")
    version = pragma_int(con, "user_version")
    if version not in VERSIONS:
        raise InvalidInputError(
            f"{path} is of schema version {version}; versions 1 to {VERSIONS[-1]} of the older lean-memory are known. Nothing was brought in."
        )
    for table in _TABLES:
        found = con.execute(f"PRAGMA quick_check({table})").get
        if found != "ok":
            raise DamagedFileError(f"{path} is damaged, so nothing of it was brought in. It was not changed.")


def _has_tables(con: apsw.Connection) -> bool:
    columns = {table: set(_columns(con, table)) for table in _TABLES}
    return (
        {"id", "namespace", "raw", "t_ref"} <= columns["episode"]
        and {"id", "namespace", "name"} <= columns["entity"]
        and {"id", "subject_id", "object_literal", "fact_text", "valid_at", "ingested_at", "is_latest"} <= columns["fact"]
    )


def _copied(path: Path, log: Path, work: Path) -> Path:
    # The log last: what it holds of a checkpoint that comes between the two copies is in the file already.
    copy = work / path.name
    shutil.copyfile(path, copy)
    shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
    return copy


@contextlib.contextmanager
def _connected(path: Path, *, immutable: bool = True) -> Generator[apsw.Connection]:
    con = open_connection(path, busy_timeout_ms=0, readonly=immutable, immutable=immutable)
    try:
        yield con
    finally:
        con.close()
