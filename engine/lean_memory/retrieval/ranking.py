"""From scored candidates to a ranking: fusion, one hit for a sentence and for a fact and its passage, and what decides between equals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lean_memory.domain import Instant
from lean_memory.retrieval.candidates import Candidates
from lean_memory.retrieval.recipes import Fusion, Recipe
from lean_memory.retrieval.scoring import Scored
from lean_memory.store.search_rows import SearchRows

_DAY_MS = 86_400_000
_LOOKED_AT = 120
"""Rows looked at even where few hits are asked for, so that asking for more changes nothing in those before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A row with its final score and what it is made of; all but `final` lie in 0..1."""

    row_id: int
    place: int
    """Where it stands among the candidates."""
    final: float
    slot: float
    """What `final` holds for filling the slot that is asked for."""
    relevance: float
    recency: float
    importance: float
    dense_rank: int | None
    sparse_rank: int | None
    rrf: float
    valid_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """The rank of each row in each arm, from 1."""

    dense: Mapping[int, int]
    sparse: Mapping[int, int]

    @classmethod
    def of(cls, dense: Iterable[int], sparse: Iterable[int]) -> Arms:
        """From the row ids that each arm found, best first."""
        return cls(
            dense={row_id: i for i, row_id in enumerate(dense, start=1)},
            sparse={row_id: i for i, row_id in enumerate(sparse, start=1)},
        )

    def reciprocal(self, row_id: int, constant: int) -> float:
        """The sum of 1 / (constant + rank) over the arms that found the row."""
        ranks = (self.dense.get(row_id), self.sparse.get(row_id))
        return sum(1.0 / (constant + rank) for rank in ranks if rank is not None)


def fuse(candidates: Candidates, scored: Scored, arms: Arms, *, k: int, now: Instant, recipe: Recipe) -> list[Ranked]:
    """All hits that may be among the `k` best, by how well each answers for itself; `candidates` and `scored` go together."""
    return _folded(candidates, _fused(candidates.rows, scored, arms, k=k, now=now, recipe=recipe), recipe)


def arrange(candidates: Candidates, hits: list[Ranked], recipe: Recipe) -> list[Ranked]:
    """The hits in their order, best first, with what decides between those that say much the same."""
    rows = candidates.rows
    told = _newest_first_in_slots(rows, hits, recipe)
    return _standing_first(candidates, _spread(rows, sorted(told, key=_order), recipe), recipe)


def _fused(rows: SearchRows, scored: Scored, arms: Arms, *, k: int, now: Instant, recipe: Recipe) -> list[Ranked]:
    """The rows that may be among the `k` best: those of passages with a row among the first."""
    recency = 0.5 ** (np.maximum(0, now - rows.valid_at) / (_DAY_MS * recipe.half_life_days))
    importance = np.clip(rows.salience / 10.0, 0.0, 1.0)
    final = recipe.relevance * (scored.in_context + scored.slot) + recipe.recency * recency + recipe.importance * importance
    rrf = np.array([arms.reciprocal(row_id, recipe.rank_constant) for row_id in rows.row_id.tolist()])
    first = np.argsort(-rrf if recipe.fusion is Fusion.RANKS else -final, kind="stable")[: max(_LOOKED_AT, 4 * k)]
    places = np.flatnonzero(np.isin(rows.passage, rows.passage[first]))
    if recipe.fusion is Fusion.RANKS:
        places = first[rrf[first] > 0.0][: recipe.depth]
    return [
        Ranked(
            row_id=int(rows.row_id[place]),
            place=place,
            final=float(final[place]),
            slot=recipe.relevance * float(scored.slot[place]),
            relevance=float(np.clip(scored.alone[place] + scored.slot[place], 0.0, 1.0)),
            recency=float(recency[place]),
            importance=float(importance[place]),
            dense_rank=arms.dense.get(int(rows.row_id[place])),
            sparse_rank=arms.sparse.get(int(rows.row_id[place])),
            rrf=float(rrf[place]),
            valid_at=int(rows.valid_at[place]),
        )
        for place in places.tolist()
    ]


def _folded(candidates: Candidates, ranked: Iterable[Ranked], recipe: Recipe) -> list[Ranked]:
    """One hit for what one sentence of a passage was found to say, and none for a passage beside the best fact taken from it.

    A passage that also says what is no longer so gives nothing but its facts.
    """
    rows = candidates.rows
    by_passage: dict[int, list[Ranked]] = defaultdict(list)
    for each in sorted(ranked, key=_order):
        if not candidates.outdated[each.place]:
            by_passage[int(rows.passage[each.place])].append(each)
    folded: list[Ranked] = []
    for group in by_passage.values():
        sentences: dict[str | None, Ranked] = {}
        for each in group:
            sentence = rows.sentence[each.place]
            sentences[sentence] = _together(sentences[sentence], each, 0.0) if sentence in sentences else each
        passage = sentences.pop(None, None)
        facts = list(sentences.values())
        if passage is not None:
            facts[:1] = [_together(facts[0], passage, recipe.passage_share) if facts else passage]
        folded += facts
    return folded


def _together(shown: Ranked, other: Ranked, share: float) -> Ranked:
    """One hit for both, shown as the first; `share` of its final score is the other's, save what it has for its slot."""
    return replace(
        shown,
        final=(1.0 - share) * (shown.final - shown.slot) + share * (other.final - other.slot) + shown.slot,
        relevance=max(shown.relevance, other.relevance),
        dense_rank=_first(shown.dense_rank, other.dense_rank),
        sparse_rank=_first(shown.sparse_rank, other.sparse_rank),
        rrf=max(shown.rrf, other.rrf),
    )


def _first(a: int | None, b: int | None) -> int | None:
    known = [rank for rank in (a, b) if rank is not None]
    return min(known) if known else None


def _newest_first_in_slots(rows: SearchRows, ranked: list[Ranked], recipe: Recipe) -> list[Ranked]:
    """Within a slot the newest gets `slot_recency`, the oldest nothing, the others in proportion to their place."""
    slots: dict[tuple[int, str], list[int]] = defaultdict(list)
    for i, each in enumerate(ranked):
        slot = rows.slot[each.place]
        if slot is not None and rows.asserted[each.place]:
            slots[slot].append(i)
    moved = list(ranked)
    for places in slots.values():
        times = sorted({ranked[i].valid_at for i in places})
        for i in places if len(times) > 1 else ():
            share = times.index(ranked[i].valid_at) / (len(times) - 1)
            moved[i] = replace(ranked[i], final=ranked[i].final + recipe.slot_recency * share)
    return moved


def _spread(rows: SearchRows, ranked: Sequence[Ranked], recipe: Recipe) -> list[Ranked]:
    """Put further hits from an episode that is in the ranking already behind equals from elsewhere."""
    seen: set[int] = set()
    spread: list[Ranked] = []
    for each in ranked:
        episode = int(rows.episode[each.place])
        spread.append(replace(each, final=each.final * recipe.same_episode) if episode in seen else each)
        seen.add(episode)
    return sorted(spread, key=_order)


def _standing_first(candidates: Candidates, ranked: list[Ranked], recipe: Recipe) -> list[Ranked]:
    """Put what a newer answer replaces behind the first `recipe.standing` others."""
    if candidates.outlived is None or recipe.standing is None:
        return ranked
    stand = [each for each in ranked if not candidates.outlived[each.place]]
    least = min((each.final for each in stand[: recipe.standing]), default=np.inf)
    behind = [replace(each, final=min(each.final, least)) for each in ranked if candidates.outlived[each.place]]
    return [*stand[: recipe.standing], *sorted([*behind, *stand[recipe.standing :]], key=_order)]


def _order(ranked: Ranked) -> tuple[float, int, int]:
    return -ranked.final, -ranked.valid_at, -ranked.row_id
