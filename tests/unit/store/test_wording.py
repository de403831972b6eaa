"""Where phrases stand in a text, word for word."""

from __future__ import annotations

import tempfile

import pytest
from hypothesis import given, strategies as st

from lean_memory import Memory
from lean_memory.store.wording import Phrases, words_of
from support.embedding import WordEmbedder

words = st.lists(st.sampled_from(["tea", "I", "like", "milk", "c++", "日", "本", "3.5"]), max_size=8)
phrases = st.lists(words.filter(bool), min_size=1, max_size=6)


@given(words, phrases)
def test_every_place_of_every_phrase_is_found_once_and_lies_within_the_text(said: list[str], wanted: list[list[str]]) -> None:
    text = words_of(" ".join(said))
    keys = {words_of(" ".join(phrase)).keys for phrase in wanted}
    places = [
        (first, len(key)) for key in keys for first in range(len(text.keys) - len(key) + 1) if text.keys[first : first + len(key)] == key
    ]
    found = list(Phrases(keys).find(text))
    assert sorted(found) == sorted(places)
    for first, count in found:
        assert text.span(first, count).end <= len(" ".join(said))


@pytest.mark.parametrize(
    ("told", "entity"),
    [
        (["I live in Porto now.", "Hello there. I live in Porto."], None),
        (["It rains. Bob likes tea.", "Bob likes tea with milk."], "Bob"),
    ],
)
def test_a_sentence_that_begins_as_a_longer_one_does_is_forgotten_at_the_end_of_a_text(told: list[str], entity: str | None) -> None:
    with tempfile.TemporaryDirectory() as root, Memory(root=root, embedder=WordEmbedder()) as memory:
        facts = [fact for text in told for fact in memory.add("ana", text)]
        for fact in facts if entity is None else ():
            memory.would_forget("ana", fact_id=fact)
        result = memory.forget("ana", entity=entity) if entity else memory.forget("ana", fact_id=facts[0])
        assert result.facts >= 1
        assert not {f.object for f in memory.facts("ana", include_history=True)} & {"Porto", "tea"}
        assert memory.check("ana") == []
