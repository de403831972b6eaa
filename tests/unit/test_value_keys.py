"""Which values are one: punctuation around a value tells nothing, a sign that belongs to it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import value_key
from lean_memory.extraction.objects import clean
from lean_memory.extraction.pack import load
from support.embedding import WordEmbedder


@pytest.mark.parametrize(
    ("one", "other"), [("5", "-5"), ("5", ".5"), ("50", "50%"), ("C", "C#"), ("6'", '6"'), ("A-", "A+"), ("A*", "A"), ("10‰", "10%")]
)
def test_a_sign_is_a_part_of_a_value(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rome.", "rome"),
        ('"Room 5"', "Room 5"),
        ("“Room 5”.", "Room 5"),
        ("...5", "5"),
        ("(5)", "5"),
        ("'85'", "85"),
        ("*bold*", "bold"),
        ("−5", "-5"),
        ("50 %", "50%"),
        ("５０％", "50%"),
        ("me—", "me"),
    ],
)
def test_what_stands_around_a_value_is_none(one: str, other: str) -> None:
    assert value_key(one) == value_key(other)


def test_a_value_that_differs_by_its_sign_takes_the_place_of_the_other(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:
        memory.add("ana", "The freezer temperature is 5.")
        memory.add("ana", "The freezer temperature is -5.")
        assert [fact.object for fact in memory.facts("ana")] == ["-5"]


@pytest.mark.parametrize("said", ["Rome" + "-" * 100_000, "(" * 100_000 + "Rome"])
def test_a_value_with_a_long_edge_is_cleaned_in_time_that_grows_with_it(said: str) -> None:
    assert clean(said, load("en"), "verbatim") == "Rome"
    assert value_key(said) == "rome"
