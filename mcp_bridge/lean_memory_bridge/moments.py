"""Moments as programs and assistants write them: epoch milliseconds, or ISO dates and times."""

from __future__ import annotations

import datetime as dt

from lean_memory.errors import InvalidInputError

_SECONDS = range(10**9, 10**10)
_LONGEST = 30
"""Characters: a longer number is no moment, and Python refuses to read one of thousands of digits."""


def moment_of(given: int | str | None, name: str) -> int | dt.datetime | None:
    """What the engine takes: milliseconds as they are, a date or a time as an aware datetime (local where it has no offset).

    Raises `InvalidInputError` for what is neither.
    """
    if given is None:
        return None
    text = str(given).strip()
    if isinstance(given, int) or (text.removeprefix("-").isdecimal() and 8 < len(text) < _LONGEST):
        return _milliseconds(int(given), name)
    try:
        read = dt.datetime.fromisoformat(text)
        return read if read.tzinfo is not None else read.astimezone()
    except (ValueError, OverflowError, OSError):
        raise InvalidInputError(
            f"{name} is neither epoch milliseconds nor an ISO date such as 2024-05-31 or 2024-05-31T18:00:00+02:00."
        ) from None


def _milliseconds(given: int, name: str) -> int:
    """The number itself. Ten digits are seconds, as most programs count them: taken for milliseconds they would be some day early in 1970."""
    if given in _SECONDS:
        raise InvalidInputError(
            f"{name} has ten digits, so it seems to be in seconds, and moments are in epoch milliseconds: {given * 1000}, or an ISO date. "
            "Nothing was done."
        )
    return given


def milliseconds_of(moment: int | dt.datetime) -> int:
    """A moment in epoch milliseconds."""
    return round(moment.timestamp() * 1000) if isinstance(moment, dt.datetime) else moment
