"""Which rows a search may see, decided for many rows at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Visibility

PRESENT, LATEST, COLD, STRUCK, ASSERTED, IS_FACT = 1, 2, 4, 8, 16, 32
"""The bits of a row's flags."""

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

    `as_of` looks at the interval alone, whatever the tier. Without it, `latest_only` keeps rows that are the latest and have not
    ended by now (by `known_at`, where that is asked for). What was struck was never so, and is not seen at all.
    """
    if visibility.as_of is not None:
        mask = _has(rows, PRESENT, without=STRUCK)
        mask &= rows.valid_at <= visibility.as_of
        mask &= rows.valid_to > visibility.as_of
    elif visibility.latest_only:
        mask = _has(rows, PRESENT | LATEST, without=STRUCK if visibility.include_cold else STRUCK | COLD)
        mask &= rows.valid_to > (visibility.now if visibility.known_at is None else visibility.known_at)
    else:
        mask = _has(rows, PRESENT, without=STRUCK)
    if visibility.known_at is not None:
        mask &= rows.recorded_at <= visibility.known_at
    return mask


def _has(rows: RowArrays, wanted: int, *, without: int) -> NDArray[np.bool_]:
    return (rows.flags & np.uint8(wanted | without)) == np.uint8(wanted)
