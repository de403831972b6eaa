"""Cutting stretches out of a text, and finding sentences and names in others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lean_memory.domain import Span
from lean_memory.store.cutting import cut, is_wordless, overlap, sentence_around
from lean_memory.store.mentions import name_pattern, sentence_pattern


def span_of(text: str, part: str) -> Span:
    return Span(start=text.index(part), end=text.index(part) + len(part))


@pytest.mark.parametrize(
    ("text", "part", "left"),
    [
        ("I like tea. I live in Rome. I run.", "I live in Rome", "I like tea. I run."),
        ("I live in Rome. I run.", "I live in Rome.", "I run."),
        ("I run. I live in Rome.", "I live in Rome", "I run. "),
        ("私は東京に住んでいます。茶が好きです。", "私は東京に住んでいます", "茶が好きです。"),
        ("I run and I live in Rome, happily.", "I live in Rome", "I run and , happily."),
    ],
)
def test_a_sentence_goes_with_the_punctuation_that_closed_it(text: str, part: str, left: str) -> None:
    assert cut(text, [span_of(text, part)]).text == left


@given(st.text(alphabet="ab .", max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5), st.data())
def test_what_is_left_keeps_its_place(text: str, pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    spans = [Span(start=min(a, b, len(text)), end=min(max(a, b), len(text))) for a, b in pairs]
    after = cut(text, spans)
    gone = {i for s in after.removed for i in range(s.start, s.end)}
    assert gone >= {i for s in spans for i in range(s.start, s.end)}
    assert after.text == "".join(c for i, c in enumerate(text) if i not in gone)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    moved = after.moved(Span(start=start, end=end))
    assert after.text[moved.start : moved.end] == "".join(c for i, c in enumerate(text[start:end], start) if i not in gone)


def test_a_sentence_is_found_around_a_name() -> None:
    text = "I run. Then I met Zoe at 3.5 km! Fine."
    assert (
        text[sentence_around(text, span_of(text, "Zoe")).start : sentence_around(text, span_of(text, "Zoe")).end]
        == "Then I met Zoe at 3.5 km!"
    )
    assert sentence_around("Zoe", Span(start=0, end=3)) == Span(start=0, end=3)


def test_nothing_but_punctuation_is_wordless() -> None:
    assert is_wordless(" .,-_ \n。")
    assert not is_wordless("é")
    assert overlap(Span(start=0, end=2), Span(start=1, end=3))
    assert not overlap(Span(start=0, end=2), Span(start=2, end=3))


@pytest.mark.parametrize(
    ("sentence", "text", "found"),
    [
        ("I work at Acme.", "Well, i WORK  at\nacme. Yes.", True),
        ("I work at Acme", "I work at Acmes", False),
        ("I love the café", "they say I love the cafe\u0301", True),
        ("私は東京に住む", "実は私は東京に住むのです", True),
        ("Rome.", "I was in Rome.", False),
    ],
)
def test_a_sentence_is_found_whatever_its_case_spacing_and_form(sentence: str, text: str, found: bool) -> None:
    pattern = sentence_pattern(sentence)
    assert (pattern is not None and pattern.search(text) is not None) == found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Zoe", "zoe called", True),
        ("Zoe", "Zoeller called", False),
        ("May", "I may go", False),
        ("May", "I saw May there", True),
        ("may", "I may go", False),
        ("山田", "昨日山田さんに会った", True),
        ("Ana Lima", "ANA  LIMA said", True),
    ],
)
def test_a_name_is_found_as_a_name(name: str, text: str, found: bool) -> None:
    pattern = name_pattern(name)
    assert pattern is not None
    assert (pattern.search(text) is not None) == found
