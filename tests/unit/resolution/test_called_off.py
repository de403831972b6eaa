"""A plan with a date can be called off before that date, whatever the order in which both are told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lean_memory import Memory

PLAN, OTHER, OFF = (
    "I'm planning a trip to Lisbon on 12 May.",
    "We have a trip to Rome planned for 20 June.",
    "The trip on 12 May is cancelled.",
)
JANUARY, FEBRUARY, MARCH, JULY = (int(datetime(2026, month, 3, tzinfo=UTC).timestamp() * 1000) for month in (1, 2, 3, 7))


def planned(memory: Memory, **seen: object) -> set[str]:
    facts = memory.facts("n", include_history=True, **seen)  # pyright: ignore[reportArgumentType]
    return {fact.object for fact in facts if fact.is_latest and fact.modality.value == "planned"}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_what_is_called_off_before_its_day_is_no_plan_any_more_and_another_trip_stays(memory: Memory, order: tuple[int, ...]) -> None:
    said = [(PLAN, JANUARY), (OTHER, FEBRUARY), (OFF, MARCH)]
    for place in order:
        text, t_ref = said[place]
        memory.add("n", text, t_ref=t_ref, tz="UTC")

    assert planned(memory) == {"trip to Rome"}
    assert all("Lisbon" not in hit.fact.fact_text for hit in memory.search("n", "Where does the trip go?", now=MARCH + 1))
    assert memory.check("n") == []


def test_a_plan_made_anew_after_that_stands(memory: Memory) -> None:
    for text, t_ref in ((PLAN, JANUARY), (OFF, FEBRUARY), (PLAN, MARCH)):
        memory.add("n", text, t_ref=t_ref, tz="UTC")

    assert planned(memory) == {"trip to Lisbon"}
    ended = [fact for fact in memory.facts("n", include_history=True) if not fact.is_latest]
    assert [(fact.end_reason and fact.end_reason.value, fact.valid_to) for fact in ended] == [("retracted", FEBRUARY)]


def test_what_is_cancelled_after_the_day_leaves_the_plan_of_another_day(memory: Memory) -> None:
    memory.add("n", OTHER, t_ref=JANUARY, tz="UTC")
    memory.add("n", "The trip on 12 May is cancelled.", t_ref=FEBRUARY, tz="UTC")

    assert planned(memory) == {"trip to Rome"}


def test_an_appointment_told_with_its_day_is_called_off_at_once(memory: Memory) -> None:
    memory.add("n", "My dentist appointment is on 3 June.", t_ref=JANUARY, tz="UTC")
    memory.add("n", "My dentist appointment on 3 June was cancelled.", t_ref=FEBRUARY, tz="UTC")

    assert memory.facts("n", predicate="dentist_appointment") == []


@pytest.mark.parametrize(
    "said", ["The trip is not cancelled.", "The trip might be cancelled.", "She cancelled her trip.", "Is the trip on 12 May cancelled?"]
)
def test_what_is_not_called_off_stays_planned(memory: Memory, said: str) -> None:
    memory.add("n", PLAN, t_ref=JANUARY, tz="UTC")
    memory.add("n", said, t_ref=FEBRUARY, tz="UTC")

    assert "trip to Lisbon" in planned(memory)
