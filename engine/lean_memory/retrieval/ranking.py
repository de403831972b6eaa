"""From candidates to a ranking: fusion, one hit for a fact and its passage, and what decides between equals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lean_memory.domain import Instant
from lean_memory.retrieval.candidates import Candidate
from lean_memory.retrieval.recipes import Fusion, Recipe

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with its final score and what it is made of; all but `final` lie in 0..1."""

    candidate: Candidate
    final: float
    relevance: float
    recency: float
    importance: float
    dense_rank: int | None
    sparse_rank: int | None
    rrf: float


def rank(candidates: Iterable[Candidate], *, dense: Sequence[int], sparse: Sequence[int], now: Instant, recipe: Recipe) -> list[Ranked]:
    """All candidates, best first. `dense` and `sparse` are the row ids that each arm found, best first."""
    dense_ranks = {row_id: i for i, row_id in enumerate(dense, start=1)}
    sparse_ranks = {row_id: i for i, row_id in enumerate(sparse, start=1)}
    scored = [_scored(candidate, dense_ranks, sparse_ranks, now, recipe) for candidate in candidates]
    if recipe.fusion is Fusion.RANKS:
        scored = sorted((each for each in scored if each.rrf > 0.0), key=lambda r: -r.rrf)[: recipe.depth]
    folded = _newest_first_in_slots(_folded(scored), recipe)
    return _spread(sorted(folded, key=_order), recipe)


def _scored(candidate: Candidate, dense_ranks: Mapping[int, int], sparse_ranks: Mapping[int, int], now: Instant, recipe: Recipe) -> Ranked:
    row = candidate.row
    dense, sparse = dense_ranks.get(row.row_id), sparse_ranks.get(row.row_id)
    recency = 0.5 ** (max(0, now - row.valid_at) / _DAY_MS / recipe.half_life_days)
    importance = min(1.0, max(0.0, row.salience / 10.0))
    return Ranked(
        candidate=candidate,
        final=recipe.relevance * candidate.relevance + recipe.recency * recency + recipe.importance * importance,
        relevance=min(1.0, max(0.0, candidate.relevance)),
        recency=recency,
        importance=importance,
        dense_rank=dense,
        sparse_rank=sparse,
        rrf=sum(1.0 / (recipe.rank_constant + rank) for rank in (dense, sparse) if rank is not None),
    )


def _folded(scored: Iterable[Ranked]) -> list[Ranked]:
    """One hit for a passage and the best fact taken from it: the fact stands for both."""
    by_passage: dict[int, list[Ranked]] = defaultdict(list)
    for each in scored:
        by_passage[each.candidate.row.passage].append(each)
    folded: list[Ranked] = []
    for group in by_passage.values():
        facts = sorted((each for each in group if each.candidate.row.fact is not None), key=_order)
        passages = [each for each in group if each.candidate.row.fact is None]
        if facts and passages:
            facts[0] = _together(facts[0], passages[0])
        folded += facts or passages
    return folded


def _together(fact: Ranked, passage: Ranked) -> Ranked:
    return replace(
        fact,
        final=max(fact.final, passage.final),
        relevance=max(fact.relevance, passage.relevance),
        dense_rank=_first(fact.dense_rank, passage.dense_rank),
        sparse_rank=_first(fact.sparse_rank, passage.sparse_rank),
        rrf=max(fact.rrf, passage.rrf),
    )


def _first(a: int | None, b: int | None) -> int | None:
    known = [rank for rank in (a, b) if rank is not None]
    return min(known) if known else None


def _newest_first_in_slots(ranked: Sequence[Ranked], recipe: Recipe) -> list[Ranked]:
    """Within a slot the newest gets `slot_recency`, the oldest nothing, the others in proportion to their place."""
    slots: dict[tuple[int | None, str | None], list[int]] = defaultdict(list)
    for i, each in enumerate(ranked):
        row = each.candidate.row
        if row.predicate is not None:
            slots[row.subject, row.predicate].append(i)
    moved = list(ranked)
    for places in slots.values():
        times = sorted({ranked[i].candidate.row.valid_at for i in places})
        for i in places if len(times) > 1 else ():
            share = times.index(ranked[i].candidate.row.valid_at) / (len(times) - 1)
            moved[i] = replace(ranked[i], final=ranked[i].final + recipe.slot_recency * share)
    return moved


def _spread(ranked: Sequence[Ranked], recipe: Recipe) -> list[Ranked]:
    """Put further facts of a passage that is in the ranking already behind equals from elsewhere."""
    seen: set[int] = set()
    spread: list[Ranked] = []
    for each in ranked:
        passage = each.candidate.row.passage
        spread.append(replace(each, final=each.final * recipe.same_passage) if passage in seen else each)
        seen.add(passage)
    return sorted(spread, key=_order)


def _order(ranked: Ranked) -> tuple[float, int, int]:
    row = ranked.candidate.row
    return -ranked.final, -row.valid_at, -row.row_id
