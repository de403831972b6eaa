"""Whether the rows of a copy hold only what this program writes: the same that is asked of a bundle's records, as nothing else could be read afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError, InvalidInputError, quoted
from lean_memory.store.bundle_rows import KINDS, declared
from lean_memory.store.bundle_values import Column, is_limited, moment, stored
from lean_memory.store.scrub import next_moment

_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,3}")
_AHEAD_MS = 366 * 24 * 60 * 60 * 1000
"""Clocks that are merely wrong are so by less."""


def refuse_other_rows(con: apsw.Connection, name: str) -> None:
    """Raise `DamagedFileError` if a value in the open copy of a namespace is none that stands there."""
    try:
        moment(next_moment(con))
        for kind in KINDS:
            _check(con, kind)
    except (ValueError, OverflowError, RecursionError) as error:
        raise DamagedFileError(
            f"The copy of “{quoted(name)}” holds what this program does not write ({error}), so it was not used."
        ) from error


def refuse_what_is_to_come(recorded: Instant, now: Instant) -> None:
    """Raise `InvalidInputError` for the far future: all that is recorded here after something of it would count as recorded then."""
    if recorded > now + _AHEAD_MS:
        raise InvalidInputError(
            f"Something in it was recorded in the year {time.gmtime(recorded / 1000).tm_year}, which is still to come. Nothing was brought in. "
            "Check the clock of this computer."
        )


def _check(con: apsw.Connection, kind: str) -> None:
    """Look over the rows of a table. Raises `ValueError`."""
    columns = declared(con, kind).values()
    for column in columns:
        for value in _to_look_at(con, kind, column):
            if not _is_as_stored(column, value):
                stored(kind, column, value)
    texts = [column.name for column in columns if column.type == "TEXT"]
    # The driver refuses a text that is none.
    for _ in con.execute(f"SELECT {', '.join(texts)} FROM {kind}") if texts else ():
        pass


def _is_as_stored(column: Column, value: object) -> bool:
    """Whether a value can be told from the bundle's form of it, bytes as text, or is a zone that another computer may know better."""
    if column.name == "tz":
        return isinstance(value, str) and _ZONE.fullmatch(value) is not None
    return (isinstance(value, bytes) and column.type == "BLOB") or (column.type == "" and isinstance(value, (bytes, str)))


def _to_look_at(con: apsw.Connection, kind: str, column: Column) -> Iterator[object]:
    """Of a text that is one of a few, or is read by a rule, each; of others the least and the greatest of each type, as their rules are ranges."""
    if is_limited(kind, column.name):
        query = f"SELECT DISTINCT {column.name} FROM {kind}"
    else:
        query = f"SELECT min({column.name}), max({column.name}) FROM {kind} GROUP BY typeof({column.name})"
    for row in con.execute(query):
        yield from cast("tuple[object, ...]", row)
