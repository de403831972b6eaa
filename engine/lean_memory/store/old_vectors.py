"""The vectors of each model as a whole: whether they are those of the texts in the file, and dropping those that nobody asks with."""

from __future__ import annotations

from collections.abc import Collection

import apsw

from lean_memory.domain import ModelIdentity
from lean_memory.store.search_index import GROUP, count_lacking, lacking_key, models, rows_with_vector

_AT_ONCE_BYTES = 2_000_000
"""What is dropped in one transaction, so that it takes some milliseconds although every page is overwritten."""
_DROPPED = ""
"""The model's id under which vectors stand that are being dropped: nobody asks for it, and forgetting and clearing still reach them."""


def kept_models(con: apsw.Connection) -> list[ModelIdentity]:
    """The models whose vectors the file keeps, oldest first."""
    return [model for _, model in models(con) if model.model_id != _DROPPED]


def put_aside(con: apsw.Connection, used: Collection[ModelIdentity]) -> int:
    """Let nobody ask for the vectors of other models than those in use any more; gives how many models those are."""
    old = [number for number, model in models(con) if model not in used and model.model_id != _DROPPED]
    con.executemany("UPDATE embedding_model SET model_id = ?, revision = id WHERE id = ?", [(_DROPPED, number) for number in old])
    return len(old)


def drop_some(con: apsw.Connection) -> bool:
    """Drop some of what was put aside; gives whether anything is left of it."""
    aside = [(number, model) for number, model in models(con) if model.model_id == _DROPPED]
    if not aside:
        return False
    number, model = aside[0]
    some = max(1, _AT_ONCE_BYTES // (GROUP * 4 * model.dims))
    for table in (f"embedding_{number:d}", f"code_{number:d}"):
        con.execute(f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} LIMIT ?)", (some,))
        if con.changes():
            return True
    con.execute(f"DROP TABLE embedding_{number:d}")
    con.execute(f"DROP TABLE code_{number:d}")
    con.execute("DELETE FROM index_change WHERE layer = ?", (number,))
    con.execute("DELETE FROM setting WHERE key = ?", (lacking_key(number),))
    con.execute("DELETE FROM embedding_model WHERE id = ?", (number,))
    return len(aside) > 1


def check_vectors(con: apsw.Connection) -> list[str]:
    """What does not hold of the vectors of every model, a sentence each."""
    rows = frozenset(row for (row,) in con.execute("SELECT id FROM index_row"))
    problems: list[str] = []
    for number, model in models(con):
        if model.model_id == _DROPPED:
            continue
        there = rows_with_vector(con, number, model)
        groups = frozenset(group for (group,) in con.execute(f"SELECT id FROM embedding_{number:d}"))
        counted = con.execute("SELECT value FROM setting WHERE key = ?", (lacking_key(number),)).get
        lost = sorted(row for row in there & rows if row // GROUP not in groups)
        problems += _told(f"Vectors of {model.model_id} for rows that are gone", sorted(there - rows))
        problems += _told(f"Codes of {model.model_id} without their vectors", lost)
        if counted is not None and counted != count_lacking(con, number, model):
            problems.append(f"The file counts {counted} texts without a vector of {model.model_id}, and it is otherwise.")
    return problems


def _told(what: str, rows: list[int]) -> list[str]:
    return [f"{what}: {', '.join(map(str, rows[:3]))}{f' and {len(rows) - 3} more' if len(rows) > 3 else ''}."] if rows else []
