"""What no rule knows is kept whole: statements about somebody unnamed, and what is told of by another."""

from __future__ import annotations

import pytest

from lean_memory.domain import STATES, Candidate, Instant, Modality, Source
from lean_memory.extraction.pipeline import extract


def candidates(text: str) -> list[Candidate]:
    return list(extract(text, t_ref=Instant(1_700_000_000_000), tz="UTC", source=Source.USER).candidates)


@pytest.mark.parametrize(
    "text",
    [
        "A gardener trims the hedge by the gate.",
        "The old porter hums while he sorts the letters.",
        "Three goats graze on the dyke behind the mill.",
        "A young girl jumping over a puddle.",
        "A small boat drifting along the quay.",
        "Nora Brandt elected as head of the choir.",
        "Ines Duarte signed the lease in May.",
    ],
)
def test_what_somebody_does_is_kept_as_it_was_said(text: str) -> None:
    [made] = candidates(text)
    assert (made.predicate, made.fact_text.rstrip(".")) == (STATES, text.rstrip("."))


@pytest.mark.parametrize(
    "text",
    [
        "The best days of the whole summer!",
        "A lovely evening with everyone.",
        "A great feeling to be there.",
        "Two weeks at the seaside!",
        "Some good news at last!",
        "The pizza rocks!",
        "Just finished with that.",
        "Is a gardener trimming the hedge?",
    ],
)
def test_an_exclamation_or_a_remark_about_nobody_gives_nothing(text: str) -> None:
    assert candidates(text) == []


@pytest.mark.parametrize(
    "text", ["I live in Rome, Bruno said.", "I hate onions, my sister says.", "“We moved to Leeds,” the porter told me."]
)
def test_what_is_told_as_the_words_of_another_is_a_report_and_nothing_of_the_speakers(text: str) -> None:
    made = candidates(text)
    assert all(each.modality is Modality.REPORTED and each.predicate == STATES for each in made)


def test_one_who_repeats_himself_says_it_himself() -> None:
    assert any(each.modality is Modality.ASSERTED for each in candidates("I live in Rome, as I said."))
