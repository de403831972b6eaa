"""Whatever a text is made of, four times as much of it takes about four times as long to read; and no text makes extraction fail."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from lean_memory.domain import Instant, Source
from lean_memory.extraction import pack as packs
from lean_memory.extraction.pipeline import Extraction, extract, passages
from lean_memory.extraction.prose import prose
from lean_memory.extraction.sentences import sentences

NOW = Instant(1_773_135_000_000)
LENGTH = 4_000
WORTH_MEASURING = 0.05
"""Seconds; below, a ratio of times tells nothing."""

marks = st.sampled_from(
    [*"\"'“”‘’«»「」『』„()[]{}<>,.;:!?…-–—*#/\\|=+`~@&%$^_。，、！？：；（）", "\n", "\n\n", " ", "  ", "\t", "\u3000"]
)
layout = st.sampled_from(
    ["\n- ", "\n* ", "\n1. ", "\n# ", "\n> ", "```", "\n```\n", "~~~", "\n[ ] ", "\nAna: ", "\nName: ", "\n+", "\n{", '"a": ', "• ", "🎉 "]
)
moments = st.sampled_from(
    [
        "12 March 2024",
        "on Monday",
        "since 2019",
        "two years ago",
        "03/04/2025",
        "from 2015 to 2019",
        "next week",
        "vor zwei Jahren",
        "hace tres años",
        "depuis 2020",
        "昨天",
        "三年前",
        "去年的时候",
        "二〇二〇年",
        "令和3年",
        "в прошлом году",
    ]
)
SAID = (
    "and but or not then because so that which who whose if when I you he she it they we me my his her their our mine this is are was were am have had "
    "live work like love hate use own moved called named in at with for from to of the a no yes actually sorry correction meant instead anymore also "
    "und ich er sie mein nicht wohne y yo él ella mi no vivo et je il elle mon ne habite e eu ele ela meu não moro и я он она мой не живу "
    "我 他 她 的 是 在 住 不 和 了 我们 私 彼 彼女 は の が で です に 住んで ます Ana Bath Acme Dr. e.g. 3 42 2024 1,000 https://a.io/b?c=d a@b.io"
)
words = st.sampled_from(SAID.split())
kinship = st.sampled_from(sorted({word for code in packs.available() for word in packs.load(code).kin}))
cues = st.sampled_from(
    sorted(
        {
            cue
            for code in packs.available()
            for cue in (*packs.load(code).word_cues, *packs.load(code).text_cues, *packs.load(code).aux)
            if cue
        }
    )
)
characters = st.text(min_size=1, max_size=3)
fragments = st.lists(st.one_of(marks, layout, moments, words, words, kinship, cues, characters), min_size=1, max_size=8)


@st.composite
def repeated(draw: st.DrawFn) -> Callable[[int], str]:
    """A text of any length made by repeating fragments; numbered, so that no sentence is the same as one before, or not."""
    unit = draw(st.sampled_from(["", " "])).join(draw(fragments))
    number = draw(st.sampled_from(["", "{} ", "{}. ", "{}.\n", "A{} "]))

    def of(length: int) -> str:
        count = length // len(unit + number) + 1
        return "".join(unit + number.format(place) for place in range(count))[:length]

    return of


def read(text: str) -> Extraction:
    return extract(text, t_ref=NOW, tz="Europe/Berlin", source=Source.USER)


def cut(text: str) -> None:
    list(sentences(prose(text)))
    list(sentences(text))


def seconds(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def is_linear(work: Callable[[str], object], text: Callable[[int], str], length: int) -> bool:
    """Whether four times the text costs at most eight times as much; the best of three, for the machine may be busy."""
    short, long = text(length), text(4 * length)
    for _ in range(3):
        taken = seconds(work, long)
        if taken <= WORTH_MEASURING or taken <= 8 * seconds(work, short):
            return True
    return False


@pytest.mark.parametrize("work", [read, cut, passages])
@given(text=repeated())
@settings(max_examples=60, deadline=None)
def test_time_grows_with_the_length_of_the_text(work: Callable[[str], object], text: Callable[[int], str]) -> None:
    # what only begins in the longer text ("# 100." is no ordinal) costs more once; what grows faster than the text does so again
    assert is_linear(work, text, LENGTH) or is_linear(work, text, 4 * LENGTH)


@pytest.mark.parametrize(
    "unit",
    [
        'He said "I quit. no" and {}. ',
        "“a. b” c{}. ",
        '"a “b. c" d{}. ',
        "Ana{} lives in Bath. He likes tea{}. ",
        "I like tea{}, not coffee{}. ",
        '""andA{} ',
        "My desk number is {}. I meant {}1. ",
        "I live in Bath{}. Actually, I live in Cork{}. ",
        ", and I work at a{}",
    ],
)
def test_quotations_names_and_corrections_cost_the_same_however_many_there_are(unit: str) -> None:
    def text(length: int) -> str:
        return "".join(unit.replace("{}", str(place)) for place in range(length // len(unit) + 1))

    assert is_linear(read, text, 4 * LENGTH)


@pytest.mark.parametrize(
    "sentence",
    [
        "the and is I " + "are " * 150,
        "je et le la " + "rien ' ' sans sucre belle " * 22,
        "私はのです" + ";" * 590,
        "我在是的" + "是" * 590,
        "yo y el la, " + "I, " * 190,
    ],
)
def test_no_sentence_takes_long(sentence: str) -> None:
    """The first took a second."""
    read(sentence[:60])
    assert min(seconds(read, sentence + str(turn)) for turn in range(3)) < 0.5


@given(
    text=st.one_of(
        st.text(), fragments.map(" ".join), fragments.map("".join), st.lists(st.one_of(st.text(), fragments.map(" ".join))).map("\n".join)
    )
)
@settings(max_examples=200, deadline=None)
def test_no_text_makes_extraction_fail(text: str) -> None:
    found = read(text)
    assert all(0 <= c.span.start <= c.span.end <= len(text) for c in found.candidates)
    assert all(text[span.start : span.end].strip() for span in passages(text))
