"""A run or a decision is taken back from now on: what it hid comes back, what changed since is left, and the past stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import EndReason, Fact, Tier, Visibility
from lean_memory.errors import NotFoundError
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import ProposalState, Settled
from support.maintenance import House, about, conflict, demotion, merge, over, same_entity, summary, verdict


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def told(house: House, *things: str) -> list[Fact]:
    return [house.said(about("Eve", "likes", thing)) for thing in things]


def decided(house: House, draft: Draft, word: str = "approve", **more: str) -> str:
    proposal = house.proposed(draft)
    assert isinstance(house.care.decide(proposal.id, verdict(word, **more)), Settled)
    return proposal.id


def test_a_run_is_taken_back_whole_and_the_next_does_not_do_it_again(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "tea"))
    faint = house.said(about("wall", "states", "blue", salience=1.0))
    decided(house, same_entity(bob, robert))
    house.wait(200)
    before = house.latest()
    report = house.run(demotion(house.said(about("Eve", "likes", "milk"))))
    assert (report.merged, report.demoted, len(house.waiting())) == (1, 1, 1)
    house.wait(1)
    was = house.as_of(house.clock.now)
    assert report.run_id is not None
    undone = house.care.revert(report.run_id)
    assert (undone.changed, undone.left, house.waiting()) == (2, 0, [])
    assert house.latest() == sorted([*before, "Eve likes milk."])
    assert house.as_of(house.clock.now) == was
    again = house.run()
    assert (again.merged, again.demoted, house.fact(faint).tier) == (0, 0, Tier.HOT)
    assert (house.care.revert(report.run_id).changed, house.store.check()) == (0, [])
    assert house.care.status().runs[1].reverted_at is not None


def test_a_merge_is_taken_back_and_not_proposed_again(house: House) -> None:
    tea, green = told(house, "tea", "green tea")
    proposal = decided(house, merge(tea, green))
    undone = house.care.revert(proposal)
    assert (undone.changed, undone.left, house.latest()) == (1, 0, ["Eve likes green tea.", "Eve likes tea."])
    assert house.care.proposal(proposal).state is ProposalState.REVERTED
    assert house.run(merge(tea, green)).proposed == ()
    house.said(about("Eve", "says", "so"), over("Eve", "likes", "tea"))
    assert house.latest() == ["Eve likes green tea.", "Eve says so."]
    assert house.care.revert(proposal).changed == 0


def test_what_was_kept_hot_keeps_what_it_was_merged_into_only_until_the_merge_is_taken_back(house: House) -> None:
    tea, black = (house.said(about("Bob", "likes", thing, salience=1.0)) for thing in ("tea", "black tea"))
    house.care.promote(black.id)
    proposal = decided(house, merge(tea, black))
    house.wait(400)
    assert (house.run().demoted, house.fact(tea).tier) == (0, Tier.HOT)
    house.care.revert(proposal)
    assert (house.run().demoted, house.fact(tea).tier, house.fact(black).tier) == (1, Tier.COLD, Tier.HOT)


def test_a_merge_of_what_has_ended_since_is_left(house: House) -> None:
    tea, green = told(house, "tea", "green tea")
    proposal = decided(house, merge(tea, green))
    house.wait(1)
    house.said(about("Eve", "says", "so"), over("Eve", "likes", "tea"))
    was = house.as_of(tea.valid_at)
    undone = house.care.revert(proposal)
    assert (undone.changed, undone.left, house.latest(), house.as_of(tea.valid_at)) == (0, 1, ["Eve says so."], was)


def test_a_summary_goes_and_its_sources_come_back(house: House) -> None:
    tea, milk = told(house, "tea", "milk")
    proposal = decided(house, summary("Eve drinks.", (tea, milk), (tea,)))
    house.wait(1)
    was = house.as_of(house.clock.now)
    house.wait(1)
    house.care.revert(proposal)
    assert house.latest() == ["Eve likes milk.", "Eve likes tea."]
    house.wait(1)
    assert "Eve drinks." not in [text for _, text, _ in house.as_of(house.clock.now)]
    assert "Eve drinks." in [text for _, text, _ in was]


def test_a_value_that_lost_is_said_again_from_then_on(house: House) -> None:
    facts = [house.said(about("Eve", "job", job, functional=True, additive=True)) for job in ("baker", "pilot")]
    house.wait(1)
    proposal = decided(house, conflict(*facts), "choose", choice="pilot")
    house.wait(1)
    between = house.as_of(house.clock.now)
    house.wait(1)
    house.care.revert(proposal)
    assert house.latest() == ["Eve job baker.", "Eve job pilot."]
    house.wait(-1)
    assert house.as_of(house.clock.now) == between
    assert house.fact(facts[0]).end_reason is EndReason.RETRACTED
    assert house.store.check() == []


def test_two_names_are_two_again(house: House) -> None:
    bob, robert, rob = (house.said(about(name, "likes", name)) for name in ("Bob", "Robert", "Rob"))
    first = decided(house, same_entity(robert, rob))
    second = decided(house, same_entity(bob, robert))
    assert {fact.subject for fact in _facts(house)} == {"Bob", "Robert", "Rob"}
    assert house.care.revert(second).changed == 2
    assert house.care.revert(first).changed == 1
    assert house.store.look(lambda tx: tx.connection.execute("SELECT count(*) FROM entity_alias").get) == 0


def test_what_was_one_because_two_names_were_is_two_again_with_them(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "tea"))
    proposal = decided(house, same_entity(bob, robert))
    house.wait(1)
    assert (house.run().merged, house.latest()) == (1, ["Bob likes tea."])
    house.care.revert(proposal)
    assert (house.latest(), house.store.check()) == (["Bob likes tea.", "Robert likes tea."], [])


def _facts(house: House) -> list[Fact]:
    return house.store.facts(subject="Bob", visibility=Visibility(now=house.clock.now), modalities=None)


def test_a_rejection_taken_back_waits_again(house: House) -> None:
    [tea] = told(house, "tea")
    proposal = decided(house, demotion(tea), "reject")
    house.care.revert(proposal)
    assert [waiting.id for waiting in house.waiting()] == [proposal]
    assert isinstance(house.care.decide(proposal, verdict("approve")), Settled)
    assert house.fact(tea).tier is Tier.COLD


def test_what_a_person_said_again_meanwhile_stays_hot(house: House) -> None:
    [tea] = told(house, "tea")
    proposal = decided(house, demotion(tea))
    house.said(about("Eve", "likes", "tea"))
    undone = house.care.revert(proposal)
    assert (undone.changed, undone.left, house.fact(tea).tier) == (0, 1, Tier.HOT)


def test_what_nobody_knows_cannot_be_taken_back(house: House) -> None:
    with pytest.raises(NotFoundError, match="no run and no proposal"):
        house.care.revert("nothing")
