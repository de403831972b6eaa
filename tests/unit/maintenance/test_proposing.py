"""All that is proposed of a namespace: its order, its economy, and which searches it would change."""

from __future__ import annotations

from collections.abc import Sequence

from lean_memory.domain import FactId
from lean_memory.maintenance.drafts import Draft, Found, Snapshot
from lean_memory.maintenance.effects import with_effects
from lean_memory.maintenance.propose import FIRST_OF_A_KIND, in_order, propose
from lean_memory.proposals import ProposalKind
from support.snapshots import fact, snapshot

KEYS = ["The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."]
WINDOWS = ["The cellar has 4 windows.", "The cellar has 5 windows."]


def draft(kind: ProposalKind, entity: str, text: str) -> Draft:
    return Draft(kind=kind, entity=entity, facts=(fact(text, subject=entity),), reason="")


def picture() -> Snapshot:
    trifles = [fact(f"The bus number {number} was late.", days=700, salience=0.5) for number in range(3)]
    return snapshot([*WINDOWS, *KEYS, *trifles])


def test_what_is_safest_comes_first_and_no_fact_is_in_two_proposals() -> None:
    drafts = list(propose(picture()))
    assert [each.kind for each in drafts] == [ProposalKind.MERGE, *[ProposalKind.DEMOTION] * 3, ProposalKind.CONFLICT]
    facts = [each for draft in drafts for each in draft.fact_ids]
    assert len(facts) == len(set(facts))


def test_the_same_picture_gives_the_same_proposals() -> None:
    assert list(propose(picture())) == list(propose(picture()))


def test_many_of_a_safe_kind_do_not_crowd_out_the_others() -> None:
    trifles = [draft(ProposalKind.DEMOTION, "Ana", f"trifle {number}") for number in range(100)]
    ordered = list(in_order([*trifles, draft(ProposalKind.CONFLICT, "Ana", "conflict")]))
    assert ordered[FIRST_OF_A_KIND].kind is ProposalKind.CONFLICT
    assert len(ordered) == 101


def test_what_is_about_one_entity_stands_together() -> None:
    ordered = in_order([draft(ProposalKind.MERGE, name, f"{name} {number}") for number in range(2) for name in ("Ana", "Ben")])
    assert [each.entity for each in ordered] == ["Ana", "Ana", "Ben", "Ben"]


def searching(*texts: str) -> tuple[list[str], object]:
    asked: list[str] = []

    def search(question: str, limit: int) -> Sequence[Found]:
        asked.append(question)
        return [Found(fact_id=FactId(text), text=text) for text in texts][:limit]

    return asked, search


def test_a_merge_shows_the_search_that_would_lose_the_duplicate() -> None:
    [merge] = [each for each in propose(snapshot(KEYS)) if each.kind is ProposalKind.MERGE]
    asked, search = searching(*KEYS, "The shed is locked.")
    [effect] = with_effects(merge, search).effects  # pyright: ignore[reportArgumentType]
    assert effect.query == asked[0] == "Spare keys kept blue pot"
    assert effect.before == (*KEYS, "The shed is locked.")
    assert effect.after == (KEYS[0], "The shed is locked.")


def test_a_summary_shows_itself_in_the_place_of_what_it_still_says() -> None:
    summary = Draft(
        kind=ProposalKind.SUMMARY,
        entity="user",
        facts=tuple(fact(text) for text in WINDOWS),
        text="The cellar has windows.",
        demotes=(FactId(WINDOWS[0]),),
        reason="",
    )
    _, search = searching(KEYS[0], *WINDOWS)
    [effect] = with_effects(summary, search).effects  # pyright: ignore[reportArgumentType]
    assert effect.after == (KEYS[0], "The cellar has windows.", WINDOWS[1])


def test_a_search_that_does_not_find_the_facts_is_not_shown() -> None:
    [merge] = [each for each in propose(snapshot(KEYS)) if each.kind is ProposalKind.MERGE]
    _, search = searching("The shed is locked.")
    assert with_effects(merge, search).effects == ()  # pyright: ignore[reportArgumentType]


def test_of_a_slot_the_question_names_subject_and_predicate() -> None:
    tea = fact("I like tea.", predicate="likes", value="tea", days=700, salience=0.5)
    [demotion] = propose(snapshot([tea]))
    asked, search = searching("I like tea.")
    assert len(with_effects(demotion, search).effects) == 2  # pyright: ignore[reportArgumentType]
    assert asked[0] == "user likes"
