"""Arithmetic on calendar days for `dates`: units, weekdays, and which year a day without one belongs to."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from lean_memory.domain import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A day, month or year as the interval it covers; `end` is exclusive."""

    start: Instant
    end: Instant
    doubt: str | None = None

    @classmethod
    def of(cls, day: date | None, unit: str, tz: ZoneInfo, *, doubt: str | None = None) -> Self | None:
        """The interval of a unit that begins on a day, in a time zone; `None` for no day or one outside the calendar."""
        after = add(day, 1, unit) if day else None
        if day is None or after is None:
            return None
        return cls(start=_midnight(day, tz), end=_midnight(after, tz), doubt=doubt)


def add(day: date, count: int, unit: str) -> date | None:
    """A day some units later (or earlier); the day of the month is kept where that month has it. `None` outside the calendar."""
    try:
        if unit == "day":
            return day + timedelta(days=count)
        if unit == "week":
            return day + timedelta(weeks=count)
        months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
        year, month = divmod(months, 12)
        return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError):
        return None


def unit_start(day: date | None, unit: str, *, exact: bool) -> date | None:
    """The first day of the week, month or year a day lies in; the day itself when `exact`."""
    if day is None or exact or unit == "day":
        return day
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)


def weekday_in_week(today: date, weekday: int, weeks: int) -> date:
    """The weekday (Monday 0) of the week so many weeks from this one."""
    return today - timedelta(days=today.weekday()) + timedelta(weeks=weeks, days=weekday)


def nearest(month: int, day: int | None, today: date, *, ahead: bool) -> date | None:
    """The latest such day up to today, or the earliest from today on."""
    for year in (today.year + 1, today.year, today.year - 1, today.year - 4) if not ahead else (today.year, today.year + 1, today.year + 4):
        found = last_year_of(year, month, day)
        if found is None:
            continue
        in_reach = found >= today.replace(day=1) if ahead and day is None else found >= today if ahead else found <= today
        if in_reach:
            return found
    return None


def last_year_of(year: int, month: int, day: int | None) -> date | None:
    """A date, or `None` when there is no such day."""
    try:
        return date(year, month, day or 1)
    except ValueError:
        return None


def numeric(text: str, order: str) -> tuple[date, str | None] | None:
    """Reads 2025-03-04 or 03/04/2025; where both orders are possible, the given one, with the doubt in words."""
    numbers = [int(part) for part in re.split(r"\D", text)]
    if len(text.split("-", maxsplit=1)[0].split("/", maxsplit=1)[0].split(".", maxsplit=1)[0]) == 4:
        found = last_year_of(numbers[0], numbers[1], numbers[2])
        return (found, None) if found else None
    first, second, year = numbers
    day_first = last_year_of(year, second, first)
    month_first = last_year_of(year, first, second)
    if day_first and month_first and day_first != month_first:
        chosen = month_first if order == "mdy" else day_first
        return chosen, f"{text} may be {month_first.isoformat()} or {day_first.isoformat()}"
    found = day_first or month_first
    return (found, None) if found else None


def _midnight(day: date, tz: ZoneInfo) -> Instant:
    return Instant(int(datetime.combine(day, time.min, tz).timestamp() * 1000))
