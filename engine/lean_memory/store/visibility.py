"""Which rows a search may see, decided for many rows at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Visibility

PRESENT, LATEST, COLD, STRUCK, ASSERTED, IS_FACT = 1, 2, 4, 8, 16, 32
"""The bits of a row's flags."""

CLOCKS_DIFFER_MS = 5 * 60 * 1000
"""How far ahead the clock of a client may be: what begins later than this has not begun. Nothing stored is bent to the clock here,
so what a client said in some order stays in that order."""

OPEN_END = (1 << 63) - 1
"""How an open `valid_to` is written where there is no NULL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowArrays:
    """The visibility of many rows; every array has shape (rows,). A row without PRESENT does not exist."""

    valid_at: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    recorded_at: NDArray[np.int64]
    tokens: NDArray[np.uint16]
    asks: NDArray[np.uint8]
    """The share of the row's text that stands in questions, of 255."""
    flags: NDArray[np.uint8]


def visible_rows(rows: RowArrays, visibility: Visibility) -> NDArray[np.bool_]:
    """Which of the rows a search may see, shape (rows,).

    `as_of` looks at the interval alone, whatever the tier. Without it, `latest_only` keeps rows that hold now (at `known_at`, where that
    is asked for): they have not ended by now, or will be ended only by what was said of a time to come; and they have begun, which
    is asked of asserted rows alone, as a plan is known before its time. A duplicate is not the latest and has no end. What was struck was
    never so: only the whole history shows it.
    """
    if visibility.as_of is not None:
        mask = _has(rows, PRESENT, without=STRUCK)
        mask &= rows.valid_at <= visibility.as_of
        mask &= rows.valid_to > visibility.as_of
    elif visibility.latest_only:
        moment = visibility.now if visibility.known_at is None else visibility.known_at
        mask = _has(rows, PRESENT, without=STRUCK if visibility.include_cold else STRUCK | COLD)
        mask &= rows.valid_to > moment
        mask &= _has(rows, LATEST) | ((rows.valid_to > moment + CLOCKS_DIFFER_MS) & (rows.valid_to != OPEN_END))
        mask &= (rows.valid_at <= moment + CLOCKS_DIFFER_MS) | _has(rows, 0, without=ASSERTED)
    else:
        mask = _has(rows, PRESENT)
    if visibility.known_at is not None:
        mask &= rows.recorded_at <= visibility.known_at
    return mask


def holds_now(column: Mapping[str, str]) -> str:
    """The same for the facts of a query, as an SQL condition over the columns given by name; `:moment` is now."""
    begins, ends, latest = column["valid_at"], column["valid_to"], column["is_latest"]
    later = f"(:moment + {CLOCKS_DIFFER_MS})"
    return (
        f"({ends} IS NULL OR {ends} > :moment) AND ({latest} = 1 OR {ends} > {later}) AND ({begins} <= {later} OR f.modality <> 'asserted')"
    )


def _has(rows: RowArrays, wanted: int, *, without: int = 0) -> NDArray[np.bool_]:
    return (rows.flags & np.uint8(wanted | without)) == np.uint8(wanted)
