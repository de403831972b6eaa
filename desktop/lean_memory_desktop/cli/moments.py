"""Moments as people write and read them, against the epoch milliseconds of the engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lean_memory_desktop.cli.options import BadUseError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORTEST_EPOCH_MS = 9


def read_zone(name: str | None, fallback: str | None) -> tzinfo | None:
    """The zone called `name`, else `fallback`, else `None`, which stands for this computer's own."""
    chosen = name or fallback
    if chosen is None:
        return None
    try:
        return ZoneInfo(chosen)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadUseError(f"There is no time zone called {chosen!r}; use an IANA name such as Europe/Vienna or Asia/Taipei.") from error


def read_moment(text: str | None, option: str, zone: tzinfo | None) -> int | None:
    """Epoch ms of an ISO date (its first moment), an ISO date and time, or a number that is epoch ms already.

    A time without an offset is read in `zone`, or in this computer's zone when that is `None`.
    """
    if text is None:
        return None
    if text.isascii() and text.lstrip("-").isdigit() and len(text) >= _SHORTEST_EPOCH_MS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError, OSError) as error:
        raise BadUseError(
            f"{option} {text!r} is not a date; write it like 2024-05-31 or 2024-05-31T18:30, with an offset such as +02:00 if it matters."
        ) from error


def show_moment(instant: int, zone: tzinfo | None) -> str:
    """A date, with the time where it is not midnight, in `zone` or this computer's."""
    try:
        moment = (_EPOCH + timedelta(milliseconds=instant)).astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return f"{instant} ms"
    has_time = bool(moment.hour or moment.minute or moment.second or moment.microsecond)
    return moment.strftime("%Y-%m-%d %H:%M") if has_time else moment.strftime("%Y-%m-%d")


def show_end(instant: int | None, zone: tzinfo | None) -> str:
    """When something ended, or nothing at all while it holds."""
    return "" if instant is None else show_moment(instant, zone)
