"""A joke takes back what was just said and nothing else, and no laugh is too long to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Instant, Source
from lean_memory.extraction import pack as packs
from lean_memory.extraction.pipeline import extract
from support.embedding import WordEmbedder
from support.statements import day

LAUGHS = ("哈", "嘿", "ha", "hA", "ха", "k", "w", "ja", "笑", "は", "lol ", "haha ")


@pytest.mark.parametrize("laugh", LAUGHS)
def test_a_long_laugh_is_read_as_soon_as_a_short_one(laugh: str) -> None:
    text = laugh * 60 + " then we went"
    for code in packs.available():
        for cue in packs.load(code).cues.values():
            cue.search(text)
    extract(text, t_ref=Instant(0), tz="UTC", source=Source.USER)


def told(root: Path, *said: str, days: float = 70) -> set[tuple[str, str]]:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        for place, text in enumerate(said):
            memory.add("ana", text, t_ref=day(1) + int(place * days * 86_400_000), tz="UTC")
        return {(fact.predicate, fact.object) for fact in memory.facts("ana")}


@pytest.mark.parametrize(
    "later",
    [
        "Gotcha, thanks!",
        "I was joking with my sister on the phone yesterday.",
        "Joking aside, the office is loud.",
        "A joke my dad always tells is about a bear.",
        "Just kidding!",
    ],
)
def test_what_was_said_long_ago_or_is_no_joke_about_it_stays(root: Path, later: str) -> None:
    assert ("lives_in", "Paris") in told(root, "I live in Paris.", later)


def test_a_joke_in_the_next_message_takes_back_the_last(root: Path) -> None:
    assert told(root, "I live in Paris.", "I moved to Rome.", "Just kidding!", days=0.001) == {("lives_in", "Paris")}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("I'm allergic to peanuts.", "I never told anyone that I'm allergic to peanuts."), ("allergic_to", "peanuts")),
        (("My friend Max works with Paul.", "Paul is no longer my friend."), ("friend_of", "Max")),
    ],
)
def test_what_is_kept_secret_and_who_else_is_named_stay_true(root: Path, said: tuple[str, str], kept: tuple[str, str]) -> None:
    assert kept in told(root, *said)


def test_a_part_of_each_week_ends_no_job(root: Path) -> None:
    assert any(predicate == "works_at" for predicate, _ in told(root, "I work at Hooli for three days a week.", "I like tea."))
