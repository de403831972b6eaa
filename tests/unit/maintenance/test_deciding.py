"""A decision is carried out once, on what was shown, and touches nothing that has changed since."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Act, EndReason, Fact, RecordKind, Tier, Visibility
from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory.proposals import BOTH, Conflict, Outcome, ProposalKind, ProposalState, Settled, Stale
from support.maintenance import House, about, conflict, demotion, merge, over, same_entity, summary, verdict


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def drinks(house: House, *things: str) -> list[Fact]:
    facts: list[Fact] = []
    for thing in things:
        facts.append(house.said(about("Eve", "likes", thing)))
        house.wait(1)
    return facts


def test_an_approved_merge_hides_the_duplicate_and_answers_about_it_as_before(house: House) -> None:
    tea, green = drinks(house, "tea", "green tea")
    was = house.as_of(house.clock.now)
    outcome = house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    assert isinstance(outcome, Settled)
    assert (outcome.changed, outcome.proposal.state) == ((green.id,), ProposalState.APPROVED)
    assert house.latest() == ["Eve likes tea."]
    assert house.as_of(house.clock.now) == was
    assert house.fact(green).end_reason is EndReason.DUPLICATE


@pytest.mark.parametrize("named", ["tea", "green tea"])
def test_naming_either_of_two_merged_values_ends_both(house: House, named: str) -> None:
    tea, green = drinks(house, "tea", "green tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    house.wait(1)
    house.said(about("Eve", "says", "so"), over("Eve", "likes", named))
    assert house.latest() == ["Eve says so."]
    assert house.fact(tea).valid_to == house.fact(green).valid_to == house.clock.now
    assert house.store.check() == []


def test_a_correction_of_either_strikes_both(house: House) -> None:
    tea, green = drinks(house, "tea", "green tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    house.wait(1)
    house.said(about("Eve", "likes", "milk", act=Act.CORRECT, corrects="green tea"))
    assert house.latest() == ["Eve likes milk."]
    assert {house.fact(tea).end_reason, house.fact(green).end_reason} == {EndReason.CORRECTED}
    assert house.store.check() == []


def test_saying_a_merged_value_again_confirms_the_survivor(house: House) -> None:
    tea, green = drinks(house, "tea", "green tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    house.care.decide(house.proposed(demotion(tea)).id, verdict("approve"))
    assert house.said(about("Eve", "likes", "green tea")).id == tea.id
    assert house.fact(tea).tier is Tier.HOT
    assert house.latest() == ["Eve likes tea."]


def test_duplicates_of_a_duplicate_follow_the_last_survivor(house: House) -> None:
    milk, tea, green = drinks(house, "milk", "tea", "green tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    house.care.decide(house.proposed(merge(milk, tea)).id, verdict("approve"))
    assert {house.fact(tea).superseded_by, house.fact(green).superseded_by} == {milk.id}
    house.said(about("Eve", "says", "so"), over("Eve", "likes", "tea"))
    assert house.latest() == ["Eve says so."]


def test_a_passage_of_a_merged_fact_is_still_shown_and_the_survivor_stands_for_it(house: House) -> None:
    tea, green = drinks(house, "tea", "green tea")
    house.care.decide(house.proposed(merge(tea, green)).id, verdict("approve"))
    assert house.store.history(green.id)[-1].fact.id == green.id
    assert {entry.fact.id for entry in house.store.history(tea.id)} == {tea.id, green.id}


def test_a_demotion_hides_facts_and_promoting_one_keeps_it_for_good(house: House) -> None:
    tea, milk = drinks(house, "tea", "milk")
    house.care.decide(house.proposed(demotion(tea, milk)).id, verdict("approve"))
    assert (house.latest(), house.latest(include_cold=True)) == ([], ["Eve likes milk.", "Eve likes tea."])
    assert house.care.promote(tea.id).tier is Tier.HOT
    assert house.latest() == ["Eve likes tea."]


@pytest.mark.parametrize("word", ["reject", "promote"])
def test_what_the_person_keeps_hot_stays_so_in_every_later_run(house: House, word: str) -> None:
    wall = house.said(about("wall", "states", "blue", salience=1.0))
    house.wait(200)
    outcome = house.care.decide(house.proposed(demotion(wall)).id, verdict(word))
    assert isinstance(outcome, Settled)
    assert outcome.proposal.state is ProposalState.REJECTED
    assert (house.run(demotion(wall)).proposed, house.run().demoted) == ((), 0)


def test_a_summary_is_a_fact_from_now_on_and_only_what_it_says_goes_cold(house: House) -> None:
    tea, milk, water = drinks(house, "tea", "milk", "water")
    proposal = house.proposed(summary("Eve likes tea and milk.", (tea, milk, water), (tea, milk)))
    outcome = house.care.decide(proposal.id, verdict("approve"))
    assert isinstance(outcome, Settled)
    assert house.latest() == ["Eve likes tea and milk.", "Eve likes water."]
    made = house.fact(outcome.changed[0])
    assert (made.record_kind, made.subject, made.predicate) == (RecordKind.SUMMARY, "Eve", "likes")
    assert made.fact_text not in [text for _, text, _ in house.as_of(tea.valid_at)]
    assert house.store.check() == []


def test_an_edited_summary_lets_go_cold_only_what_it_still_says(house: House) -> None:
    tea, milk = drinks(house, "tea", "milk")
    proposal = house.proposed(summary("Eve likes tea. Eve likes milk.", (tea, milk), (tea, milk)))
    house.care.decide(proposal.id, verdict("edit", text="Eve likes milk."))
    assert [house.fact(f).tier for f in (tea, milk)] == [Tier.HOT, Tier.COLD]


def test_a_summary_retires_with_the_first_of_its_sources_and_gives_the_others_back(house: House) -> None:
    tea, milk = drinks(house, "tea", "milk")
    outcome = house.care.decide(house.proposed(summary("Eve drinks.", (tea, milk), (tea, milk))).id, verdict("approve"))
    assert isinstance(outcome, Settled)
    house.wait(1)
    house.said(about("Eve", "says", "so"), over("Eve", "likes", "tea"))
    made = house.fact(outcome.changed[0])
    assert (made.is_latest, made.end_reason, made.valid_to) == (False, EndReason.OUTDATED, house.clock.now)
    assert house.latest() == ["Eve likes milk.", "Eve says so."]
    assert house.store.check() == []


def test_a_conflict_is_settled_from_now_on_by_the_persons_choice(house: House) -> None:
    facts = [house.said(about("Eve", "job", job, functional=True, additive=True)) for job in ("baker", "pilot")]
    house.wait(1)
    was = house.as_of(facts[0].valid_at)
    outcome = house.care.decide(house.proposed(conflict(*facts)).id, verdict("choose", choice="pilot"))
    assert isinstance(outcome, Settled)
    assert (outcome.changed, house.latest()) == ((facts[0].id,), ["Eve job pilot."])
    assert house.as_of(facts[0].valid_at) == was
    assert house.run(conflict(*facts)).proposed == ()


def test_both_values_of_a_conflict_may_stay(house: House) -> None:
    facts = [house.said(about("Eve", "job", job, functional=True, additive=True)) for job in ("baker", "pilot")]
    outcome = house.care.decide(house.proposed(conflict(*facts)).id, verdict("choose", choice=BOTH))
    assert isinstance(outcome, Settled)
    assert (outcome.changed, house.latest()) == ((), ["Eve job baker.", "Eve job pilot."])
    assert house.run(conflict(*facts)).proposed == ()


def test_two_names_that_are_one_are_read_as_one(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "milk"))
    house.care.decide(house.proposed(same_entity(bob, robert)).id, verdict("choose", choice="Robert"))
    found = house.store.facts(subject="Bob", visibility=Visibility(now=house.clock.now), modalities=None)
    assert {fact.id for fact in found} == {bob.id, robert.id}
    assert house.run(same_entity(bob, robert)).proposed == ()


def test_a_proposal_whose_facts_have_changed_is_stale_and_touches_nothing(house: House) -> None:
    tea, green = drinks(house, "tea", "green tea")
    proposal = house.proposed(merge(tea, green))
    house.said(about("Eve", "says", "so"), over("Eve", "likes", "tea"))
    was = [house.fact(f) for f in (tea, green)]
    outcome = house.care.decide(proposal.id, verdict("approve"))
    assert isinstance(outcome, Stale)
    assert (outcome.proposal.state, [house.fact(f) for f in (tea, green)]) == (ProposalState.STALE, was)


def test_what_was_decided_is_not_decided_again(house: House) -> None:
    [tea] = drinks(house, "tea")
    proposal = house.proposed(demotion(tea))
    house.care.decide(proposal.id, verdict("approve"))
    house.care.promote(tea.id)
    outcome = house.care.decide(proposal.id, verdict("approve"))
    assert isinstance(outcome, Conflict)
    assert "already" in outcome.sentence
    assert house.fact(tea).tier is Tier.HOT


def test_another_revision_than_was_shown_is_not_decided(house: House) -> None:
    [tea] = drinks(house, "tea")
    proposal = house.proposed(demotion(tea))
    outcome = house.care.decide(proposal.id, verdict("approve", revision=proposal.revision + 1))
    assert isinstance(outcome, Conflict)
    assert house.care.proposal(proposal.id).state is ProposalState.PENDING
    assert isinstance(house.care.decide(proposal.id, verdict("approve", revision=proposal.revision)), Settled)


def test_of_two_who_decide_at_once_one_settles_and_the_other_is_told(house: House) -> None:
    other = House(root=house.root, clock=house.clock)
    for number in range(10):
        tea, milk = house.said(about("Eve", "likes", f"tea {number}")), house.said(about("Eve", "likes", f"milk {number}"))
        proposal = house.proposed(merge(tea, milk))
        outcomes: list[Outcome] = []
        start = threading.Barrier(2)

        def decide(one: House, proposal_id: str = proposal.id, told: list[Outcome] = outcomes, start: threading.Barrier = start) -> None:
            start.wait()
            told.append(one.care.decide(proposal_id, verdict("approve", revision=1)))

        threads = [threading.Thread(target=decide, args=(one,)) for one in (house, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Settled"]
    other.close()


@pytest.mark.parametrize(
    ("kind", "word", "more"),
    [
        ("merge", "edit", {"text": "x"}),
        ("merge", "choose", {"choice": "x"}),
        ("summary", "edit", {"text": "  "}),
        ("conflict", "choose", {"choice": "x"}),
    ],
)
def test_a_verdict_that_a_proposal_does_not_know_is_refused(house: House, kind: str, word: str, more: dict[str, str]) -> None:
    facts = drinks(house, "tea", "milk")
    draft = {"merge": merge(*facts), "summary": summary("Eve drinks.", facts), "conflict": conflict(*facts)}[kind]
    proposal = house.proposed(draft)
    with pytest.raises(InvalidInputError):
        house.care.decide(proposal.id, verdict(word, **more))
    assert house.care.proposal(proposal.id).revision == 1


def test_an_assistant_may_ask_to_forget_and_the_person_decides(house: House) -> None:
    tea, milk = drinks(house, "tea", "milk")
    proposal = house.care.ask_to_forget(tea.id)
    assert (proposal.kind, house.care.ask_to_forget(tea.id).id) == (ProposalKind.FORGET, proposal.id)
    assert isinstance(house.care.decide(proposal.id, verdict("approve")), Settled)
    assert house.latest() == ["Eve likes milk."]
    with pytest.raises(NotFoundError):
        house.fact(tea)
    house.care.decide(house.care.ask_to_forget(milk.id).id, verdict("reject"))
    with pytest.raises(InvalidInputError, match="kept it"):
        house.care.ask_to_forget(milk.id)


def test_the_queue_is_grouped_by_entity_safest_first_and_says_how_much_waits_in_all(house: House) -> None:
    tea, milk = drinks(house, "tea", "milk")
    bob = house.said(about("Bob", "likes", "tea"))
    house.run(summary("Eve drinks.", (tea, milk)), demotion(bob), merge(tea, milk))
    queue = house.care.queue(kind=None, limit=20, entity=None)
    assert [(group.entity, [p.kind.value for p in group.proposals]) for group in queue.groups] == [
        ("Eve", ["merge", "summary"]),
        ("Bob", ["demotion"]),
    ]
    assert (queue.total, queue.by_kind) == (3, (("merge", 1), ("demotion", 1), ("summary", 1)))
    assert [g.entity for g in house.care.queue(kind=ProposalKind.DEMOTION, limit=20, entity=None).groups] == ["Bob"]
    assert [g.entity for g in house.care.queue(kind=None, limit=2, entity=None).groups] == ["Eve"]
    assert [g.entity for g in house.care.queue(kind=None, limit=20, entity="Bob").groups] == ["Bob"]
