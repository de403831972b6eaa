"""A sentence of which one fact is over and another holds is answered with what holds alone."""

from __future__ import annotations

import pytest

from lean_memory import Memory
from lean_memory.extraction.pipeline import own_words

DAY = 86_400_000
START = 1_770_000_000_000


def tell(memory: Memory, *texts: str) -> None:
    for number, text in enumerate(texts):
        memory.add("n", text, t_ref=START + number * DAY, tz="UTC")


def test_a_job_that_is_over_is_neither_shown_nor_first_where_its_successor_is_asked_for(memory: Memory) -> None:
    tell(memory, "I work at Hooli as a designer.", "I have joined Vandelay.")

    texts = [hit.fact.fact_text for hit in memory.search("n", "Where does the user work?")]

    assert texts[0] == "I have joined Vandelay."
    assert all("Hooli" not in text for text in texts)


@pytest.mark.parametrize(
    ("told", "after", "predicate", "text"),
    [
        ("I work at Hooli as a designer.", "I have joined Vandelay.", "job_title", "I work as a designer."),
        ("Ich arbeite bei Siemens als Ingenieurin.", "Ich arbeite jetzt bei Bosch.", "job_title", "Ich arbeite als Ingenieurin."),
        ("My sister Ana works at Acme.", "Ana joined Globex.", "has_sibling", "My sister Ana."),
        ("I like tea and coffee.", "I no longer like tea.", "likes", "I like coffee."),
    ],
)
def test_a_fact_is_told_without_what_its_sentence_says_besides_and_is_over(
    memory: Memory, told: str, after: str, predicate: str, text: str
) -> None:
    tell(memory, told, after)

    assert [fact.fact_text for fact in memory.facts("n", predicate=predicate)] == [text]


def test_while_all_of_a_sentence_holds_it_stays_as_it_was_said(memory: Memory) -> None:
    tell(memory, "I work at Hooli as a designer.")

    assert {fact.fact_text for fact in memory.facts("n")} == {"I work at Hooli as a designer."}


def test_the_history_and_the_past_show_the_sentence_as_it_was_said(memory: Memory) -> None:
    tell(memory, "I work at Hooli as a designer.", "I have joined Vandelay.")

    assert "I work at Hooli as a designer." in {fact.fact_text for fact in memory.facts("n", include_history=True)}
    assert {fact.fact_text for fact in memory.facts("n", as_of=START + 1)} == {"I work at Hooli as a designer."}


def test_where_no_rule_can_tell_the_facts_of_a_sentence_apart_nothing_is_made_up() -> None:
    assert own_words("We use Postgres for storage and Redis for caching.", ("user", "uses", "Redis")) is None
    assert own_words("Something no rule knows.", ("user", "states", "Something no rule knows")) is None
