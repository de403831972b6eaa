"""Finds the dates in a clause and says when they are, in the speaker's time zone.

Which stretches of text are dates is decided by the forms of the pack's `[dates]`, never by a date parser:

    order                        how 03/04/2025 is read: "mdy", "dmy" or "ymd"
    months, weekdays             word -> number (January 1, Monday 0)
    units                        word -> "day", "week", "month" or "year"
    numbers                      word -> value ("two" = 2)
    relative                     word -> offset ("yesterday" = "-1 day")
    digits, eras                 years in other digits ("二" = 2) and the year before an era's first ("令和" = 2018), both taken by {year}
    before.since|until|at|from   regular expressions of the words before a date, by what they make of it
    after.since|until|at         the same for languages that put them behind
    not_before                   words after which a date is none ("12 March Street")
    range                        the words between the two dates of "from 2015 to 2019"
    [[dates.forms]]              p = "{n} {unit} ago", is = "ago"; framed = true: only after one of `before`

A form is a regular expression with {n} {unit} {weekday} {month} {day} {year} {yy} {numeric} {relative}. `is` says how it is read:
date, relative, ago, ahead, lasting ("for two years": since two years ago), weekday (the nearest), weekday-last (before today), weekday-next, weekday-of-last-week,
weekday-of-this-week, weekday-of-next-week, unit-last, unit-this, unit-next, parse (left to dateparser).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import cast
from zoneinfo import ZoneInfo

from lean_memory.domain import Instant
from lean_memory.extraction.calendar_math import Moment, add, last_year_of, nearest, numeric, unit_start, weekday_in_week
from lean_memory.extraction.pack import Pack, load
from lean_memory.extraction.pattern import alternation

_SLOT = re.compile(r"\{(\w+)\}")
_LEAD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """When and where something is said, and whether it speaks of what is to come."""

    t_ref: Instant
    tz: str
    ahead: bool = False

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.t_ref / 1000, ZoneInfo(self.tz)).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A date in a clause: where (with its preposition), from when, until when (exclusive), and how sure that is."""

    start: int
    end: int
    begins: Instant | None
    ends: Instant | None
    since: bool = False
    lasting: bool = False
    """It says how long, so that it tells a beginning only of what still goes on."""
    text: str = ""
    doubt: str | None = None
    closes: Instant | None = None
    """When the day, month or year that was named is over."""


def find_dates(text: str, pack: Pack, anchor: Anchor) -> tuple[Found, ...]:
    """The dates in a clause, in order, without overlaps."""
    forms = _forms(pack)
    if forms is None or not forms.trigger.search(text):
        return ()
    found = [item for item in _scan(text, forms, anchor) if item is not None]
    return tuple(_joined(text, found, forms))


def without(text: str, found: Sequence[Found]) -> str:
    """The clause with its dates taken out."""
    for item in reversed(found):
        text = text[: item.start].rstrip(" ,，、") + " " + text[item.end :].lstrip()
    return text.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    regex: re.Pattern[str]
    kind: str
    framed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forms:
    trigger: re.Pattern[str]
    any_form: re.Pattern[str]
    forms: tuple[_Form, ...]
    before: Mapping[str, re.Pattern[str]]
    after: Mapping[str, re.Pattern[str]]
    range: re.Pattern[str]
    order: str
    tables: Mapping[str, Mapping[str, object]]
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    start: int
    end: int
    role: str
    moment: Moment
    date_start: int
    date_end: int
    lasting: bool = False


def _scan(text: str, forms: _Forms, anchor: Anchor) -> Iterator[_Hit | None]:
    position = 0
    previous: _Hit | None = None
    while found := forms.any_form.search(text, position):
        goes_on = previous is not None and forms.range.fullmatch(text[previous.date_end : found.start()]) is not None
        hit = _read(text, found, forms, anchor, goes_on=goes_on)
        previous = hit or previous
        yield hit
        position = max(hit.end if hit else found.start() + 1, found.start() + 1)


def _read(text: str, found: re.Match[str], forms: _Forms, anchor: Anchor, *, goes_on: bool) -> _Hit | None:
    start, end = found.span()
    role, frame_start = "to" if goes_on else "", start
    for name, pattern in forms.before.items():
        frame = pattern.search(text[max(0, start - _LEAD) : start])
        if frame and (start - len(frame[0])) < frame_start:
            role, frame_start = name, start - len(frame[0])
    frame_end = end
    for name, pattern in forms.after.items():
        frame = pattern.match(text, end)
        if frame:
            role, frame_end = name, frame.end()
            break
    for form in forms.forms:
        match = form.regex.match(text, start, end) or form.regex.match(text, start)  # a form may look at what follows it
        if match and match.end() == end and (role or not form.framed):
            moment = _moment(match, form.kind, forms, replace(anchor, ahead=True) if role == "until" else anchor)
            if moment:
                return _Hit(
                    start=frame_start,
                    end=frame_end,
                    role=role,
                    moment=moment,
                    date_start=start,
                    date_end=end,
                    lasting=form.kind == "lasting",
                )
    return None


def _joined(text: str, hits: Sequence[_Hit], forms: _Forms) -> Iterator[Found]:
    """Pairs "from A to B" into one, and gives every other hit its meaning."""
    number = 0
    while number < len(hits):
        hit = hits[number]
        follower = hits[number + 1] if number + 1 < len(hits) else None
        if follower and forms.range.fullmatch(text[hit.date_end : follower.date_start]):
            yield _found(text, hit, follower)
            number += 2
        else:
            yield _found(text, hit, None)
            number += 1


def _found(text: str, hit: _Hit, follower: _Hit | None) -> Found:
    words, doubt = text[hit.start : (follower or hit).end], hit.moment.doubt
    if follower:
        return Found(start=hit.start, end=follower.end, begins=hit.moment.start, ends=follower.moment.end, text=words, doubt=doubt)
    if hit.role == "until":
        return Found(start=hit.start, end=hit.end, begins=None, ends=hit.moment.end, text=words, doubt=doubt)
    since, closes = hit.lasting or hit.role in {"since", "from"}, hit.moment.end
    return Found(
        start=hit.start,
        end=hit.end,
        begins=hit.moment.start,
        ends=None,
        since=since,
        lasting=hit.lasting,
        text=words,
        doubt=doubt,
        closes=closes,
    )


def _moment(match: re.Match[str], kind: str, forms: _Forms, anchor: Anchor) -> Moment | None:
    parts = {name.partition("_")[0]: text for name, text in match.groupdict().items() if text}
    tables, today, tz = forms.tables, anchor.today, ZoneInfo(anchor.tz)
    if kind == "parse":
        day = _parsed(match[0], forms.code, anchor.today, anchor.tz)
        return Moment.of(day, "day", tz) if day else None
    if kind == "relative":
        count, unit = str(tables["relative"][_key(parts["relative"])]).split()
        return Moment.of(unit_start(add(today, int(count), unit), unit, exact=unit in {"day"}), unit, tz)
    if kind in {"ago", "ahead", "lasting"}:
        unit = str(tables["units"][_key(parts["unit"])])
        amount = _number(parts.get("n", "1"), tables["numbers"])
        day = add(today, amount if kind == "ahead" else -amount, unit)
        return Moment.of(day, "day" if unit in {"day", "week"} else unit, tz) if day else None
    if kind.startswith("weekday"):
        wanted = int(str(tables["weekdays"][_key(parts["weekday"])]))
        return Moment.of(_weekday(wanted, kind, today, ahead=anchor.ahead), "day", tz)
    if kind.startswith("unit"):
        unit = str(tables["units"][_key(parts["unit"])])
        steps = {"unit-last": -1, "unit-this": 0, "unit-next": 1}[kind]
        return Moment.of(unit_start(add(today, steps, unit), unit, exact=False), unit, tz)
    return _calendar_date(parts, forms, anchor)


def _weekday(wanted: int, kind: str, today: date, *, ahead: bool) -> date:
    weeks = {"weekday-of-last-week": -1, "weekday-of-this-week": 0, "weekday-of-next-week": 1}
    if kind in weeks:
        return weekday_in_week(today, wanted, weeks[kind])
    if kind == "weekday-next" or (kind == "weekday" and ahead):
        return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)
    back = (today.weekday() - wanted) % 7
    return today - timedelta(days=back or (7 if kind == "weekday-last" else 0))


def _calendar_date(parts: Mapping[str, str], forms: _Forms, anchor: Anchor) -> Moment | None:
    tz = ZoneInfo(anchor.tz)
    if "numeric" in parts:
        read = numeric(parts["numeric"], forms.order)
        return Moment.of(read[0], "day", tz, doubt=read[1]) if read else None
    month = int(str(forms.tables["months"][_key(parts["month"])])) if "month" in parts else int(parts.get("mon", "0"))
    year = _year(parts, forms.tables, anchor.today)
    day = int(re.sub(r"\D", "", parts["day"])) if "day" in parts else _number(parts["n"], forms.tables["numbers"]) if "n" in parts else None
    if not month:
        return Moment.of(date(year, 1, 1), "year", tz) if year else None
    if not 1 <= month <= 12:
        return None
    start = nearest(month, day, anchor.today, ahead=anchor.ahead) if year is None else last_year_of(year, month, day)
    return Moment.of(start, "day" if day else "month", tz) if start else None


def _year(parts: Mapping[str, str], tables: Mapping[str, Mapping[str, object]], today: date) -> int | None:
    """The year that is named: in full, by its last two digits, in an era, in other digits, or "last year" before a month."""
    if "yy" in parts:
        short = _digits(parts["yy"], tables)
        return short + (2000 if 2000 + short <= today.year + 1 else 1900)
    if "relative" in parts:
        count, unit = str(tables["relative"][_key(parts["relative"])]).split()
        return today.year + int(count) if unit == "year" else None
    said = parts.get("year")
    if said is None:
        return None
    for era, before in tables["eras"].items():
        if said.startswith(era):
            count = said.removeprefix(era).strip()
            return int(str(before)) + (_number(count, tables["numbers"]) if count != "元" else 1)
    return _digits(said, tables)


def _digits(said: str, tables: Mapping[str, Mapping[str, object]]) -> int:
    return int("".join(str(tables["digits"].get(character, character)) for character in said))


@lru_cache(maxsize=512)
def _parsed(words: str, code: str, today: date, tz: str) -> date | None:
    import dateparser  # noqa: PLC0415 - takes longer to load than most commands run, and few texts need it

    base = datetime(today.year, today.month, today.day)
    read = dateparser.parse(words, languages=[code], settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "TIMEZONE": tz})
    return read.date() if read else None


def _number(text: str, numbers: Mapping[str, object]) -> int:
    return int(text) if text.isdigit() else int(str(numbers.get(_key(text), 1)))


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def _forms(pack: Pack) -> _Forms | None:
    return _forms_of(pack.code)


@cache
def _forms_of(code: str) -> _Forms | None:
    pack = load(code)
    data = pack.dates
    rows = cast("Sequence[Mapping[str, object]]", data.get("forms", ()))
    if not rows:
        return None
    tables = {
        name: {_key(word): value for word, value in cast("Mapping[str, object]", data.get(name, {})).items()}
        for name in ("months", "weekdays", "units", "numbers", "relative", "digits", "eras")
    }
    components = _components(tables, spaces=pack.spaces)
    forms = tuple(_form(row, components, spaces=pack.spaces) for row in rows)
    bare = [_SLOT.sub(lambda slot: components[slot[1]], _spaced(str(row["p"]), spaces=pack.spaces)) for row in rows]
    edge = ("(?<![\\w.-])", "(?![\\w]|[.-]\\d)") if pack.spaces else ("", "")
    if data.get("not_before"):
        edge = (edge[0], rf"{edge[1]}(?!\s+(?:{'|'.join(_list(data['not_before']))}))")
    words = [word for name in ("months", "weekdays", "relative", "units", "eras") for word in tables[name]]
    return _Forms(
        trigger=re.compile(rf"\d|{alternation(words, spaces=pack.spaces)}", re.IGNORECASE),
        any_form=re.compile(edge[0] + "(?:" + "|".join(f"(?:{item})" for item in bare) + ")" + edge[1], re.IGNORECASE),
        forms=forms,
        before=_frames(data.get("before"), r"(?:{})\s*$", spaces=pack.spaces),
        after=_frames(data.get("after"), r"\s*(?:{})", spaces=False),
        range=re.compile(rf"\s*(?:{'|'.join(_list(data.get('range', ())))})\s*", re.IGNORECASE),
        order=str(data.get("order", "dmy")),
        tables=tables,
        code=pack.code,
    )


def _components(tables: Mapping[str, Mapping[str, object]], *, spaces: bool) -> Mapping[str, str]:
    def any_of(name: str) -> str:
        return alternation(list(tables[name]), spaces=spaces) if tables[name] else "(?!)"

    return {
        "n": _counts(tables, any_of("numbers")),
        "unit": any_of("units"),
        "weekday": any_of("weekdays"),
        "month": any_of("months"),
        "relative": any_of("relative"),
        "day": r"(?:[0-3]?\d(?:st|nd|rd|th|er|º|\.)?)",
        "mon": r"(?:1[0-2]|0?[1-9])",
        "year": _years(tables, rf"(?:元|{_counts(tables, any_of('numbers'))})"),
        "yy": rf"(?:\d\d|[{''.join(tables['digits'])}]{{2}})" if tables["digits"] else r"\d\d",
        "numeric": r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})",
    }


def _counts(tables: Mapping[str, Mapping[str, object]], words: str) -> str:
    """A number; where a pack has `digits`, any run of what its numbers are written with, for a hundred words cost too much in every form."""
    if not tables["digits"]:
        return rf"(?:\d{{1,3}}|{words})"
    characters = "".join(sorted({character for word in tables["numbers"] for character in word}))
    return rf"(?:\d{{1,3}}|[{characters}]{{1,{max(map(len, tables['numbers']))}}})"


def _years(tables: Mapping[str, Mapping[str, object]], number: str) -> str:
    choices = [r"1[5-9]\d\d|20\d\d|21\d\d"]
    if tables["digits"]:
        choices.append(f"[{''.join(tables['digits'])}]{{4}}")
    if tables["eras"]:
        choices.append(rf"(?:{'|'.join(tables['eras'])})\s*{number}")
    return f"(?:{'|'.join(choices)})"


def _form(row: Mapping[str, object], components: Mapping[str, str], *, spaces: bool) -> _Form:
    used: dict[str, int] = {}

    def named(slot: re.Match[str]) -> str:
        used[slot[1]] = used.get(slot[1], 0) + 1
        return f"(?P<{slot[1]}_{used[slot[1]]}>{components[slot[1]]})"

    source = _SLOT.sub(named, _spaced(str(row["p"]), spaces=spaces))
    return _Form(regex=re.compile(source, re.IGNORECASE), kind=str(row["is"]), framed=bool(row.get("framed", False)))


def _spaced(source: str, *, spaces: bool) -> str:
    return source.replace(" ", r"\s+" if spaces else r"\s*")


def _frames(table: object, template: str, *, spaces: bool) -> Mapping[str, re.Pattern[str]]:
    if not table:
        return {}
    rows = cast("Mapping[str, object]", table)
    edge = r"(?<!\w)" if spaces else ""
    return {
        name: re.compile(edge + template.replace("{}", "|".join(_list(words)).replace(" ", r"\s+")), re.IGNORECASE)
        for name, words in rows.items()
    }


def _list(value: object) -> list[str]:
    return [str(item) for item in cast("Sequence[object]", value)]
