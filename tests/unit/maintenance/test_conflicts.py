"""What is offered as a contradiction between facts that are all current."""

from __future__ import annotations

import pytest

from lean_memory.domain import Modality, Polarity, Trust
from lean_memory.maintenance.conflicts import conflicts
from lean_memory.proposals import BOTH
from support.snapshots import fact, likes, snapshot


def offered(*facts: object) -> list[set[str]]:
    return [set(draft.fact_ids) for draft in conflicts(snapshot(facts))]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cellar has 4 windows.", "The cellar has 5 windows."),
        ("The heating is on at night.", "The heating is not on at night."),
        ("The gate is open on Sundays.", "The gate is closed on Sundays."),
        ("The choir meets at 7 pm in the hall.", "The choir meets at 8 pm in the hall."),
        ("The head office is in Turin.", "The head office is in Milan."),
        ("仓库有四个窗户。", "仓库有五个窗户。"),
        ("La tienda abre a las 9.", "La tienda abre a las 10."),
    ],
)
def test_two_accounts_that_differ_in_one_place_are_a_conflict(one: str, other: str) -> None:
    [draft] = conflicts(snapshot([one, other]))
    assert set(draft.fact_ids) == {one, other}
    assert draft.choices == (one, other, BOTH)
    assert draft.reason.endswith("?")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We visited Rome in June.", "We visited Oslo in June."),
        ("The choir sang in Turin.", "The choir sang in Milan."),
        ("The red bike has 7 gears.", "The blue bike has 21 gears."),
        ("The shelf holds jam.", "The shelf holds honey."),
        ("The tall lamp is in the hall.", "The lamp is in the hall."),
        ("Shop 3 opens at 9.", "Shop 4 opens at 10."),
        ("Bus number 3 is green.", "Bus number 4 is green."),
        ("The owner of shop 3 is ill.", "The owner of shop 4 is ill."),
        ("Turin is in the north.", "Milan is in the north."),
        ("The old mill is a museum.", "The new mill is a museum."),
    ],
)
def test_what_can_both_be_so_is_none(one: str, other: str) -> None:
    assert offered(one, other) == []


def test_values_of_a_slot_for_one_conflict_where_one_source_is_less_trusted() -> None:
    mine = fact("I live in Oslo.", predicate="lives_in", value="Oslo")
    imported = fact("The user lives in Bergen.", predicate="lives_in", value="Bergen", trust=Trust.IMPORTED)
    [draft] = conflicts(snapshot([mine, imported]))
    assert draft.choices == ("Oslo", "Bergen", BOTH)


def test_values_that_the_person_keeps_side_by_side_are_none() -> None:
    first = fact("I work at Acme.", predicate="works_at", value="Acme")
    second = fact("I also work at Globex.", predicate="works_at", value="Globex")
    assert offered(first, second) == []


def test_liking_and_disliking_one_thing_is_a_conflict() -> None:
    [jazz] = likes("jazz")
    dislike = fact("I dislike jazz.", predicate="dislikes", value="jazz")
    assert offered(jazz, dislike, *likes("tea", "chess")) == [{jazz.id, dislike.id}]


def test_a_value_said_and_denied_is_a_conflict() -> None:
    said = fact("I play the piano.", predicate="plays", value="the piano")
    denied = fact("I don't play a piano.", predicate="plays", value="piano", polarity=Polarity.NEGATIVE)
    assert offered(said, denied) == [{said.id, denied.id}]


def test_plans_and_reports_contradict_nothing() -> None:
    planned = fact("The cellar has 5 windows.", modality=Modality.PLANNED)
    assert offered("The cellar has 4 windows.", planned) == []


def test_accounts_filed_under_two_subjects_conflict_only_where_they_name_the_same_thing() -> None:
    one = fact("The ferry to Naxos takes 4 hours.", subject="ferry")
    other = fact("The ferry to Naxos takes 5 hours.")
    assert offered(one, other) == [{one.id, other.id}]
    assert offered(fact("The trip takes 4 hours there.", subject="trip"), fact("The trip takes 5 hours there.")) == []
