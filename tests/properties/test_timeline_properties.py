"""Whatever order statements arrive in, the timeline they add up to is one, and the past stays as it was answered.

A correction takes back what was known when it was told: what came before it may have come in any order, and so may what comes after.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from lean_memory import Fact, Memory
from lean_memory.domain import EndReason
from support.embedding import WordEmbedder
from support.moments import day, ms

EMPLOYERS = ("Acme", "Globex", "Initech")
SENTENCES = (
    *(f"I work at {e}." for e in EMPLOYERS),
    *(f"I no longer work at {e}." for e in EMPLOYERS),
    *(f"I used to work at {e}." for e in EMPLOYERS),
    *(f"I am allergic to {a}." for a in ("soy", "latex")),
    "I'm not allergic to soy anymore.",
    "I live in Porto.",
    "I live in Braga.",
)
CORRECTIONS = (
    *(f"Actually, I work at {e}, not {f}." for e in EMPLOYERS for f in EMPLOYERS if e != f),
    "Actually, I live in Porto, not Braga.",
    "Actually, I'm allergic to latex, not soy.",
)
ALSO = "I also work at Globex."
OTHERS = (
    ALSO,
    "I don't work at Acme.",
    "I worked at Acme until 15 March 2025.",
    "I have worked at Initech since 2 February 2025.",
)
Told = tuple[int, str]


def histories_of(*sentences: str) -> st.SearchStrategy[tuple[Told, ...]]:
    """What is told on different days."""
    return st.lists(st.integers(1, 300), min_size=1, max_size=7, unique=True).flatmap(
        lambda days: st.tuples(*(st.tuples(st.just(d), st.sampled_from(sentences)) for d in days))
    )


histories = histories_of(*SENTENCES)
corrected = histories_of(*SENTENCES, *CORRECTIONS, *OTHERS)


def tell(memory: Memory, told: Sequence[Told]) -> None:
    for when, sentence in told:
        memory.add("ana", sentence, t_ref=day(when))


def told_afresh(told: Sequence[Told]) -> object:
    with tempfile.TemporaryDirectory() as root, Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, told)
        return timeline(memory)


def timeline(memory: Memory) -> list[tuple[str, str, str, str, int, int | None, bool]]:
    return sorted(
        (f.predicate, f.object.casefold(), f.polarity.value, f.modality.value, f.valid_at, f.valid_to, f.is_latest)
        for f in memory.facts("ana", include_history=True)
        if (f.valid_to is None or f.valid_to > f.valid_at) and f.end_reason is not EndReason.CORRECTED
    )


@settings(max_examples=60, deadline=None)
@given(histories, st.randoms(use_true_random=False))
def test_any_order_of_arrival_gives_the_same_timeline(told: tuple[Told, ...], random: object) -> None:
    shuffled = list(told)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert told_afresh(sorted(told)) == told_afresh(shuffled)


@settings(max_examples=40, deadline=None)
@given(histories, st.sampled_from(CORRECTIONS), st.integers(0, 6), st.randoms(use_true_random=False))
def test_what_comes_before_and_after_a_correction_may_come_in_any_order(
    told: tuple[Told, ...], correction: str, cut: int, random: object
) -> None:
    before, after = list(told[:cut]), list(told[cut:])
    right = (301, correction)
    in_order = told_afresh([*sorted(before), right, *sorted(after)])
    random.shuffle(before)  # type: ignore[attr-defined]
    random.shuffle(after)  # type: ignore[attr-defined]
    assert told_afresh([*before, right, *after]) == in_order


@settings(max_examples=60, deadline=None)
@given(corrected)
def test_intervals_of_a_functional_slot_never_overlap_or_invert(told: tuple[Told, ...]) -> None:
    with tempfile.TemporaryDirectory() as root, Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, told)
        assert memory.check("ana") == []
        slots: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in memory.facts("ana", include_history=True):
            if fact.end_reason is EndReason.CORRECTED:
                continue
            assert fact.valid_to is None or fact.valid_to >= fact.valid_at
            if (fact.modality, fact.polarity) == ("asserted", "+") and fact.predicate in {"works_at", "lives_in"}:
                slots[fact.subject, fact.predicate].append(fact)
        for facts in slots.values() if ALSO not in {sentence for _, sentence in told} else ():
            facts.sort(key=lambda f: f.valid_at)
            for before, after in pairwise(facts):
                assert before.valid_to is not None
                assert before.valid_to <= after.valid_at


@settings(max_examples=30, deadline=None)
@given(corrected, st.integers(0, 6))
def test_what_was_answered_about_the_past_never_changes(told: tuple[Told, ...], cut: int) -> None:
    with tempfile.TemporaryDirectory() as root, Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, told[:cut])
        known_at = time.time_ns() // 1_000_000
        moments = [ms(day(d)) for d in (0, 50, 150, 301)]
        before = [answers(memory, moment, known_at) for moment in moments]
        tell(memory, told[cut:])
        assert [answers(memory, moment, known_at) for moment in moments] == before


def answers(memory: Memory, as_of: int, known_at: int) -> list[object]:
    known = memory.facts("ana", as_of=as_of, known_at=known_at, include_history=True)
    as_listed: list[object] = [(f.id, f.valid_at, f.valid_to, f.is_latest, f.superseded_by, f.retired_at) for f in known]
    for question in ("where does the user work", "what is the user allergic to", "Porto or Braga"):
        found = memory.search("ana", question, k=100, as_of=as_of, known_at=known_at)
        as_listed += [(h.fact.id, h.fact.valid_at, h.fact.valid_to, round(h.final_score, 9)) for h in found]
    return as_listed


def test_a_thousand_identical_searches_change_no_ranking(memory: Memory) -> None:
    for number in range(30):
        memory.add("ana", f"I like dish number {number} with rice and lemon.", t_ref=day(number + 1))
    first = memory.search("ana", "which dish with rice", k=10)
    for _ in range(1000):
        again = memory.search("ana", "which dish with rice", k=10)
    assert [(h.fact.id, h.dense_rank, h.sparse_rank) for h in again] == [(h.fact.id, h.dense_rank, h.sparse_rank) for h in first]
