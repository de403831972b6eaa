"""Why a fact is held: its sentence, the pass and rule, its doubts, what it ended and on which rung."""

from __future__ import annotations

import pytest

from lean_memory import Memory
from lean_memory.domain import EndReason, Explanation
from lean_memory.errors import NotFoundError


def explained(memory: Memory, predicate: str, value: str) -> Explanation:
    facts = memory.facts("ana", predicate=predicate, include_history=True)
    return memory.explain("ana", next(fact.id for fact in facts if value in (fact.object or fact.fact_text)))


def test_it_names_the_sentence_the_speaker_the_pass_and_the_rule(memory: Memory) -> None:
    memory.add("ana", "Hello! I work at Acme. It rains.", client="shell")
    told = explained(memory, "works_at", "Acme")
    assert (told.source_text, told.source, told.client) == ("I work at Acme.", "user", "shell")
    assert told.made_by.startswith("the rules of the language: rule ")
    assert (told.ended, told.ending, told.echoes) == ((), None, 0)


def test_it_says_why_a_fact_is_not_surer(memory: Memory) -> None:
    memory.add("ana", "I think I probably moved to Porto on 03/04/2024.")
    memory.add("ana", "We deploy behind a feature flag.")
    memory.add("ana", "The capital of Peru is Lima.", source="assistant")
    for fact in memory.facts("ana", include_history=True):
        told = memory.explain("ana", fact.id)
        assert (fact.confidence < 1) == bool(told.doubts), told
    [lima] = [fact for fact in memory.facts("ana", include_history=True) if fact.object == "Lima"]
    assert memory.explain("ana", lima.id).doubts == ("an assistant said it, not the person",)
    [kept] = memory.facts("ana", predicate="states")
    assert memory.explain("ana", kept.id).doubts == ("no rule knows the sentence, so it was kept whole",)


def test_it_tells_what_a_fact_ended_and_by_which_rung(memory: Memory) -> None:
    memory.add("ana", "I work at Acme.", t_ref=1_700_000_000_000)
    memory.add("ana", "I now work at Globex.", t_ref=1_710_000_000_000)
    [ended] = explained(memory, "works_at", "Globex").ended
    assert (ended.fact.object, ended.reason, ended.rung, ended.said) == ("Acme", EndReason.SUPERSEDED, "slot", "I now work at Globex.")
    ending = explained(memory, "works_at", "Acme").ending
    assert ending is not None
    assert (ending.by, ending.said) == (explained(memory, "works_at", "Globex").fact.id, "I now work at Globex.")


@pytest.mark.parametrize(
    ("liking", "value", "over", "rung"),
    [
        ("I like strawberries.", "strawberries", "I no longer like strawberries.", "equal"),
        ("I like strawberries.", "strawberries", "I no longer like strawberry.", "inflection"),
        ("I like dark roast coffee.", "dark roast coffee", "I no longer like coffee.", "containment"),
    ],
)
def test_it_tells_how_a_retraction_was_understood(memory: Memory, liking: str, value: str, over: str, rung: str) -> None:
    memory.add("ana", liking, t_ref=1_700_000_000_000)
    memory.add("ana", over, t_ref=1_710_000_000_000)
    ending = explained(memory, "likes", value).ending
    assert ending is not None
    assert (ending.reason, ending.rung, ending.said, ending.by) == (EndReason.RETRACTED, rung, over, None)


def test_it_tells_of_a_correction_and_of_echoes(memory: Memory) -> None:
    memory.add("ana", "I live in Porto.")
    memory.add("ana", "Sorry, I meant Lisbon.")
    told = explained(memory, "lives_in", "Lisbon")
    assert [(e.fact.object, e.reason) for e in told.ended] == [("Porto", EndReason.CORRECTED)]
    memory.add("ana", "I work at Acme.")
    memory.search("ana", "Acme")
    memory.add("ana", "The user works at Acme.")
    told = explained(memory, "works_at", "Acme")
    assert (told.echoes, told.confirmed_at) == (1, ())


def test_an_unknown_fact_is_said_to_be_unknown(memory: Memory) -> None:
    memory.add("ana", "I live in Porto.")
    with pytest.raises(NotFoundError, match="no fact nothing"):
        memory.explain("ana", "nothing")
