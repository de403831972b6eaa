"""A namespace as records, one for each row that cannot be made again, and a file made of such records.

What is left out can be made anew from the rest: the search index and the vectors. Numbers in columns that end in `id` count within one
bundle; facts, episodes, runs and proposals also have a `uid`, which is the same everywhere.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import Episode, Fact, Instant
from lean_memory.errors import DamagedFileError, NewerSchemaError
from lean_memory.store import search_index
from lean_memory.store.bundle_values import BLOB, Column, moment, stored
from lean_memory.store.connection import errors_translated, immediate, open_connection, pragma_int
from lean_memory.store.migrate import builtin_migrations, create_file
from lean_memory.store.rows import CURRENT_FACT, EPISODE, episodes_of, facts_of
from lean_memory.store.search_index import RowVisibility
from lean_memory.store.standing import fact_visibility, refresh_passage
from lean_memory.store.writing import WriteTransaction

Value = str | int | float | None
Record = Mapping[str, Value]

KINDS = (
    "setting", "episode", "passage", "entity", "entity_alias", "fact", "fact_version", "evidence", "evidence_link", "tombstone", "access",
    "derivation", "kept", "run", "proposal", "proposal_target", "journal",
)  # fmt: skip
"""The kinds of records, in the order in which they are written: the names of the tables."""

_INDEXED = "row_id"
"""The column that points into the search index; it is not taken along."""
_OWN_KIND = "proposal_kind"
"""Under which name a record has the column `kind`, as its own kind is that of its table."""
_SETTINGS = ("salt", "next_moment")
_SHARED = "SELECT r.passage_id FROM index_row r WHERE r.id = :row_id"


def records(con: apsw.Connection) -> Iterator[dict[str, Value]]:
    """Everything in an open file, in the caller's snapshot: `kind`, and the columns of its row."""
    for kind in KINDS:
        columns = _columns(con, kind)
        order = "key" if kind == "setting" else "id" if "id" in columns else ", ".join(columns[:2])
        for row in con.execute(f"SELECT {', '.join(columns)} FROM {kind} ORDER BY {order}"):
            record = dict(zip(columns, map(_plain, cast("tuple[Value | bytes, ...]", row)), strict=True))
            if kind == "setting" and record["key"] not in _SETTINGS:
                continue
            if kind == "fact":
                record["passage_id"] = cast("int | None", con.execute(_SHARED, {"row_id": record[_INDEXED]}).get)
            record.pop(_INDEXED, None)
            if "kind" in record:
                record[_OWN_KIND] = record.pop("kind")
            yield {"kind": kind, **record}


def schema_of(con: apsw.Connection) -> int:
    """The version of an open file."""
    return pragma_int(con, "user_version")


def declared(con: apsw.Connection, kind: str) -> dict[str, Column]:
    """The columns of a table, by name."""
    rows = cast("list[tuple[int, str, str, int, object, int]]", con.execute(f"PRAGMA table_info({kind})").fetchall())
    return {name: Column(name=name, type=declared.upper()) for _, name, declared, *_ in rows}


def every_fact(con: apsw.Connection, namespace: str) -> list[Fact]:
    """All facts of an open file as they stand now, however they stand, but for those that were never so."""
    return [stored.fact for stored in facts_of(con.execute(f"{CURRENT_FACT} WHERE NOT f.struck ORDER BY f.id"), namespace)]


def every_episode(con: apsw.Connection) -> list[Episode]:
    """All that was said, in the order in which it came."""
    return episodes_of(con.execute(f"{EPISODE} ORDER BY id"))


def file_of(path: Path, name: str, schema_version: int, given: Iterable[Record]) -> dict[int, int]:
    """Make a new file of records of a schema; gives which fact shares which passage's place in the index, which is still to be made.

    Raises `DamagedFileError` for records that fit no such file, `NewerSchemaError` for a schema that this program does not know.
    """
    known = builtin_migrations()
    if schema_version > known[-1].version:
        raise NewerSchemaError("The bundle was written by a newer Lean Memory, so it was not read. Update the program.")
    if schema_version < 1:
        raise DamagedFileError(f"The bundle says that it is of schema {schema_version}, which there never was. It was not used.")
    with errors_translated(path):
        create_file(path, name, known[:schema_version])
    shared: dict[int, int] = {}
    with errors_translated(path), contextlib.closing(open_connection(path, busy_timeout_ms=1_000)) as con:
        if pragma_int(con, "user_version") != schema_version:
            raise DamagedFileError(f"The bundle says that it is of schema {schema_version}, which there never was. It was not used.")
        con.execute("PRAGMA foreign_keys = OFF")
        columns = {kind: declared(con, kind) for kind in KINDS}
        try:
            with immediate(con):
                for record in given:
                    _insert(con, columns, record, shared)
                if con.execute("PRAGMA foreign_key_check").fetchone() is not None:
                    raise DamagedFileError(
                        "The bundle is damaged: some of its records refer to others that are not in it. It was not used."
                    )
        except (apsw.ConstraintError, apsw.MismatchError, ValueError, OverflowError) as error:
            raise DamagedFileError(f"The bundle is damaged: its records do not fit together ({error}). It was not used.") from error
    return shared


def make_index(tx: WriteTransaction, shared: Mapping[int, int]) -> None:
    """Make the search index of a file that was made of records."""
    con = tx.connection
    passages = con.execute(
        """
        SELECT p.id, substr(e.text, p.span_start + 1, p.span_end - p.span_start), e.t_ref, e.recorded_at
        FROM passage p JOIN episode e ON e.id = p.episode_id ORDER BY p.id
        """
    ).fetchall()
    for row, text, t_ref, recorded_at in cast("list[tuple[int, str, int, int]]", passages):
        index_passage(con, row, text, Instant(t_ref), Instant(recorded_at))
    facts = cast("list[tuple[int, str]]", con.execute("SELECT id, fact_text FROM fact ORDER BY id").fetchall())
    for row, text in facts:
        index_fact(con, row, text, shared.get(row))
    for row, *_ in cast("list[tuple[int, str, int, int]]", passages):
        refresh_passage(con, row)


def index_passage(con: apsw.Connection, row: int, text: str, t_ref: Instant, recorded_at: Instant) -> None:
    """Give a passage its place in the index."""
    visibility = RowVisibility(valid_at=t_ref, valid_to=None, recorded_at=recorded_at, latest=True)
    place = search_index.insert_row(con, fact_id=None, passage_id=row, text=text, visibility=visibility)
    con.execute("UPDATE passage SET row_id = ? WHERE id = ?", (place, row))


def index_fact(con: apsw.Connection, row: int, text: str, passage: int | None) -> None:
    """Give a fact its place in the index: that of the passage which says the same and nothing else, or one of its own."""
    _, visibility = fact_visibility(con, row)
    shared = None if passage is None else con.execute(_FREE, (passage,)).get
    if shared is None:
        place = search_index.insert_row(con, fact_id=row, passage_id=None, text=text, visibility=visibility)
    else:
        place = cast("int", shared)
        search_index.set_fact(con, place, row)
        search_index.set_visibility(con, place, visibility)
    con.execute("UPDATE fact SET row_id = ? WHERE id = ?", (place, row))


_FREE = "SELECT r.id FROM passage p JOIN index_row r ON r.id = p.row_id WHERE p.id = ? AND r.fact_id IS NULL"


def _insert(con: apsw.Connection, columns: Mapping[str, Mapping[str, Column]], record: Record, shared: dict[int, int]) -> None:
    values = dict(record)
    kind = values.pop("kind", None)
    if not isinstance(kind, str) or kind not in columns:
        raise DamagedFileError(f"The bundle is damaged: it holds a record of an unknown kind ({str(kind)[:40]!r}). It was not used.")
    passage = values.pop("passage_id", None) if kind == "fact" else None
    if _OWN_KIND in values and "kind" in columns[kind]:
        values["kind"] = values.pop(_OWN_KIND)
    if not values.keys() <= columns[kind].keys():
        raise DamagedFileError(f"The bundle is damaged: a record of the kind {kind} has fields that there are not. It was not used.")
    if kind == "setting":
        if values.get("key") in _SETTINGS:
            _set(con, cast("str", values["key"]), values.get("value"))
        return
    told = {name: stored(kind, columns[kind][name], value) for name, value in values.items()}
    if _INDEXED in columns[kind]:
        told[_INDEXED] = 0
    con.execute(f"INSERT INTO {kind} ({', '.join(told)}) VALUES ({', '.join('?' * len(told))})", tuple(told.values())).fetchall()
    if kind == "fact" and isinstance(passage, int):
        shared[con.last_insert_rowid()] = passage


def _set(con: apsw.Connection, key: str, value: object) -> None:
    """Take over what a file knows of itself. Raises `ValueError`."""
    if key == "next_moment":
        told: object = moment(value)
    elif isinstance(value, str) and value.startswith(BLOB):
        told = bytes.fromhex(value.removeprefix(BLOB))
    else:
        raise ValueError("the salt is none")
    con.execute("UPDATE setting SET value = ? WHERE key = ?", (told, key))


def _columns(con: apsw.Connection, kind: str) -> list[str]:
    return [cast("str", row[1]) for row in con.execute(f"PRAGMA table_info({kind})").fetchall()]


def _plain(value: Value | bytes) -> Value:
    return f"{BLOB}{value.hex()}" if isinstance(value, bytes) else value
