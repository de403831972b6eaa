"""A search from the question to the hits, on one snapshot, writing nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import USER, SearchHit, Visibility
from lean_memory.models.ports import Embedder
from lean_memory.retrieval import dense, lexical
from lean_memory.retrieval.candidates import gather, score
from lean_memory.retrieval.question import Question, read_question
from lean_memory.retrieval.ranking import Ranked, rank
from lean_memory.retrieval.recipes import Recipe
from lean_memory.store.codes import CodeTable, IndexView, Mask
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction
from lean_memory.store.search_rows import entities_named, slot_rows

NO_EMBEDDER = "embedder"
"""Answered by words alone: there is no embedder."""
NO_VECTORS = "vectors"
"""Some rows have no vector of the present model yet and were found by their words alone."""

WEAK_RELEVANCE = 0.3
"""Below this a hit tells little: where no hit reaches it, nothing is known about the question."""

_SOURCE_CHARACTERS = 400
_SLOT_FACTS = 50


def codes_for(store: NamespaceStore, embedder: Embedder | None) -> CodeTable:
    """What keeps the index of a namespace in memory for searches with that embedder; it reads nothing before the first search."""
    return CodeTable(None if embedder is None else embedder.identity)


def search(
    store: NamespaceStore,
    codes: CodeTable,
    embedder: Embedder | None,
    query: str,
    *,
    k: int,
    visibility: Visibility,
    recipe: Recipe,
) -> list[SearchHit]:
    """The up to `k` best hits, best first; the same question on the same content always gives the same ones.

    Validity, tier and forgetting are applied inside both arms, before any cut.
    """
    vector = None if embedder is None else embedder.embed_query(query)
    with store.read() as tx:
        view = codes.refresh(tx.connection)
        mask = view.visible(tx.connection, visibility)
        ranked = _ranked(tx, view, mask, codes, vector, query, visibility, recipe)[:k]
        return _hits(tx, ranked, visibility, _missing(view, mask, vector))


def _ranked(
    tx: ReadTransaction,
    view: IndexView,
    mask: Mask,
    codes: CodeTable,
    vector: NDArray[np.float32] | None,
    query: str,
    visibility: Visibility,
    recipe: Recipe,
) -> list[Ranked]:
    asked = read_question(query)
    words = lexical.read_query(tx, view, query, recipe.postings)
    sparse = lexical.best_rows(words, view, mask, recipe.lexical, recipe.depth)
    cosines = None if vector is None or codes.model is None else dense.best_rows(tx, view, mask, codes.model, vector, recipe)
    near = list(cosines or ())
    subjects = _subjects(tx, asked)
    rows, passages = gather(tx, dict.fromkeys([*sparse, *near, *_slot(tx, mask, asked, subjects, recipe)]), mask, recipe.lexical.near_ms)
    if cosines is not None and vector is not None and codes.model is not None:
        cosines = dense.complete(tx, codes.model, vector, cosines, (row.row_id for row in rows))
    candidates = score(tx, rows, passages, query=words, cosines=cosines, asked=asked, subjects=subjects, recipe=recipe)
    return rank(candidates, dense=near, sparse=sparse, now=visibility.now, recipe=recipe)


def _subjects(tx: ReadTransaction, asked: Question) -> frozenset[int]:
    """The entities a question is about: those it names, else the user."""
    named = entities_named(tx.connection, asked.names)
    if asked.of_user or not named:
        named |= entities_named(tx.connection, [USER])
    return frozenset(named)


def _slot(tx: ReadTransaction, mask: Mask, asked: Question, subjects: frozenset[int], recipe: Recipe) -> list[int]:
    """Rows of the facts that a question asks for by predicate and subject."""
    if not recipe.slot or not asked.predicates:
        return []
    found = slot_rows(tx.connection, subjects, asked.predicates, _SLOT_FACTS)
    return [row for row in found if row < mask.shape[0] and mask[row]]


def _missing(view: IndexView, mask: Mask, vector: NDArray[np.float32] | None) -> tuple[str, ...]:
    if vector is None:
        return (NO_EMBEDDER,)
    return (NO_VECTORS,) if view.lacks_vectors(mask) else ()


def _hits(tx: ReadTransaction, ranked: Sequence[Ranked], visibility: Visibility, degraded: tuple[str, ...]) -> list[SearchHit]:
    found = tx.hydrate([each.candidate.row.row_id for each in ranked], visibility)
    return [
        SearchHit(
            fact=row.fact,
            final_score=each.final,
            relevance=each.relevance,
            recency=each.recency,
            importance=each.importance,
            dense_rank=each.dense_rank,
            sparse_rank=each.sparse_rank,
            rrf_score=each.rrf,
            source=_shortened(row.source),
            degraded=degraded,
        )
        for each in ranked
        if (row := found.get(each.candidate.row.row_id)) is not None
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _SOURCE_CHARACTERS else f"{text[: _SOURCE_CHARACTERS - 1]}…"
