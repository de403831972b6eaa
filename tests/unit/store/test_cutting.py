"""Cutting stretches out of a text, and finding sentences and names in others."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, strategies as st

from lean_memory.domain import Span
from lean_memory.store.cutting import cut, is_wordless, overlap, sentence_around
from lean_memory.store.mentions import Names, Sentences
from lean_memory.store.wording import words_of


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
        ("He said: “I live in Rome.” I run.", "I live in Rome", "He said: I run."),
        ("He said “I live in Rome”, he did.", "I live in Rome", "He said , he did."),
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
    ("sentence", "text"),
    [
        ("I work at Acme.", "Well, i WORK  at\nacme. Yes."),
        ("I work at Acme.", "“I work at Acme”, she said."),
        ("I work at Acme.", "'I work at Acme' was what I said"),
        ("I work at Acme.", "I told Bob: I work at Acme, remember?"),
        ("I work at Acme.", "I work at Acme; I live in Rome"),
        ("“I work at Acme!”", "I work, at Acme?"),
        ("I work at Acme", "- I work at **Acme**"),
        ("I work at Acme.", "Ｉ ｗｏｒｋ ａｔ Ａｃｍｅ．"),
        ("I work at Acme.", "I work at Ac\u00adme\u200b."),
        ("I don't work.", "i don’t work"),
        ("I love the café", "they say I love the cafe\u0301"),
        ("I love the cafe\u0301.", "They say I love the CAFÉ!"),
        ("私は東京に住む", "実は私は東京に住むのです"),
        ("私は東京に住んでいます。", "「私は東京に\n住んでいます」と言った"),
        ("我的密码是红色的月亮。", "我说：“我的密码是红色的月亮”，对吧？"),
        ("저는 서울에 살아요.", unicodedata.normalize("NFD", "네, 저는 서울에 살아요!")),
        ("मैं दिल्ली में रहता हूँ।", "उसने कहा: मैं दिल्ली में रहता हूँ"),
        ("I like C++.", "I like C++, really"),
        ("Rome.", "Where? Rome! Fine."),
    ],
)
def test_a_sentence_is_found_however_it_is_written(sentence: str, text: str) -> None:
    assert list(Sentences([sentence]).spans(text))


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("I work at Acme", "I work at Acmes"),
        ("I work at Acme", "I work at Acme Foods."),
        ("I live with Ana", "I live with Ana’s parents."),
        ("I like C.", "I like C++."),
        ("I use version 3.", "I use version 3.5."),
        ("It is 5 degrees.", "It is -5 degrees."),
        ("I owe Bob 5 €.", "I owe Bob 5 $."),
        ("My favorite emoji is 🍵.", "My favorite emoji is 🐍."),
        ("我家住在北京。", "我家住在北京大学附近。"),
        ("Rome.", "I was in Rome."),
    ],
)
def test_another_sentence_is_not_taken_for_it(sentence: str, text: str) -> None:
    assert not list(Sentences([sentence]).spans(text))


def test_many_sentences_are_looked_for_at_once() -> None:
    text = "I like tea. I live in Rome, I run. I work at Acme"
    found = Sentences(["I live in Rome.", "I work at Acme.", "I live in Oslo."]).spans(text)
    assert [text[span.start : span.end] for span in found] == ["I live in Rome", "I work at Acme"]


@given(st.text(), st.text(alphabet="a1 .,'’\"“”-\n\u0301é가\u1100\u1161私の。・ü🍵", max_size=30))
@example("a\u1161", "")
def test_the_words_of_any_text_stand_in_it(one: str, other: str) -> None:
    for text in (one, other, one + other):
        words = words_of(text)
        assert words == words_of(text)
        assert all(0 <= start < end <= len(text) for start, end in zip(words.starts, words.ends, strict=True))
        assert list(words.starts) == sorted(words.starts)
        assert words_of(unicodedata.normalize("NFD", text)).keys == words_of(unicodedata.normalize("NFC", text)).keys


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Zoe", "zoe called", True),
        ("Zoe", "Zoe’s dog", True),
        ("Zoe", "Zoeller called", False),
        ("May", "I may go", False),
        ("May", "I saw May there", True),
        ("may", "I may go", False),
        ("June", "it was JUNE who called", True),
        ("O'Brien", "o’brien left", True),
        ("Oréal", "celui de l’Oréal", True),
        ("山田", "昨日山田さんに会った", True),
        ("Ana Lima", "ANA  LIMA said", True),
    ],
)
def test_a_name_is_found_as_a_name(name: str, text: str, found: bool) -> None:
    assert any(Names([name]).spans(text)) == found
