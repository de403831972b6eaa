"""The cross-encoder: the best hits are read together with the question, outside of any snapshot and within a time that is given.

Its marks lie on a fixed scale and are blended into relevance, so that a weak best hit goes on looking weak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lean_memory.errors import ModelError
from lean_memory.models.ports import Reranker
from lean_memory.retrieval.ranking import Ranked
from lean_memory.retrieval.recipes import Recipe

_LONGEST = 2_000
"""Characters of a text that are read."""


def marks(reranker: Reranker | None, query: str, texts: Mapping[int, str], recipe: Recipe) -> dict[int, float] | None:
    """How well each text answers, 0 to 1, by its key; `None` where that could not be had in time."""
    if reranker is None:
        return None
    if not texts:
        return {}
    try:
        found = reranker.score(query, [text[:_LONGEST] for text in texts.values()], seconds=recipe.rerank_seconds)
    except ModelError:
        return None
    return {key: min(1.0, max(0.0, float(mark))) for key, mark in zip(texts, found, strict=True)}


def reranked(hits: Sequence[Ranked], given: Mapping[int, float], recipe: Recipe) -> list[Ranked]:
    """The hits with the marks of those that were read, by row, blended into their relevance and into what it is worth in `final`.

    What was not read counts as having the lowest mark, so that reading some puts no other before them.
    """
    if not given:
        return list(hits)
    least, share = min(given.values()), recipe.rerank_share

    def blended(hit: Ranked) -> Ranked:
        mark = share * given.get(hit.row_id, least)
        return replace(hit, relevance=(1.0 - share) * hit.relevance + mark, final=(1.0 - share) * hit.final + recipe.relevance * mark)

    return [blended(hit) for hit in hits]
