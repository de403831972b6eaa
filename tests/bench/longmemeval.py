"""LongMemEval: a person's sessions with an assistant among 45 of other people's (Wu et al., 2025; MIT)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench.dates import read_iso, read_longmemeval
from bench.values import Corpus, Question, Turn
from lean_memory.domain import Source

QUESTIONS_FILE = "longmemeval_dev.jsonl"
HAYSTACK_FILE = "longmemeval_haystack_dev.jsonl"
DISTRACTORS = 45
UPDATES = "knowledge-update"


def read_corpora(data: Path) -> Iterator[Corpus]:
    """One corpus per question: its evidence sessions and 45 distractor sessions drawn with `Random(qid)`, by date.

    For a knowledge update the turns of the newest evidence session are current and those of older ones stale, so `evidence`
    holds both and `stale` the older. Raises OSError where a file is missing.
    """
    haystack = [list(_distractor(entry)) for entry in _lines(data / HAYSTACK_FILE)]
    for entry in _lines(data / QUESTIONS_FILE):
        own = list(_evidence(entry))
        drawn = Random(entry["qid"]).sample(haystack, DISTRACTORS)
        turns = sorted([*own, *(turn for session in drawn for turn in session)], key=lambda turn: turn.said_at)
        yield Corpus(name=str(entry["qid"]), turns=turns, questions=[_question(entry, own, turns)])


def read_distractors(data: Path) -> Iterator[tuple[str, list[Turn]]]:
    """Every distractor session once, with its id. Raises OSError where the file is missing."""
    return ((str(entry["session_id"]), list(_distractor(entry))) for entry in _lines(data / HAYSTACK_FILE))


def _question(entry: Mapping[str, Any], own: Sequence[Turn], turns: Sequence[Turn]) -> Question:
    newest = max(turn.said_at for turn in own)
    stale = frozenset(turn.id for turn in own if turn.said_at < newest) if entry["type"] == UPDATES else frozenset[str]()
    return Question(
        id=str(entry["qid"]),
        text=str(entry["question"]),
        evidence=frozenset(turn.id for turn in own),
        category=str(entry["type"]),
        asked_at=max(read_longmemeval(entry["question_date"]), *(turn.said_at for turn in turns)),
        stale=stale,
    )


def _evidence(entry: Mapping[str, Any]) -> Iterator[Turn]:
    for turn in entry["evidence"]:
        session = f"own{turn['session']}"
        said_at = read_longmemeval(turn["date"])
        yield _turn(f"{session}:{turn['k']}", session, turn, said_at)


def _distractor(entry: Mapping[str, Any]) -> Iterator[Turn]:
    for number, turn in enumerate(entry["turns"]):
        yield _turn(f"{entry['session_id']}:{number}", str(entry["session_id"]), turn, read_iso(turn["date"]))


def _turn(name: str, session: str, entry: Mapping[str, Any], said_at: Any) -> Turn:
    role = str(entry["role"])
    return Turn(id=name, text=f"{role}: {entry['content']}", said_at=said_at, session=session, source=Source(role))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
