"""Forgetting a sentence, all that one client passed on, and all between two dates: shown beforehand, exact, and gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError, NotFoundError
from support.statements import day


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.add("ana", "I live in Porto. I own a zebrafish.", t_ref=day(1), client="cursor")
    memory.add("ana", "I work at Globex.", t_ref=day(2), client="zed")
    memory.add("ana", "Where did the quokka go?", t_ref=day(3), client="zed")
    memory.add("ana", "I like pears.", t_ref=day(4))
    return memory


def left(memory: Memory) -> list[str]:
    return sorted(fact.fact_text for fact in memory.facts("ana"))


def holds(root: Path, word: bytes) -> bool:
    return any(word in path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_a_sentence_goes_wherever_it_stands_and_its_neighbour_stays(told: Memory) -> None:
    told.add("ana", "As I said, I own a zebrafish!", t_ref=day(5))
    shown = told.would_forget_all("ana", sentence="i own a zebrafish")
    assert any("zebrafish" in text for text in shown)
    assert not any("Porto" in text for text in shown)
    assert told.forget_all("ana", sentence="i own a zebrafish").facts == 1
    assert left(told) == ["I like pears.", "I live in Porto.", "I work at Globex."]
    assert told.add("ana", "I own a zebrafish.", t_ref=day(6)).withheld == 1
    told.close()
    assert not holds(told.root, b"zebrafish")


def test_everything_from_one_client_goes(told: Memory) -> None:
    assert told.would_forget_all("ana", client="zed") == ["I work at Globex.", "Where did the quokka go?"]
    told.forget_all("ana", client="zed")
    assert left(told) == ["I like pears.", "I live in Porto.", "I own a zebrafish."]
    assert told.check("ana") == []
    told.close()
    assert not holds(told.root, b"quokka")


def test_everything_between_two_dates_goes_and_the_end_is_exclusive(told: Memory) -> None:
    told.forget_all("ana", since=day(2), until=day(4))
    assert left(told) == ["I like pears.", "I live in Porto.", "I own a zebrafish."]
    told.forget_all("ana", since=day(4))
    told.forget_all("ana", client="cursor", until=day(2))
    assert left(told) == []


def test_what_is_not_there_or_not_said_clearly_is_refused(told: Memory) -> None:
    for wrong in ({}, {"sentence": "I like pears.", "client": "zed"}, {"sentence": "..."}, {"client": " "}):
        with pytest.raises(InvalidInputError):
            told.forget_all("ana", **wrong)
    for absent in ({"sentence": "I like plums."}, {"client": "nobody"}, {"since": day(9)}):
        with pytest.raises(NotFoundError):
            told.would_forget_all("ana", **absent)
    assert len(left(told)) == 4
