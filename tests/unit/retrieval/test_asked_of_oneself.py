"""Who asks where they live is not answered with where their sister does, and is told that it is known."""

from __future__ import annotations

import pytest

from lean_memory import Memory
from lean_memory.domain import WEAK_RELEVANCE
from lean_memory.retrieval.question import read_question

DAY = 86_400_000
START = 1_770_000_000_000


@pytest.mark.parametrize(
    ("told", "asked", "first"),
    [
        (
            "I moved to Oslo last year. My parents live in Rome. Ana lives in Porto. My friend Kim lives in Lima.",
            "Where do I live?",
            "Oslo",
        ),
        ("I moved to Oslo last year. My parents live in Rome. Ana lives in Porto.", "where am I living?", "Oslo"),
        ("I moved to Oslo last year. My parents live in Rome. Ana lives in Porto.", "Where do my parents live?", "Rome"),
        ("I moved to Oslo last year. My parents live in Rome. Ana lives in Porto.", "Where does Ana live?", "Porto"),
        ("I am a nurse at St. Mary's. Tom started a new job at Barclays on Monday.", "what's my job?", "nurse"),
        ("I am a nurse at St. Mary's. Tom started a new job at Barclays on Monday.", "what is Tom's job?", "Barclays"),
        ("Priya is a vet. Priya's birthday is 12 September. I met Priya.", "what does Priya do?", "vet"),
        ("I turned 40 in May. My son Ben is 7 years old.", "How old am I?", "40"),
        ("I turned 40 in May. My son Ben is 7 years old.", "How old is my son?", "7 years"),
        ("You can reach me on 555 9876. Bob's phone number is 555 1234.", "What's my phone number?", "9876"),
        ("I was born on 3 May 1980. My mum's birthday is the 3rd of March.", "When is my birthday?", "1980"),
        ("I was born on 3 May 1980. My mum's birthday is the 3rd of March.", "When is my mum's birthday?", "March"),
    ],
)
def test_the_one_who_is_asked_about_comes_first_and_is_known(memory: Memory, told: str, asked: str, first: str) -> None:
    for number, text in enumerate(told.split(". ")):
        memory.add("n", text, t_ref=START + number * DAY, tz="UTC")

    best = memory.search("n", asked)[0]

    assert first in best.fact.fact_text
    assert best.relevance >= WEAK_RELEVANCE


def test_what_is_known_of_others_alone_is_no_close_match(memory: Memory) -> None:
    memory.add("n", "My sister Joanna lives in Bristol.")

    assert max(hit.relevance for hit in memory.search("n", "Where do I live?")) < WEAK_RELEVANCE


@pytest.mark.parametrize(
    ("asked", "is_of_self"),
    [
        ("Where do I live?", True),
        ("what's my current job", True),
        ("我住在哪里？", True),
        ("Where does my sister live?", False),
        ("What is my sister's job?", False),
        ("Did I tell you where she works for?", False),
        ("Where do I go with my sister who works for Hooli?", False),
        ("Where does Ana live?", False),
        ("Who is my brother?", False),
        ("What did I do yesterday?", False),
        ("", False),
    ],
)
def test_a_question_of_oneself_is_told_from_one_of_others(asked: str, is_of_self: bool) -> None:
    assert read_question(asked).of_self is is_of_self
