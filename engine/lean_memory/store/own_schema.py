"""What a copy that comes from elsewhere may be made of: the tables and indexes that this program makes, to the letter, and nothing beside them.

A trigger or a view in it would act on all that is said later, and a table of somebody's own would keep what is to be forgotten.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from typing import cast

import apsw

from lean_memory.errors import DamagedFileError
from lean_memory.store.connection import errors_translated, open_connection, pragma_int, run_script
from lean_memory.store.migrate import builtin_migrations
from lean_memory.store.search_index import make_tables

_Object = tuple[str, str, str, str | None]
"""The type, the name, the table and the script of what a file is made of."""
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
_TOLD = 3
_SHOWN = 200


def refuse_more_than_ours(path: Path) -> None:
    """Raise `DamagedFileError` if a file is made of anything more, less or else than one of its version that was made here.

    For files that nobody has open. One of a version that is still to come passes, as nobody knows what it is made of: it is not restored.
    """
    with errors_translated(path), contextlib.closing(open_connection(path, busy_timeout_ms=0, readonly=True, immutable=True)) as con:
        strange = _not_ours(con)
    if strange:
        raise DamagedFileError(f"{path} is not made as this program makes its files ({_told(strange)}), so it was not used.")


def told_if_not_ours(con: apsw.Connection) -> list[str]:
    """What an open file is made of beside what this program makes, a sentence for all of it."""
    strange = _not_ours(con)
    return [f"The file is not made as this program makes its files ({_told(strange)}), and no backup of it comes back."] if strange else []


def _not_ours(con: apsw.Connection) -> list[str]:
    """The names of what is more, less or other in an open file than in one that was made here; none where its version is still to come."""
    version, newest = pragma_int(con, "user_version"), builtin_migrations()[-1].version
    if version > newest:
        return []
    if version < 1:
        return ["its version"]
    found = cast("list[_Object]", con.execute(_OBJECTS).fetchall())
    needed, statistics = _made(version)
    if needed <= set(found):
        needed |= _of_models(con)
    strange = sorted({name for _, name, *_ in (set(found) - statistics) ^ needed})
    return strange if strange or len(found) == len(set(found)) else ["the same twice"]


def _told(names: list[str]) -> str:
    return ", ".join(names[:_TOLD])[:_SHOWN]


def _of_models(con: apsw.Connection) -> frozenset[_Object]:
    """What the models that a file knows have in it."""
    numbers = [number for (number,) in cast("list[tuple[int]]", con.execute("SELECT id FROM embedding_model").fetchall())]
    if any(number < 0 for number in numbers):
        return frozenset({("table", "the tables of a model", "", None)})
    with contextlib.closing(apsw.Connection(":memory:")) as made:
        for number in numbers:
            make_tables(made, number)
        return _objects(made)


@cache
def _made(version: int) -> tuple[frozenset[_Object], frozenset[_Object]]:
    """What a file of a version is made of, and what SQLite adds where somebody had it analysed."""
    with contextlib.closing(apsw.Connection(":memory:")) as con:
        for step in builtin_migrations()[:version]:
            run_script(con, step.script)
        made = _objects(con)
        con.execute("ANALYZE")
        return made, _objects(con) - made


def _objects(con: apsw.Connection) -> frozenset[_Object]:
    return frozenset(cast("list[_Object]", con.execute(_OBJECTS).fetchall()))
