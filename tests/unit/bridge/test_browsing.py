"""Looking through a memory by the page, by whom it is about, and at two moments side by side."""

from __future__ import annotations

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError
from lean_memory_bridge.browsing import MOST_MOMENTS, PageAsked, browse, compare, moments
from support import moments as written


def day(number: int) -> int:
    return written.ms(written.day(number))


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.add("ana", "I live in Porto.", t_ref=day(10))
    memory.add("ana", "Clara works at Globex.", t_ref=day(12))
    memory.add("ana", "Clara likes tea.", t_ref=day(13))
    memory.add("ana", "I moved to Lisbon.", t_ref=day(20))
    return memory


def test_a_page_holds_the_newest_and_says_how_many_there_are(told: Memory) -> None:
    first = browse(told, "ana", PageAsked(limit=2))
    second = browse(told, "ana", PageAsked(limit=2, offset=2))
    assert (first.total, len(first.facts), len(second.facts)) == (3, 2, 1)
    assert first.facts[0].object == "Lisbon"
    assert {fact.id for fact in first.facts} & {fact.id for fact in second.facts} == set()


def test_the_person_comes_before_those_with_more_facts(told: Memory) -> None:
    assert [(entity.name, entity.facts) for entity in browse(told, "ana", PageAsked()).entities] == [("user", 1), ("Clara", 2)]


@pytest.mark.parametrize(("asked", "objects"), [(PageAsked(entity="Clara"), {"Globex", "tea"}), (PageAsked(text="GLOB clara"), {"Globex"})])
def test_facts_are_chosen_by_entity_and_by_all_words(told: Memory, asked: PageAsked, objects: set[str]) -> None:
    assert {fact.object for fact in browse(told, "ana", asked).facts} == objects


def test_history_is_there_when_it_is_asked_for(told: Memory) -> None:
    found = browse(told, "ana", PageAsked(entity="user", include_history=True))
    assert {fact.object for fact in found.facts} == {"Porto", "Lisbon"}


def test_what_took_the_place_of_something_stands_beside_it(told: Memory) -> None:
    found = compare(told, "ana", day(15), "true")
    assert [(pair.then and pair.then.object, pair.now and pair.now.object) for pair in found.pairs] == [("Porto", "Lisbon")]
    assert {fact.object for fact in found.stayed} == {"Globex", "tea"}
    assert (found.changes, found.same) == (1, 2)


def test_what_is_new_has_nothing_beside_it(told: Memory) -> None:
    found = compare(told, "ana", day(11), "true")
    assert {(pair.then and pair.then.object, pair.now and pair.now.object) for pair in found.pairs} == {
        ("Porto", "Lisbon"),
        (None, "Globex"),
        (None, "tea"),
    }


def test_before_anything_was_learned_nothing_was_known(told: Memory) -> None:
    found = compare(told, "ana", day(15), "known")
    assert {pair.then for pair in found.pairs} == {None}
    assert found.same == 0


def test_a_moment_that_is_none_is_refused(told: Memory) -> None:
    with pytest.raises(InvalidInputError):
        compare(told, "ana", "yesterday-ish", "true")


def test_the_moments_are_those_of_changes_and_the_last_is_among_them(told: Memory) -> None:
    found = moments(told, "ana", "true").moments
    assert found == (day(10), day(12), day(13), day(20))


def test_of_many_moments_some_are_given_spread_over_all(memory: Memory) -> None:
    memory.add_many("ana", [{"text": f"I bought item number {number} for 5 euros.", "t_ref": day(number)} for number in range(1, 500)])
    found = moments(memory, "ana", "true").moments
    assert len(found) <= MOST_MOMENTS
    assert found[-1] >= day(498)
    assert list(found) == sorted(found)
