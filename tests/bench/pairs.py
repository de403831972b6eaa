"""Pairs of sentences: which are offered as near duplicates, and whether one statement retires another it should not touch.

`same` pairs are paraphrases (STS-B dev, CC BY-SA); `conflict` pairs give one slot two values and `other_subject` pairs speak of two
subjects (FactConsolidation, MIT).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.domain import EndReason, Instant
from lean_memory.models.ports import Embedder

if TYPE_CHECKING:
    from lean_memory import Memory

FILE = "pairs_dev.jsonl"
FIRST_SAID = Instant(1_700_000_000_000)
DAY = 86_400_000
COSINES = (0.90, 0.95)
RETIRED = frozenset({EndReason.SUPERSEDED, EndReason.RETRACTED, EndReason.CORRECTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    label: str
    """`same`, `conflict` or `other_subject`."""
    a: str
    b: str

    @property
    def turned(self) -> Pair:
        return Pair(label=self.label, a=self.b, b=self.a)


Proposer = Callable[[Sequence[Pair]], Sequence[bool]]
"""Says of each pair whether the two sentences, added to an empty namespace, are offered as near duplicates."""


def read_pairs(data: Path) -> list[Pair]:
    """Every pair of the file. Raises OSError where it is missing."""
    lines = (data / FILE).read_text(encoding="utf-8").split("\n")
    return [Pair(label=entry["label"], a=entry["a"], b=entry["b"]) for line in lines if line for entry in [json.loads(line)]]


def duplicates_offered(pairs: Sequence[Pair], propose: Proposer) -> dict[str, float]:
    """The share of pairs of each label that are offered as near duplicates."""
    offered = list(zip(pairs, propose(pairs), strict=True))
    return {label: _share(was for pair, was in offered if pair.label == label) for label in sorted({pair.label for pair in pairs})}


def cosine_proposer(embedder: Embedder, at_least: float) -> Proposer:
    """The baseline: two sentences are near duplicates when their cosine reaches a threshold."""

    def propose(pairs: Sequence[Pair]) -> list[bool]:
        first, second = embedder.embed([pair.a for pair in pairs]), embedder.embed([pair.b for pair in pairs])
        return [bool(cosine >= at_least) for cosine in (first * second).sum(axis=1)]

    return propose


def best_cosine(pairs: Sequence[Pair], embedder: Embedder, found: float = 0.5) -> dict[str, float]:
    """The offers at the highest threshold that still finds that share of the `same` pairs."""
    first, second = embedder.embed([pair.a for pair in pairs]), embedder.embed([pair.b for pair in pairs])
    cosines = (first * second).sum(axis=1)
    same = sorted((float(c) for pair, c in zip(pairs, cosines, strict=True) if pair.label == "same"), reverse=True)
    threshold = same[max(0, -int(-len(same) * found // 1) - 1)]
    return {"threshold": threshold, **duplicates_offered(pairs, lambda _: [bool(c >= threshold) for c in cosines])}


def retired(memory: Memory, pairs: Iterable[Pair]) -> dict[str, float]:
    """Adds both sentences of each pair, a day apart, to a namespace of their own, in either order.

    Gives by label the share of pairs where one order or the other retires something. Namespaces are cleared as it goes.
    """
    outcomes: dict[str, list[bool]] = {}
    for number, pair in enumerate(pairs):
        hit = [_second_retires_first(memory, f"pair-{number}-{side}", each) for side, each in enumerate((pair, pair.turned))]
        outcomes.setdefault(pair.label, []).append(any(hit))
    return {label: _share(flags) for label, flags in sorted(outcomes.items())}


def _second_retires_first(memory: Memory, namespace: str, pair: Pair) -> bool:
    memory.add(namespace, pair.a, t_ref=FIRST_SAID, tz="UTC")
    second = memory.add(namespace, pair.b, t_ref=Instant(FIRST_SAID + DAY), tz="UTC")
    closed = any(fact.end_reason in RETIRED for fact in memory.facts(namespace, include_history=True))
    memory.clear(namespace)
    return bool(second.superseded) or closed


def _share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return sum(counted) / len(counted) if counted else 0.0
