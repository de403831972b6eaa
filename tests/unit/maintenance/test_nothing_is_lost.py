"""Whatever is decided, merged, put away or taken back, in whatever order: nothing that a person wants found, or erased, gets lost between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lean_memory.domain import Fact, Tier, Visibility
from lean_memory.maintenance.low_value import low_value
from lean_memory.maintenance.run import Request
from lean_memory.proposals import Conflict, ProposalState, SearchEffect, Settled, Stale
from lean_memory.store import runs
from support.maintenance import House, about, demotion, merge, over, same_entity, summary, verdict

SECRET = "zanzibar"


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def told(house: House, *things: str) -> list[Fact]:
    return [house.said(about("Eve", "likes", thing)) for thing in things]


def at_once(house: House, *things: str) -> dict[str, Fact]:
    """Things said in one message."""
    house.said(*(about("Eve", "likes", thing) for thing in things))
    return {fact.object: fact for fact in house.store.facts(visibility=Visibility(now=house.clock.now), modalities=None)}


def one_person(house: House, *facts: Fact) -> None:
    """Read the names of two facts as one."""
    house.care.decide(house.proposed(same_entity(*facts)).id, verdict("approve"))


def test_what_is_to_be_erased_is_so_although_it_was_put_away_meanwhile(house: House) -> None:
    [tea] = told(house, "tea")
    away = house.proposed(demotion(tea))
    erasure = house.care.ask_to_forget(tea.id)
    house.care.decide(away.id, verdict("approve"))
    house.run()
    assert isinstance(house.care.decide(erasure.id, verdict("approve")), Settled)
    assert house.latest(include_cold=True) == []


def test_what_was_refused_to_be_erased_is_not_asked_again_because_it_was_put_away(house: House) -> None:
    [tea] = told(house, "tea")
    house.care.decide(house.care.ask_to_forget(tea.id).id, verdict("reject"))
    house.care.decide(house.proposed(demotion(tea)).id, verdict("approve"))
    with pytest.raises(ValueError, match="kept it"):
        house.care.ask_to_forget(tea.id)


def test_erasing_one_sentence_leaves_what_was_asked_and_refused_of_the_next(house: House) -> None:
    said = at_once(house, "tea", "milk", "green tea", "oat milk")
    second = house.care.ask_to_forget(said["milk"].id)
    refused = house.proposed(merge(said["green tea"], said["oat milk"]))
    house.care.decide(refused.id, verdict("reject"))
    house.store.forget(fact_id=said["tea"].id)
    assert house.run(merge(house.fact(said["green tea"]), house.fact(said["oat milk"]))).proposed == ()
    assert isinstance(house.care.decide(second.id, verdict("approve")), Settled)


def test_a_summary_does_not_put_away_what_was_promoted_after_it_was_proposed(house: House) -> None:
    tea, milk = told(house, "tea", "milk")
    proposal = house.proposed(summary("Eve likes tea; milk.", (tea, milk), (tea, milk)))
    house.care.promote(tea.id)
    house.care.decide(proposal.id, verdict("approve"))
    assert (house.fact(tea).tier, house.fact(milk).tier) == (Tier.HOT, Tier.COLD)


def test_promoting_a_fact_withdraws_the_proposal_to_put_it_away(house: House) -> None:
    [tea] = told(house, "tea")
    proposal = house.proposed(demotion(tea))
    house.care.promote(tea.id)
    outcome = house.care.decide(proposal.id, verdict("approve"))
    assert isinstance(outcome, Conflict)
    assert (outcome.proposal.state, house.fact(tea).tier) == (ProposalState.WITHDRAWN, Tier.HOT)
    assert "can no longer be decided" in outcome.sentence


@pytest.mark.parametrize("word", ["promoted", "said lately"])
def test_a_fact_is_not_faint_if_what_was_merged_into_it_is_not(house: House, word: str) -> None:
    bob = house.said(about("Bob", "likes", "tea", salience=1.0))
    house.wait(0 if word == "promoted" else 400)
    rob = house.said(about("Rob", "likes", "tea"))
    if word == "promoted":
        house.care.promote(rob.id)
    one_person(house, bob, rob)
    house.wait(200 if word == "promoted" else 0)
    assert (house.run().merged, house.run().demoted, house.latest()) == (1, 0, ["Bob likes tea."])


def test_a_dry_run_counts_what_a_run_would_do(house: House) -> None:
    bob, rob = house.said(about("Bob", "likes", "tea", salience=1.0)), house.said(about("Rob", "likes", "tea", salience=1.0))
    house.said(about("Bob", "likes", "milk", salience=1.0))
    house.said(about("Rob", "likes", "milk"))
    one_person(house, bob, rob)
    house.wait(200)
    dry, wet = house.run(apply=False), house.run()
    assert (dry.merged, dry.demoted) == (wet.merged, wet.demoted) == (2, 1)


def test_a_repetition_is_not_put_away_once_what_it_repeats_is_over(house: House) -> None:
    kept, again = house.said(about("Berlin", "states", "open")), house.said(about("office", "states", "open"))
    proposal = house.proposed(replace(demotion(again), rests_on=(kept,)))
    assert [fact.id for fact in proposal.facts] == [again.id]
    house.said(about("Eve", "says", "so"), over("Berlin", "states", "open"))
    assert isinstance(house.care.decide(proposal.id, verdict("approve")), Stale)
    assert house.fact(again).tier is Tier.HOT


@pytest.mark.parametrize("how", ["over", "forgotten"])
def test_a_repetition_comes_back_when_what_it_repeats_goes(house: House, how: str) -> None:
    kept, again = house.said(about("Berlin", "states", "open")), house.said(about("office", "states", "open"))
    house.care.decide(house.proposed(replace(demotion(again), rests_on=(kept,))).id, verdict("approve"))
    assert house.fact(again).tier is Tier.COLD
    house.wait(1)
    if how == "over":
        house.said(about("Eve", "says", "so"), over("Berlin", "states", "open"))
    else:
        house.store.forget(fact_id=kept.id)
    assert (house.fact(again).tier, house.store.check()) == (Tier.HOT, [])


def test_what_followed_a_merged_fact_follows_it_again_when_that_is_taken_back(house: House) -> None:
    tea, green, leaves = told(house, "tea", "green tea", "tea leaves")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    second = house.proposed(merge(leaves, house.fact(tea)))
    house.care.decide(second.id, verdict("approve"))
    assert house.fact(green).superseded_by == leaves.id
    assert house.care.revert(second.id).left == 0
    assert (house.fact(green).superseded_by, house.fact(tea).is_latest, house.store.check()) == (tea.id, True, [])


def test_a_run_that_is_still_going_is_not_taken_back(house: House) -> None:
    lease = house.store.change(lambda tx: runs.claim(tx.connection, holder="another", cause="nightly", now=house.clock.now))
    assert lease is not None
    assert "still going" in house.care.revert(lease.run_id).sentence
    house.wait(1)
    assert "still going" not in house.care.revert(lease.run_id).sentence
    assert house.care.status().runs[0].state == "abandoned"


@pytest.mark.parametrize(
    "shown",
    [{"effects": (SearchEffect(query="q", before=(f"Well,  EVE owns {SECRET}!",), after=()),)}, {"reason": f"Both: owns {SECRET}."}],
    ids=["effects", "reason"],
)
def test_a_proposal_about_something_else_does_not_tell_of_what_is_erased_and_stays_decided(house: House, shown: dict[str, object]) -> None:
    [tea] = told(house, "tea")
    secret = house.said(about("Eve", "owns", SECRET.title(), text=f"Eve owns {SECRET.title()}."))
    proposal = house.proposed(replace(demotion(tea), **shown))
    house.care.decide(proposal.id, verdict("approve"))
    house.store.forget(fact_id=secret.id)
    assert house.care.revert(proposal.id).changed == 1
    house.close()
    for file in house.root.iterdir():
        assert SECRET.encode() not in file.read_bytes().lower(), file.name
    house.open()


@pytest.mark.parametrize("how", ["said again", "merged"])
def test_what_was_said_again_lately_is_not_offered_to_be_put_away(house: House, how: str) -> None:
    bob = house.said(about("Bob", "likes", "tea", salience=1.0))
    rob = house.said(about("Rob", "likes", "milk"))
    house.wait(400)
    again = house.said(about("Bob" if how == "said again" else "Rob", "likes", "tea", salience=1.0))
    one_person(house, bob, rob)
    assert house.run().merged == (how == "merged")
    care = replace(house.care, proposers=(low_value,))
    care.run(Request(apply=True, force=True))
    assert bob.id not in [fact.id for each in house.waiting() for fact in each.facts]
    assert (house.fact(again).superseded_by or bob.id) == bob.id
