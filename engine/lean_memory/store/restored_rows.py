"""Whether the rows of a copy hold only what this program writes: the same that is asked of a bundle's records, as nothing else could be read afterwards."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError, InvalidInputError, NewerSchemaError, quoted
from lean_memory.store.bundle_rows import KINDS, declared
from lean_memory.store.bundle_values import Column, is_limited, moment, stored
from lean_memory.store.connection import errors_translated, open_connection, pragma_int
from lean_memory.store.migrate import builtin_migrations
from lean_memory.store.scrub import next_moment

_ENDS = ("min({0})", "max({0})")
_GREATEST_FRACTION = "max(iif(typeof({0}) = 'real', {0}, NULL))"
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


def refuse_copy_of_other_rows(path: Path, name: str) -> None:
    """The same of a copy that nobody has open and that is not brought up to date. Raises `NewerSchemaError` for one of a version to come."""
    with errors_translated(path), contextlib.closing(open_connection(path, busy_timeout_ms=0, readonly=True, immutable=True)) as con:
        if pragma_int(con, "user_version") > builtin_migrations()[-1].version:
            raise NewerSchemaError(f"{path.name} was written by a newer Lean Memory, so this one cannot restore it. Update the program.")
        refuse_other_rows(con, name)


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
    limited = [column for column in columns if is_limited(kind, column.name)]
    for column, value in (*_each(con, kind, limited), *_extremes(con, kind, [column for column in columns if column not in limited])):
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


def _each(con: apsw.Connection, kind: str, columns: Iterable[Column]) -> Iterator[tuple[Column, object]]:
    """Every value of texts that are one of a few, or are read by a rule."""
    for column in columns:
        for (value,) in cast("Iterable[tuple[object]]", con.execute(f"SELECT DISTINCT {column.name} FROM {kind}")):
            yield column, value


def _extremes(con: apsw.Connection, kind: str, columns: Iterable[Column]) -> Iterator[tuple[Column, object]]:
    """The least and the greatest value, as the rules of the others are ranges; in one reading, for which each column would take as long.

    Numbers come before texts and texts before bytes, so that a value of another type is one of the two; but for a fraction among numbers.
    """
    asked = [
        (column, told.format(column.name))
        for column in columns
        for told in (_ENDS if column.type == "TEXT" else (*_ENDS, _GREATEST_FRACTION))
    ]
    if asked:
        values = cast("tuple[object, ...]", con.execute(f"SELECT {', '.join(told for _, told in asked)} FROM {kind}").fetchone())
        yield from zip((column for column, _ in asked), values, strict=True)
