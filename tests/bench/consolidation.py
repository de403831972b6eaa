"""FactConsolidation, single-hop: serial facts of which later ones overwrite earlier ones (MemoryAgentBench, Hu et al., 2025; MIT).

A statement of the file ends in its value, so two statements that agree up to the value are about one slot. Which slot a question
asks about is decided by its answer and the words it shares with a statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.values import Corpus, Question, Turn
from lean_memory.domain import Instant

FILE = "fact_consolidation_dev.json"
FIRST_SAID = Instant(1_700_000_000_000)
MINUTE = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One numbered fact of the file."""

    number: int
    text: str

    @property
    def id(self) -> str:
        return str(self.number)


def read_corpora(data: Path) -> list[Corpus]:
    """One corpus of every numbered fact, a minute apart, with the single-hop questions whose statement is found."""
    entries = json.loads((data / FILE).read_text(encoding="utf-8"))
    return [_corpus(entry) for entry in entries if "_sh_" in entry["metadata"]["source"]]


def _corpus(entry: Mapping[str, Any]) -> Corpus:
    statements = list(read_statements(entry["context"]))
    asked_at = Instant(FIRST_SAID + (len(statements) + 1) * MINUTE)
    turns = [
        Turn(id=each.id, text=each.text, said_at=Instant(FIRST_SAID + place * MINUTE), session="facts")
        for place, each in enumerate(statements)
    ]
    questions = [
        Question(id=str(number), text=text, evidence=evidence, stale=stale, category="single-hop", asked_at=asked_at)
        for number, (text, answers) in enumerate(zip(entry["questions"], entry["answers"], strict=True))
        for evidence, stale in _gold(statements, text, answers)
    ]
    return Corpus(name=entry["metadata"]["source"], turns=turns, questions=questions)


def read_statements(context: str) -> Iterator[Statement]:
    """The numbered lines of a context, in order."""
    for number, text in re.findall(r"^(\d+)\. (.+)$", context, flags=re.MULTILINE):
        yield Statement(number=int(number), text=text)


def _gold(statements: Sequence[Statement], question: str, answers: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The current statement and all older ones of its slot with another value, as evidence and stale; empty where none is found."""
    ends = tuple(f" {answer}." for answer in answers)
    answering = [each for each in statements if each.text.endswith(ends)]
    if not answering:
        return []
    current = max(answering, key=lambda each: (_overlap(slot(each.text, ends), question), each.number))
    same = [each for each in statements if each.text.startswith(slot(current.text, ends))]
    said_again = frozenset(each.id for each in same if each.text == current.text)
    older = frozenset(each.id for each in same if each.text != current.text and each.number < current.number)
    return [(said_again | {current.id}, older)]


def slot(text: str, ends: Sequence[str]) -> str:
    """A statement without its value: what every statement about the same slot starts with."""
    return next(text.removesuffix(end) for end in sorted(ends, key=len, reverse=True) if text.endswith(end)) + " "


def _overlap(start: str, question: str) -> float:
    said, asked = _words(start), _words(question)
    return len(said & asked) / len(said | asked)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))
