"""Supersession on real dialogue: of what was superseded, how much was wrongly so; of updates that a reader sees, how many were.

Every conversation is a namespace of its own, a turn an `add`. The labels were given by hand; the files hold ids alone.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
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
    run = superseded(setting)
    found = sorted(run.replaced)
    sample = found if len(found) <= SAMPLE else Random(SEED).sample(found, SAMPLE)
    labels, updates = read_labels("superseded"), read_labels("updates")
    given = Counter(labels.get(pair, "unlabelled") for pair in sample)
    caught = {pair for pair in updates if pair in run.outlived}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run superseded: each fact with the one in its place, and each turn with all turns that outlived what it says."""

    replaced: frozenset[Pair]
    outlived: frozenset[Pair]
    """Also through others: of 3, 4 and 5 the third outlives the first. What a turn only confirms it says as well."""


def superseded(setting: Setting) -> Run:
    """Every supersession in LoCoMo's conversations, LongMemEval's evidence and its distractor sessions."""
    with scratch_memory(setting.embedder) as memory:
        runs = [superseded_in(memory, f"c{n}", name, turns) for n, (name, turns) in enumerate(_conversations(setting.data))]
    return Run(
        replaced=frozenset(pair for run in runs for pair in run.replaced), outlived=frozenset(pair for run in runs for pair in run.outlived)
    )


def superseded_in(memory: Memory, namespace: str, name: str, turns: Sequence[Turn]) -> Run:
    """What the turns of one conversation, added to an empty namespace that is cleared again, supersede; `name` opens their ids."""
    items = [{"text": turn.text, "t_ref": turn.said_at, "tz": "UTC", "source": turn.source} for turn in turns]
    results = memory.add_many(namespace, items)
    facts: dict[str, Fact] = {fact.id: fact for fact in memory.facts(namespace, include_history=True)}
    memory.clear(namespace)
    said_in: defaultdict[str, list[str]] = defaultdict(list)
    for result, turn in zip(results, turns, strict=True):
        for fact in (*result.fact_ids, *result.existing):
            said_in[fact].append(f"{name}/{turn.id}")
    replaced = list(_replaced(facts.values(), facts))

    def place(fact: Fact) -> str:
        return f"{said_in[fact.id][0]}@{fact.span.start if fact.span else 0}"

    return Run(
        replaced=frozenset(Pair(older=place(old), newer=place(new)) for old, new in replaced),
        outlived=frozenset(
            Pair(older=older, newer=newer)
            for old, _ in replaced
            for new in _later(old, facts)
            for older in said_in[old.id]
            for newer in said_in[new.id]
        ),
    )


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


def _later(fact: Fact, by_id: Mapping[str, Fact]) -> Iterator[Fact]:
    """The facts that took its place, one after the other."""
    while fact.end_reason is EndReason.SUPERSEDED and (successor := by_id.get(fact.superseded_by or "")) is not None:
        yield successor
        fact = successor


def _replaced(facts: Iterable[Fact], by_id: Mapping[str, Fact]) -> Iterator[tuple[Fact, Fact]]:
    for fact in facts:
        successor = next(_later(fact, by_id), None)
        if successor is not None:
            yield fact, successor
