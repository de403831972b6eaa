"""Several values of one slot in one text stand side by side, unless the text tells of a change."""

from __future__ import annotations

import pytest

from lean_memory.domain import Act, Candidate, Instant, Source
from lean_memory.extraction.pipeline import Recent, extract


def candidates(text: str, *before: str) -> list[Candidate]:
    earlier = tuple(c for said in before for c in candidates(said))
    found = extract(text, t_ref=Instant(1_700_000_000_000), tz="UTC", source=Source.USER, recent=Recent(texts=before, candidates=earlier))
    return list(found.candidates)


def test_a_pasted_description_of_several_things_replaces_nothing() -> None:
    text = "Scene one: a harbour at dawn. The exposure limit is 4 seconds. Scene two: a market. The exposure limit is 9 seconds."
    made = [c for c in candidates(text) if c.predicate == "exposure_limit"]
    assert {c.object for c in made} == {"4 seconds", "9 seconds"}
    assert all(c.additive for c in made)


@pytest.mark.parametrize("change", ["The staging port is now 8081.", "The staging port has changed to 8081."])
def test_a_change_told_in_one_text_replaces(change: str) -> None:
    made = [c for c in candidates(f"The staging port is 8080. {change}") if c.object == "8081"]
    assert made
    assert not any(c.additive for c in made)


def test_the_slots_of_the_vocabulary_keep_to_one_value() -> None:
    assert not any(c.additive for c in candidates("I live in Porto. I live in Lyon."))


@pytest.mark.parametrize(
    "text", ["And it's actually been really helpful.", "Got it! Thanks. I definitely will.", "It's really been a blast."]
)
def test_a_remark_with_actually_puts_nothing_right(text: str) -> None:
    before = "I have been to Lisbon with my family. I plan to talk to the harbour master."
    assert [c for c in candidates(text, before) if c.act is Act.CORRECT] == []
