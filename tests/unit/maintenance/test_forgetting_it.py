"""Forgetting reaches everything that maintenance made: proposals, journal, summaries, duplicates, tallies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import EndReason, Fact, Instant, Tier
from lean_memory.errors import NotFoundError
from lean_memory.proposals import Settled
from lean_memory.store.tallies import add_tallies
from support.maintenance import House, about, demotion, merge, same_entity, summary, verdict
from support.statements import say

SECRET = "zanzibar"


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def facts(house: House, *things: str) -> list[Fact]:
    return [house.said(about("Eve", "likes", thing)) for thing in things]


def assert_forgotten(house: House) -> None:
    """No byte of it is in any file, and the file is sound."""
    assert house.store.check() == []
    house.close()
    for file in house.root.iterdir():
        assert SECRET.encode() not in file.read_bytes().lower(), file.name
    house.open()


def test_a_fact_takes_its_proposals_its_journal_and_its_tallies_with_it(house: House) -> None:
    one, two, three = facts(house, SECRET, "milk", f"{SECRET} too")
    decided = house.proposed(demotion(one))
    house.care.decide(decided.id, verdict("approve"))
    waiting = house.proposed(summary(f"Eve likes milk and {SECRET}.", (two, three)))
    with house.store.write() as tx:
        add_tallies(tx.connection, {one.id: (3, house.clock.now), three.id: (1, house.clock.now)})
    house.care.promote(one.id)
    house.store.forget(fact_id=one.id)
    house.store.forget(fact_id=three.id)
    for proposal in (decided, waiting):
        with pytest.raises(NotFoundError):
            house.care.proposal(proposal.id)
    assert (house.latest(), house.run().state) == (["Eve likes milk."], "done")
    assert_forgotten(house)


def test_who_forgets_a_fact_forgets_what_was_merged_into_it(house: House) -> None:
    tea, green = facts(house, f"{SECRET} tea", f"green {SECRET} tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    house.store.forget(fact_id=tea.id)
    assert (house.latest(), house.as_of(Instant(house.clock.now + 1))) == ([], [])
    assert_forgotten(house)


def test_a_summary_of_what_is_forgotten_goes_and_its_other_sources_come_back(house: House) -> None:
    secret, milk = facts(house, SECRET, "milk")
    outcome = house.care.decide(house.proposed(summary(f"Eve likes milk, {SECRET}.", (secret, milk), (milk,))).id, verdict("approve"))
    assert isinstance(outcome, Settled)
    assert house.fact(milk).tier is Tier.COLD
    house.store.forget(fact_id=secret.id)
    assert (house.latest(), house.fact(milk).tier) == (["Eve likes milk."], Tier.HOT)
    assert_forgotten(house)


def test_an_entity_takes_the_proposals_about_it_and_its_aliases(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about(SECRET.title(), "likes", "milk"))
    proposal = house.proposed(same_entity(bob, robert))
    house.store.forget(entity=SECRET)
    with pytest.raises(NotFoundError):
        house.care.proposal(proposal.id)
    assert_forgotten(house)


def test_a_duplicate_stands_again_when_its_survivor_had_to_go_for_another_reason(house: House) -> None:
    text = f"Eve likes {SECRET} and tea."
    shared = [about("Eve", "likes", SECRET, text=text), about("Eve", "likes", "tea", text=text)]
    secret, other = (house.store.fact(uid) for uid in say(house.store, *shared, at=house.clock.now).fact_ids)
    house.wait(1)
    [green] = facts(house, "green tea")
    house.care.decide(house.proposed(merge(other, green)).id, verdict("approve"))
    assert house.fact(green).end_reason is EndReason.DUPLICATE
    house.store.forget(fact_id=secret.id)
    assert house.latest() == ["Eve likes green tea."]
    assert_forgotten(house)
