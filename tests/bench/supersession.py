"""Supersession on real dialogue: of what was superseded, how much was wrongly so; of updates that a reader sees, how many were.

Every conversation is a namespace of its own, a turn an `add`. The labels were given by hand; the files hold ids alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench import locomo, longmemeval
from bench.engine import scratch_memory
from bench.report import Figure, Row, SuiteResult
from bench.suites import Setting
from bench.values import Turn
from lean_memory.domain import EndReason, Fact

if TYPE_CHECKING:
    from lean_memory import Memory

SAMPLES = Path(__file__).parent / "samples"
SAMPLE = 100
SEED = 13


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pair:
    """A fact that was superseded and the one that took its place, or two turns of which the newer updates the older, by id.

    An id is corpus/conversation/turn, and of a fact @offset behind it.
    """

    older: str
    newer: str

    @property
    def turns(self) -> Pair:
        return Pair(older=self.older.partition("@")[0], newer=self.newer.partition("@")[0])


def run_supersession(setting: Setting) -> SuiteResult:
    found = sorted(superseded(setting))
    sample = found if len(found) <= SAMPLE else Random(SEED).sample(found, SAMPLE)
    labels, updates = read_labels("superseded"), read_labels("updates")
    given = Counter(labels.get(pair, "unlabelled") for pair in sample)
    retired = {pair.turns for pair in found}
    caught = {pair for pair in updates if pair in retired}
    wrong = Figure(
        name=f"false of {len(sample)}", measured=given["false"] + given["unlabelled"], must=0.05 * len(sample), more_is_better=False
    )
    right = Figure(name="updates superseded", measured=len(caught) / max(1, len(updates)), must=0.8)
    kinds = Counter(updates.values())
    details = {
        "superseded facts": len(found),
        "the sample's labels": dict(given),
        "updates superseded by kind": {
            kind: f"{sum(updates[pair] == kind for pair in caught)} of {count}" for kind, count in kinds.items()
        },
    }
    return SuiteResult(
        suite="supersession", rows=[Row(number="-", measure="Supersession on dialogue", figures=(wrong, right))], details=details
    )


def superseded(setting: Setting) -> Iterator[Pair]:
    """Every supersession in LoCoMo's conversations, LongMemEval's evidence and its distractor sessions."""
    with scratch_memory(setting.embedder) as memory:
        for number, (name, turns) in enumerate(_conversations(setting.data)):
            yield from _superseded_in(memory, f"c{number}", name, turns)


def read_labels(name: str) -> Mapping[Pair, str]:
    """The labels of a file of samples, by pair."""
    rows = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return {Pair(older=row["older"], newer=row["newer"]): row["label"] for row in rows}


def _conversations(data: Path) -> Iterator[tuple[str, Sequence[Turn]]]:
    for corpus in locomo.read_corpora(data):
        yield f"locomo/{corpus.name}", corpus.turns
    for corpus in longmemeval.read_corpora(data):
        yield f"longmemeval/{corpus.name}", [turn for turn in corpus.turns if turn.session.startswith("own")]
    for name, turns in longmemeval.read_distractors(data):
        yield f"longmemeval/{name}", list(turns)


def _superseded_in(memory: Memory, namespace: str, name: str, turns: Sequence[Turn]) -> Iterator[Pair]:
    items = [{"text": turn.text, "t_ref": turn.said_at, "tz": "UTC", "source": turn.source} for turn in turns]
    episodes = {result.episode_id: turn.id for result, turn in zip(memory.add_many(namespace, items), turns, strict=True)}
    facts: dict[str, Fact] = {fact.id: fact for fact in memory.facts(namespace, include_history=True)}

    def place(fact: Fact) -> str:
        return f"{name}/{episodes[fact.episode_id]}@{fact.span.start if fact.span else 0}"

    for old, new in _replaced(facts.values(), facts):
        yield Pair(older=place(old), newer=place(new))
    memory.clear(namespace)


def _replaced(facts: Iterable[Fact], by_id: Mapping[str, Fact]) -> Iterator[tuple[Fact, Fact]]:
    for fact in facts:
        successor = by_id.get(fact.superseded_by or "")
        if fact.end_reason is EndReason.SUPERSEDED and successor is not None:
            yield fact, successor
