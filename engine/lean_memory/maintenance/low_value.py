"""Old facts that matter little and are not asked for: a person is asked whether they may leave the latest searches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lean_memory.domain import Cardinality, Fact, FactId, Modality, RecordKind, Tier
from lean_memory.extraction import vocabulary
from lean_memory.maintenance.drafts import Access, Draft, Snapshot
from lean_memory.maintenance.vital import is_vital
from lean_memory.proposals import ProposalKind

LEAST_VALUE = 0.15
MATTERS = 6.0
"""From this salience on a fact is never proposed to be put away."""
DAY_MS = 86_400_000
YOUNGEST_DAYS = 90
HALF_LIFE_DAYS = 90
"""In which recency halves, of a fact and of its last being served."""
OFTEN = 16
"""Served so often, a fact counts as much used as any."""


def low_value(snapshot: Snapshot, *, without: frozenset[FactId] = frozenset()) -> Iterator[Draft]:
    """Demotions, the least valuable first. `without` are facts that are in another proposal of the same run."""
    scored = [(value_of(fact, snapshot), place) for place, fact in enumerate(snapshot.facts) if _may_go(fact, snapshot, without)]
    for (value, parts), place in sorted(scored, key=lambda each: (each[0][0], each[1])):
        if value < LEAST_VALUE:
            yield _draft(snapshot.facts[place], snapshot, value, parts)


def value_of(fact: Fact, snapshot: Snapshot) -> tuple[float, tuple[float, float, float]]:
    """What a fact is worth, 0..1: 0.5 salience/10 + 0.3 recency + 0.2 access, with the three parts (each 0..1)."""
    parts = (fact.salience / 10, _faded(_age_days(fact, snapshot)), _use(snapshot.access.get(fact.id), snapshot))
    return 0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2], parts


def _may_go(fact: Fact, snapshot: Snapshot, without: frozenset[FactId]) -> bool:
    is_plain = fact.record_kind is RecordKind.FACT and fact.tier is Tier.HOT and fact.is_latest and fact.modality is Modality.ASSERTED
    is_free = fact.id not in snapshot.held and fact.id not in snapshot.kept and fact.id not in without
    is_trifle = fact.salience < MATTERS and _age_days(fact, snapshot) >= YOUNGEST_DAYS
    is_one_of_many = vocabulary.cardinality(fact.predicate) is Cardinality.MULTI
    return is_plain and is_free and is_trifle and is_one_of_many and not is_vital(fact)


def _age_days(fact: Fact, snapshot: Snapshot) -> float:
    """Since it holds and was said, for the first time or again, whichever is later."""
    said = snapshot.said.get(fact.id, fact.recorded_at)
    return max(0.0, (snapshot.now - max(fact.valid_at, fact.recorded_at, said)) / DAY_MS)


def _faded(days: float) -> float:
    return 0.5 ** (days / HALF_LIFE_DAYS)


def _use(access: Access | None, snapshot: Snapshot) -> float:
    if access is None or access.served <= 0:
        return 0.0
    often = min(1.0, math.log2(1 + access.served) / math.log2(1 + OFTEN))
    return often * _faded(max(0.0, (snapshot.now - access.last_at) / DAY_MS))


def _draft(fact: Fact, snapshot: Snapshot, value: float, parts: tuple[float, float, float]) -> Draft:
    days = int(_age_days(fact, snapshot))
    access = snapshot.access.get(fact.id)
    served = "was never asked for" if access is None or not access.served else f"was last asked for {_since(access, snapshot)} days ago"
    names = ("value", "salience", "recency", "access")
    return Draft(
        kind=ProposalKind.DEMOTION,
        entity=fact.subject,
        facts=(fact,),
        scores=tuple((name, round(score, 4)) for name, score in zip(names, (value, *parts), strict=True)),
        reason=f"It was last said {days} days ago, matters little and {served}. It would stay findable for past dates and when cold facts are included.",
    )


def _since(access: Access, snapshot: Snapshot) -> int:
    return int(max(0, snapshot.now - access.last_at) / DAY_MS)
