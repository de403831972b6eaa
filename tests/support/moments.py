"""Moments in time, written shortly."""

from __future__ import annotations

import datetime as dt


def day(number: int, *, month: int = 1, year: int = 2025) -> dt.datetime:
    """Noon UTC of the given day; `number` may run past the month's end."""
    return dt.datetime(year, month, 1, 12, tzinfo=dt.UTC) + dt.timedelta(days=number - 1)


def ms(moment: dt.datetime) -> int:
    return round(moment.timestamp() * 1000)
