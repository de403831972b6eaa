"""Pairs of sentences: which are offered as near duplicates or conflicts, and whether one statement retires another it should not touch.

`same` pairs are paraphrases (STS-B dev, CC BY-SA); `conflict` pairs give one slot two values and `other_subject` pairs speak of two
subjects (FactConsolidation, MIT).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from lean_memory.domain import EndReason, EpisodeId, Fact, FactId, Instant, value_key
from lean_memory.maintenance.conflicts import conflicts
from lean_memory.maintenance.drafts import Snapshot
from lean_memory.maintenance.near_duplicates import near_duplicates
from lean_memory.models.ports import CosineThresholds, Embedder, Vectors
from lean_memory.proposals import ProposalKind
from support import snapshots

if TYPE_CHECKING:
    from lean_memory import Memory

FILE = "pairs_dev.jsonl"
FIRST_SAID = Instant(1_700_000_000_000)
DAY = 86_400_000
SAME = "same"
SEED = 13
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
    return shares(pairs, propose(pairs))


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


def one_slot_proposer(embedder: Embedder, kind: ProposalKind) -> Proposer:
    """The engine's finder given both sentences as plain statements about one subject: what it can tell, whatever extraction makes of them."""
    find = near_duplicates if kind is ProposalKind.MERGE else conflicts

    def propose(pairs: Sequence[Pair]) -> list[bool]:
        vectors = embedder.embed([text for pair in pairs for text in (pair.a, pair.b)])
        return [
            (kind is ProposalKind.MERGE and _is_repeated(pair))
            or any(find(_one_slot(pair, vectors[2 * at : 2 * at + 2], embedder.thresholds)))
            for at, pair in enumerate(pairs)
        ]

    return propose


def _is_repeated(pair: Pair) -> bool:
    """What resolution sees to be one statement without asking."""
    return value_key(pair.a) == value_key(pair.b)


def _one_slot(pair: Pair, vectors: Vectors, thresholds: CosineThresholds) -> Snapshot:
    facts = tuple(_stated(text, Instant(FIRST_SAID + at * DAY)) for at, text in enumerate((pair.a, pair.b)))
    return Snapshot(namespace="pair", now=Instant(FIRST_SAID + 2 * DAY), facts=facts, vectors=vectors, thresholds=thresholds)


def _stated(text: str, at: Instant) -> Fact:
    return replace(snapshots.fact(text), id=FactId(f"{at}"), valid_at=at, recorded_at=at, confidence=1.0, episode_id=EpisodeId(f"{at}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of a pair that is added to an empty namespace and then maintained."""

    both_read: bool
    """Extraction made a fact of either."""
    one_slot: bool
    """Facts of the two share subject and predicate, and all are latest."""
    offered: frozenset[ProposalKind]
    """What is proposed about facts of both; a merge too where the second was seen to say the same at once."""


def fates(memory: Memory, pairs: Sequence[Pair]) -> list[Fate]:
    """Adds both sentences of each pair, a day apart, to a namespace of their own, and runs maintenance on it. Clears the namespaces."""
    return [_fate(memory, f"maintained-{number}", pair) for number, pair in enumerate(pairs)]


def _fate(memory: Memory, namespace: str, pair: Pair) -> Fate:
    first = memory.add(namespace, pair.a, t_ref=FIRST_SAID, tz="UTC")
    second = memory.add(namespace, pair.b, t_ref=Instant(FIRST_SAID + DAY), tz="UTC")
    facts = [fact for fact in memory.facts(namespace, include_history=True) if fact.is_latest]
    slots = [{(fact.subject, fact.predicate) for fact in facts if fact.episode_id == each.episode_id} for each in (first, second)]
    [report] = memory.maintain(namespace, apply=True, force=True)
    queue = memory.review_queue(namespace)
    offered = {
        proposal.kind
        for group in queue.groups
        for proposal in group.proposals
        if {first.episode_id, second.episode_id} <= {fact.episode_id for fact in proposal.facts}
    }
    # One that repeats the other under another subject is offered to be put away.
    if any(p.kind is ProposalKind.DEMOTION and p.cosine is not None for group in queue.groups for p in group.proposals):
        offered.add(ProposalKind.MERGE)
    if second.existing or report.merged:
        offered.add(ProposalKind.MERGE)
    memory.clear(namespace)
    read = all(each.fact_ids or each.existing for each in (first, second))
    return Fate(both_read=read, one_slot=bool(slots[0] & slots[1]) or bool(second.existing), offered=frozenset(offered))


def shares(pairs: Sequence[Pair], has: Sequence[bool]) -> dict[str, float]:
    """The share of the pairs of each label that have something."""
    return {label: _share(was for pair, was in zip(pairs, has, strict=True) if pair.label == label) for label in _labels(pairs)}


def thirds(pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """The places of the pairs in two parts, drawn by lot: two thirds, and a third to see whether what holds of them holds in general."""
    drawn = list(range(len(pairs)))
    Random(SEED).shuffle(drawn)
    return sorted(drawn[len(drawn) // 3 :]), sorted(drawn[: len(drawn) // 3])


def _labels(pairs: Sequence[Pair]) -> list[str]:
    return sorted({pair.label for pair in pairs})


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
