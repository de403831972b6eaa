"""What the coarse dense stage loses against an exact search of every vector."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

import lean_memory
from bench.bulk import NAMESPACE, Filled

TOP = 10
DEEP = 1_000
CHUNK = 50_000


def coarse_recall(filled: Filled, asked: Sequence[str]) -> dict[str, float]:
    """The share of the ten exactly nearest facts that the engine's dense arm ranks among its first ten, over all questions.

    The arm's ranks are read from the hits of a search so deep that fusion cuts nothing off.
    """
    nearest = _exactly_nearest(filled, np.stack([filled.embedder.embed_query(question) for question in asked]))
    with lean_memory.Memory(root=filled.root, embedder=filled.embedder) as memory:
        shares = [_share(memory.search(NAMESPACE, question, DEEP), exact) for question, exact in zip(asked, nearest, strict=True)]
    return {f"dense arm's recall@{TOP} of exact search": fmean(shares)}


def _share(hits: Sequence[lean_memory.SearchHit], exact: frozenset[str]) -> float:
    ranked = {hit.fact.fact_text for hit in hits if hit.dense_rank is not None and hit.dense_rank <= TOP}
    return len(ranked & exact) / len(exact)


def _exactly_nearest(filled: Filled, queries: np.ndarray) -> list[frozenset[str]]:
    """The texts of the `TOP` facts of highest cosine, for each query; `queries` has shape (queries, dims)."""
    vectors, texts = filled.vectors(), filled.texts()
    blocks = [np.asarray(vectors[start : start + CHUNK]) @ queries.T for start in range(0, len(texts), CHUNK)]
    cosines = np.concatenate(blocks)
    best = np.argpartition(-cosines, TOP, axis=0)[:TOP]
    return [frozenset(texts[int(row)] for row in column) for column in best.T]
