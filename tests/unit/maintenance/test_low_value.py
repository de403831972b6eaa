"""What may be put away for being old, small and unused, and what never."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lean_memory.domain import Fact, FactId, Instant, Modality, RecordKind
from lean_memory.maintenance.drafts import Access
from lean_memory.maintenance.low_value import low_value
from support.snapshots import DAY, NOW, fact, snapshot

OLD = 700


def offered(facts: list[Fact], **known: object) -> list[str]:
    return [each.fact_text for draft in low_value(snapshot(facts, **known)) for each in draft.facts]  # pyright: ignore[reportArgumentType]


def test_an_old_trifle_that_was_never_asked_for_is_offered_with_its_score() -> None:
    [draft] = low_value(snapshot([fact("The printer paper was on sale.", days=OLD, salience=1.0)]))
    scores = dict(draft.scores)
    assert scores["value"] == pytest.approx(0.05, abs=0.01)
    assert scores["access"] == 0.0
    assert "never asked for" in draft.reason


def test_the_least_valuable_comes_first() -> None:
    facts = [fact("The printer paper was on sale.", days=OLD, salience=2.0), fact("The bus was blue.", days=OLD, salience=1.0)]
    assert offered(facts) == ["The bus was blue.", "The printer paper was on sale."]


@pytest.mark.parametrize(
    "kept",
    [
        fact("The printer paper was on sale.", days=89, salience=0.0),
        fact("The printer paper was on sale.", days=OLD, salience=6.0),
        fact("The printer paper was on sale.", days=OLD, salience=0.0, kind=RecordKind.SUMMARY),
        fact("The printer paper will be on sale.", days=OLD, salience=0.0, modality=Modality.PLANNED),
        fact("I'm allergic to nuts.", predicate="allergic_to", value="nuts", days=OLD, salience=0.0),
        fact("My blood type is A.", days=OLD, salience=0.0),
        fact("My deadline is Monday.", predicate="deadline", value="Monday", days=OLD, salience=0.0),
    ],
    ids=lambda each: f"{each.predicate}, {each.record_kind}, {each.modality}, {each.salience}",
)
def test_what_is_young_matters_is_vital_or_fills_a_slot_of_one_is_never_offered(kept: Fact) -> None:
    assert offered([kept]) == []


def test_what_is_asked_for_often_and_lately_stays() -> None:
    text = "The printer paper was on sale."
    used = {FactId(text): Access(served=16, last_at=Instant(NOW - DAY))}
    forgotten = {FactId(text): Access(served=16, last_at=Instant(NOW - OLD * DAY))}
    assert offered([fact(text, days=OLD, salience=1.0)], access=used) == []
    assert offered([fact(text, days=OLD, salience=1.0)], access=forgotten) == [text]


def test_what_the_person_wants_kept_or_is_in_another_proposal_stays() -> None:
    trifle = fact("The printer paper was on sale.", days=OLD, salience=1.0)
    assert offered([trifle], kept=[trifle.id]) == []
    assert not list(low_value(snapshot([trifle]), without=frozenset({trifle.id})))


def test_what_was_said_again_lately_is_young() -> None:
    trifle = fact("The printer paper was on sale.", days=OLD, salience=1.0)
    assert not list(low_value(replace(snapshot([trifle]), said={trifle.id: Instant(NOW - DAY)})))
