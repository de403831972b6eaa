"""Which names are thought to be one entity, and on what evidence."""

from __future__ import annotations

import pytest

from lean_memory.domain import Fact
from lean_memory.maintenance.drafts import Draft, KnownEntity
from lean_memory.maintenance.same_entity import same_entities
from lean_memory.proposals import BOTH
from support.snapshots import fact, snapshot


def link(subject: str, predicate: str, value: str) -> Fact:
    return fact(f"{subject} {predicate} {value}", subject=subject, predicate=predicate, value=value)


def person(name: str, *aliases: str) -> KnownEntity:
    return KnownEntity(name=name, type="person", aliases=aliases)


def offered(facts: list[Fact], *entities: KnownEntity) -> list[Draft]:
    return list(same_entities(snapshot(facts, entities=entities)))


def test_a_short_name_and_the_only_full_name_that_has_it_are_one_where_something_connects_them() -> None:
    facts = [link("Bob Smith", "works_at", "Acme"), link("Bob", "works_at", "Acme"), link("Bob", "likes", "tea")]
    [draft] = offered(facts, person("Bob Smith"), person("Bob"))
    assert (draft.entity, draft.text) == ("Bob Smith", "Bob")
    assert draft.choices == ("Bob Smith", "Bob", BOTH)
    assert "works at acme" in draft.reason


def test_without_anything_that_connects_them_they_are_two() -> None:
    assert not offered([link("Bob Smith", "likes", "tea"), link("Bob", "likes", "jazz")], person("Bob Smith"), person("Bob"))


def test_a_short_name_that_two_full_names_have_is_nobodys() -> None:
    facts = [link(name, "works_at", "Acme") for name in ("Bob Smith", "Bob Jones", "Bob")]
    assert not offered(facts, person("Bob Smith"), person("Bob Jones"), person("Bob"))


def test_what_has_two_values_for_what_one_has_one_of_is_two() -> None:
    facts = [
        link("Bob Smith", "likes", "tea"),
        link("Bob", "likes", "tea"),
        link("Bob Smith", "works_at", "Acme"),
        link("Bob", "works_at", "Globex"),
    ]
    assert not offered(facts, person("Bob Smith"), person("Bob"))


def test_two_who_stand_in_a_relation_to_each_other_are_two() -> None:
    facts = [link("Zoe", "friend_of", "Zoë"), link("Zoe", "likes", "tea")]
    assert not offered(facts, person("Zoe"), person("Zoë"))


@pytest.mark.parametrize(("one", "other"), [("Zoë Lind", "Zoe Lind"), ("Acme Inc.", "Acme"), ("Node.js", "NodeJS"), ("O'Hara", "O’Hara")])
def test_two_spellings_of_a_name_are_offered(one: str, other: str) -> None:
    entities = [KnownEntity(name=name, type="organization") for name in (one, other)]
    [draft] = offered([link(one, "likes", "tea"), link(other, "likes", "jazz")], *entities)
    assert {draft.entity, draft.text} == {one, other}


def test_a_slip_of_one_letter_needs_evidence() -> None:
    names = person("Katarzyna"), person("Katarzina")
    assert offered([link("Katarzyna", "lives_in", "Gdynia"), link("Katarzina", "lives_in", "Gdynia")], *names)
    assert not offered([link("Katarzyna", "likes", "tea"), link("Katarzina", "likes", "jazz")], *names)


def test_a_chinese_given_name_and_the_only_full_name_that_ends_in_it_are_offered() -> None:
    facts = [link("李小明", "works_at", "Acme"), link("小明", "works_at", "Acme")]
    [draft] = offered(facts, person("李小明"), person("小明"))
    assert (draft.entity, draft.text) == ("李小明", "小明")


@pytest.mark.parametrize(("one", "other"), [("Port 8090", "Port 8091"), ("Anna", "Hanna"), ("Team A", "Team B")])
def test_names_that_are_merely_alike_are_two(one: str, other: str) -> None:
    assert not offered([link(one, "likes", "tea"), link(other, "likes", "tea")], person(one), person(other))


def test_names_that_are_one_already_are_not_offered_again() -> None:
    assert not offered([link("Zoë", "likes", "tea"), link("Zoe", "likes", "jazz")], person("Zoë", "Zoe"), person("Zoe"))
