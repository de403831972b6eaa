"""Measures over one ranking of turn ids against the set of relevant ones; every one lies in 0..1.

A turn that stands in a ranking twice counts once, at its first place, and its second place is spent: a system that returns
three facts of one turn pays for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from math import log2

from bench.values import Found

CHARACTERS_PER_TOKEN = 4
"""The budget measures count a token as four characters, rounded up per hit."""


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The fraction of the relevant turns among the first `k` hits."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant)


def any_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where at least one relevant turn is among the first `k` hits."""
    return float(not set(relevant).isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 where every relevant turn is among the first `k` hits."""
    return float(set(relevant) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """One over the rank of the first relevant hit, 0 where there is none."""
    return next((1 / rank for rank, turn in enumerate(ranked, start=1) if turn in relevant), 0.0)


def ndcg_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain with binary gain and the discount log2(rank + 1) (Järvelin and Kekäläinen, 2002)."""
    seen: set[str] = set()
    gain = 0.0
    for rank, turn in enumerate(ranked[:k], start=1):
        if turn in relevant and turn not in seen:
            seen.add(turn)
            gain += 1 / log2(rank + 1)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))
    return gain / ideal


def recall_within(found: Sequence[Found], relevant: Collection[str], tokens: int) -> float:
    """The fraction of the relevant turns among the leading hits whose texts together fit in `tokens`."""
    left, turns = tokens, set[str]()
    for hit in found:
        left -= -(-len(hit.text) // CHARACTERS_PER_TOKEN)
        if left < 0:
            break
        turns.add(hit.turn)
    return len(turns & set(relevant)) / len(relevant)


def distinct(ranked: Sequence[str], k: int) -> tuple[str, ...]:
    """The first `k` different turns of a ranking."""
    return tuple(islice(dict.fromkeys(ranked), k))


def percentile(sample: Sequence[float], share: float) -> float:
    """The smallest value that at least that share of the sample does not exceed (nearest rank)."""
    ordered = sorted(sample)
    return ordered[max(0, -(-len(ordered) * share // 1).__int__() - 1)]
