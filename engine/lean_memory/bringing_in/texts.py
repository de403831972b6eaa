"""What the readers of all kinds give: texts with their dates, and what they leave out."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast
from zoneinfo import ZoneInfo

from lean_memory.bringing_in.values import PLACES, Kind, LeftOut
from lean_memory.domain import EpisodeId, Instant

LONGEST = 20_000
"""A message that is longer is not something that a person said, but something that they pasted."""

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_UID_LENGTH = 26
_MILLISECONDS_FROM = 100_000_000_000
"""As a number of seconds it lies in the year 5138, as one of milliseconds in 1973."""
_EARLIEST = dt.datetime(1970, 1, 2, tzinfo=dt.UTC)
_LATEST = dt.datetime(9999, 12, 30, tzinfo=dt.UTC)
_NO_FIELDS: Mapping[str, object] = {}
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Something to remember: what was said, when, and by what it is known again."""

    text: str
    t_ref: Instant
    key: tuple[str, ...]
    """What it has in every export that holds it, and no other text of its kind has."""

    def uid(self, kind: Kind) -> EpisodeId:
        """The id of its episode, the same whenever it is brought in."""
        digest = hashlib.sha256("\0".join((kind.value, *self.key)).encode("utf-8", "replace")).digest()
        number = int.from_bytes(digest[:17], "big")
        return EpisodeId("".join(_DIGITS[(number >> (5 * place)) & 31] for place in range(_UID_LENGTH)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Something that is left out."""

    reason: str
    place: str = ""
    count: int = 1


Found = Text | Passed
Reading = Generator[Found, None, None]


@dataclass(slots=True)
class Tally:
    """What was left out, by reason, in the order in which the reasons came up."""

    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _places: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def note(self, passed: Passed) -> None:
        """Count something that is left out."""
        self._counts[passed.reason] = self._counts.get(passed.reason, 0) + passed.count
        places = self._places.setdefault(passed.reason, [])
        if passed.place and len(places) < PLACES and passed.place not in places:
            places.append(passed.place)

    def told(self) -> tuple[LeftOut, ...]:
        """Everything that was left out."""
        return tuple(LeftOut(reason=r, count=n, places=tuple(self._places[r])) for r, n in self._counts.items() if n)


def fields_of(value: object) -> Mapping[str, object]:
    """The fields of a JSON object; none of anything else."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else _NO_FIELDS


def elements_of(value: object) -> Sequence[object]:
    """The elements of a JSON array; none of anything else."""
    return cast("list[object]", value) if isinstance(value, list) else ()


def clean(text: str) -> str:
    """The text without what no text that is kept may hold: half characters and NUL; and with plain line ends."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def moment_of(value: object, zone: str) -> Instant | None:
    """When something was, by an ISO date or a number of seconds or milliseconds; without an offset it is in `zone`. `None` if it does not say."""
    match value:
        case bool() | None:
            return None
        case int() | float() | Decimal():
            return _of_number(value)
        case dt.datetime():
            return _of_datetime(value, zone)
        case dt.date():
            return _of_datetime(dt.datetime.combine(value, dt.time()), zone)
        case str():
            return _of_text(value.strip(), zone)
        case _:
            return None


def _of_number(value: float | Decimal) -> Instant | None:
    try:
        seconds = float(value) / (1000 if abs(value) >= _MILLISECONDS_FROM else 1)
        return _of_datetime(_EPOCH + dt.timedelta(seconds=seconds), "UTC")
    except (OverflowError, ValueError):
        return None


def _of_text(text: str, zone: str) -> Instant | None:
    try:
        return _of_datetime(dt.datetime.fromisoformat(text), zone)
    except ValueError:
        try:
            return _of_number(float(text))
        except ValueError:
            return None


def _of_datetime(moment: dt.datetime, zone: str) -> Instant | None:
    aware = moment.replace(tzinfo=ZoneInfo(zone)) if moment.utcoffset() is None else moment
    if not _EARLIEST <= aware <= _LATEST:
        return None
    return Instant(round((aware - _EPOCH).total_seconds() * 1000))
