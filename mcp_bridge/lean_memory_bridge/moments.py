"""Moments as programs and assistants write them: epoch milliseconds, or ISO dates and times."""

from __future__ import annotations

import datetime as dt

from lean_memory.errors import InvalidInputError


def moment_of(given: int | str | None, name: str) -> int | dt.datetime | None:
    """What the engine takes: milliseconds as they are, a date or a time as an aware datetime (local where it has no offset).

    Raises `InvalidInputError` for what is neither.
    """
    if given is None or isinstance(given, int):
        return given
    text = given.strip()
    if text.lstrip("-").isdecimal() and len(text) > 8:
        return int(text)
    try:
        read = dt.datetime.fromisoformat(text)
        return read if read.tzinfo is not None else read.astimezone()
    except (ValueError, OverflowError, OSError):
        raise InvalidInputError(
            f"{name} is neither epoch milliseconds nor an ISO date such as 2024-05-31 or 2024-05-31T18:00:00+02:00."
        ) from None


def milliseconds_of(moment: int | dt.datetime) -> int:
    """A moment in epoch milliseconds."""
    return round(moment.timestamp() * 1000) if isinstance(moment, dt.datetime) else moment
