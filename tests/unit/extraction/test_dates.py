"""Which words are dates, and when that is."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from lean_memory.domain import Instant
from lean_memory.extraction import pack as packs
from lean_memory.extraction.dates import Anchor, Found, find_dates, without

TUESDAY = "2026-03-10T09:30:00+00:00"


def at(iso: str) -> Instant:
    return Instant(int(datetime.fromisoformat(iso).timestamp() * 1000))


def found(text: str, *, said: str = TUESDAY, tz: str = "UTC", ahead: bool = False) -> tuple[Found, ...]:
    return find_dates(text, packs.load("en"), Anchor(t_ref=at(said), tz=tz, ahead=ahead))


def begins(text: str, *, said: str = TUESDAY, tz: str = "UTC", ahead: bool = False) -> str | None:
    dates = found(text, said=said, tz=tz, ahead=ahead)
    if len(dates) != 1 or dates[0].begins is None:
        return None
    return datetime.fromtimestamp(dates[0].begins / 1000, ZoneInfo(tz)).isoformat()[:10]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("joined yesterday", "2026-03-09"),
        ("joined two days ago", "2026-03-08"),
        ("joined a week ago", "2026-03-03"),
        ("joined three months ago", "2025-12-10"),
        ("joined last month", "2026-02-01"),
        ("joined last Friday", "2026-03-06"),
        ("joined last Tuesday", "2026-03-03"),
        ("joined on Monday", "2026-03-09"),
        ("joined in January", "2026-01-01"),
        ("joined in June", "2025-06-01"),
        ("joined on September 1", "2025-09-01"),
        ("joined on the 5th of May 2021", "2021-05-05"),
        ("joined on 2024-02-29", "2024-02-29"),
        ("worked there since 2019", "2019-01-01"),
        ("worked there since June 2022", "2022-06-01"),
    ],
)
def test_dates_of_the_past_are_read_from_when_it_was_said(text: str, day: str) -> None:
    assert begins(text) == day


@pytest.mark.parametrize(
    ("text", "day"), [("starts next Monday", "2026-03-16"), ("moves in August", "2026-08-01"), ("moves next month", "2026-04-01")]
)
def test_dates_of_plans_lie_ahead(text: str, day: str) -> None:
    assert begins(text, ahead=True) == day


@pytest.mark.parametrize(
    "text",
    ["I have 3 cats", "I work at Forever 21", "May is my sister", "I own a 2014 Subaru", "I live on 5th Avenue", "We never deploy on Fridays",
     "invested in March Capital", "my shoe size is 42", "port 8081", "version 20.11", "I called April"],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert found(text) == ()


def test_last_monday_said_on_a_monday_is_a_week_back() -> None:
    assert begins("last Monday", said="2026-03-09T09:00:00+00:00") == "2026-03-02"


def test_the_day_is_that_of_the_speakers_time_zone() -> None:
    assert begins("yesterday", said="2026-03-10T03:00:00+00:00", tz="America/Los_Angeles") == "2026-03-08"
    assert begins("yesterday", said="2026-03-29T22:30:00+00:00", tz="Europe/Berlin") == "2026-03-29"


def test_a_span_ends_after_the_last_year_it_names() -> None:
    (span,) = found("from 2015 to 2019")
    assert span.begins == at("2015-01-01T00:00:00+00:00")
    assert span.ends == at("2020-01-01T00:00:00+00:00")


def test_until_says_when_it_ends_and_lies_ahead() -> None:
    (span,) = found("in Crete until Sunday")
    assert (span.begins, span.ends) == (None, at("2026-03-16T00:00:00+00:00"))


def test_a_date_that_can_be_read_two_ways_says_so() -> None:
    (span,) = found("on 03/04/2025")
    assert span.doubt == "03/04/2025 may be 2025-03-04 or 2025-04-03"
    assert found("on 13/04/2025")[0].doubt is None


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert begins("on February 30, 2024") is None


def test_taking_dates_out_leaves_the_rest() -> None:
    text = "I joined Acme last Friday as a clerk"
    assert without(text, found(text)) == "I joined Acme as a clerk"
