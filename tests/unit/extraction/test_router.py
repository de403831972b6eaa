"""Which sentences go on to the typing model, and why; the rest is left alone."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given, settings, strategies as st

from lean_memory.domain import Candidate, Instant, Source
from lean_memory.extraction.gliner import DISPUTED, UNRESOLVED
from lean_memory.extraction.pipeline import extract
from lean_memory.extraction.router import Escalation, Reason, Tally, route, weight
from lean_memory.extraction.told import Told, told

T_REF = Instant(1_760_000_000_000)


def heard(text: str, source: Source = Source.USER) -> list[Told]:
    return told(text, extract(text, t_ref=T_REF, tz="UTC", source=source).candidates)


def sent_on(text: str, source: Source = Source.USER) -> list[Escalation]:
    return route(heard(text, source))[0]


def with_candidate(text: str, **changes: object) -> list[Told]:
    (said,) = heard(text)
    return [replace(said, candidates=tuple(replace(candidate, **changes) for candidate in said.candidates))]


@pytest.mark.parametrize(
    "text",
    [
        "Back when I was in the navy, nobody asked for passwords.",
        "As an owner of two greyhounds I go through a lot of blankets.",
        "Since I lost my job the mornings feel long.",
        "He finally got the promotion and moved to Bergen.",
        "We named her Moss after the stone.",
        "My knee surgery went better than the surgeon had hoped.",
    ],
)
def test_what_must_be_inferred_or_told_of_whom_goes_on(text: str) -> None:
    assert sent_on(text)


@pytest.mark.parametrize(
    "text",
    [
        "What a lovely evening that was!",
        "The weather is grey today.",
        "That sounds like a plan.",
        "I work at Tarrant.",
        "My name is Ines.",
        "Thanks for all your help!",
    ],
)
def test_small_talk_and_what_a_rule_has_read_stay(text: str) -> None:
    assert sent_on(text) == []


def test_the_reason_is_told() -> None:
    assert sent_on("We named her Moss after the stone.")[0].reasons == (Reason.UNRESOLVED,)
    assert sent_on("Since I lost my job the mornings feel long.")[0].reasons == (Reason.INFERENCE,)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"confidence": 0.4}, Reason.LOW_CONFIDENCE),
        ({"reasons": (UNRESOLVED,)}, Reason.UNRESOLVED),
        ({"object": "there"}, None),
        ({"object": "it"}, Reason.UNRESOLVED),
        ({"is_inference": True}, Reason.INFERENCE),
        ({"reasons": (DISPUTED,)}, Reason.AMBIGUOUS),
    ],
)
def test_an_unsure_candidate_goes_on_whatever_the_sentence_says(changes: dict[str, object], reason: Reason | None) -> None:
    found, _ = route(with_candidate("I work at Tarrant.", **changes))
    assert [reason for each in found for reason in each.reasons] == ([reason] if reason else [])


def test_what_may_contradict_what_is_known_goes_on() -> None:
    said = heard("I work at Tarrant.")
    (found,), _ = route(said, contested=said[0].candidates)
    assert found.reasons == (Reason.CONTRADICTION,)
    assert found.candidates == said[0].candidates


def test_what_an_assistant_says_never_goes_on() -> None:
    text = "Berit's grandmother passed away in Bergen."
    assert all(candidate.is_inference for each in heard(text, Source.ASSISTANT) for candidate in each.candidates)
    assert sent_on(text, Source.ASSISTANT) == []


def test_the_tally_counts_candidates_and_sentences_without_one_that_go_on() -> None:
    said = [*heard("I work at Tarrant."), *heard("We named her Moss after the stone."), *heard("Thanks a lot!")]
    found, tally = route(said)
    assert len(found) == 1
    assert (tally.candidates, tally.escalated) == (2, 1)
    assert tally.share == 0.5
    assert (tally + tally).by_reason == {Reason.UNRESOLVED: 2}
    assert Tally().share == 0.0


def test_chinese_is_routed_by_its_own_words() -> None:
    assert sent_on("自从我被裁员以后，早上总是很安静。")
    assert not sent_on("今天天气不错。")


@given(st.text(alphabet="abcMy I'her 他的 养。-,0", min_size=1, max_size=600))
@settings(max_examples=40, deadline=None)
def test_no_sentence_takes_long_to_weigh(text: str) -> None:
    candidates: tuple[Candidate, ...] = ()
    before = perf_counter()
    for said in told(text, candidates):
        weight(said)
    assert perf_counter() - before < 2
