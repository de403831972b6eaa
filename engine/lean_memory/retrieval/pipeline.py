"""A search from the question to the hits, on one snapshot, writing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lean_memory.domain import INSTRUCTION_LIKE, USER, Fact, Instant, RecordKind, SearchHit, Trust, Visibility
from lean_memory.extraction.instructions import steers
from lean_memory.models.ports import Embedder
from lean_memory.retrieval import dense, lexical
from lean_memory.retrieval.candidates import gather
from lean_memory.retrieval.dense import DenseQuery
from lean_memory.retrieval.outlived import outlived_rows
from lean_memory.retrieval.question import Asked, Question, read_asked, read_question
from lean_memory.retrieval.ranking import Arms, Ranked, rank
from lean_memory.retrieval.recipes import Recipe
from lean_memory.retrieval.scope import Scope
from lean_memory.retrieval.scoring import Aim, score
from lean_memory.store.codes import CodeTable
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction
from lean_memory.store.search_rows import entities_named, slot_rows

NO_EMBEDDER = "embedder"
"""Answered by words alone: there is no embedder."""
NO_VECTORS = "vectors"
"""Some rows have no vector of the present model yet and were found by their words alone."""

_SOURCE_CHARACTERS = 400
_SLOT_FACTS = 20


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
    vector = None if embedder is None or codes.model is None else embedder.embed_query(query)

    def found(tx: ReadTransaction) -> list[SearchHit]:
        view = codes.refresh(tx.connection)
        scope = Scope(tx=tx, view=view, mask=view.visible(tx.connection, visibility), known_at=visibility.known_at)
        meant = None if vector is None or codes.model is None else DenseQuery(model=codes.model, vector=vector)
        aim = _aim(scope, query, recipe)
        # Who asks for history wants what a newer answer has replaced, too.
        asked = read_asked(query) if visibility.latest_only or visibility.as_of is not None else None
        ranked = _ranked(scope, aim, meant, asked, k=k, now=visibility.now, recipe=recipe)
        return _hits(scope, ranked, visibility, _missing(scope, meant))

    return store.look(found)


def _ranked(scope: Scope, aim: Aim, meant: DenseQuery | None, asked: Asked | None, *, k: int, now: Instant, recipe: Recipe) -> list[Ranked]:
    depth = max(recipe.depth, k)
    sparse = lexical.best_rows(scope, aim.words, recipe.lexical, depth)
    near = {} if meant is None else dense.best_rows(scope, meant, coarse=max(recipe.coarse, 4 * depth), depth=depth)
    slot = _slot(scope, aim, recipe)
    leading = [*sparse[: recipe.leading], *list(near)[: recipe.leading], *slot]
    candidates = gather(scope, [*sparse, *near, *slot], leading, recipe.lexical.near_ms)
    cosines = None if meant is None else dense.cosines(scope, meant, near, candidates.rows.row_id.tolist())
    known = replace(aim, words=lexical.completed(scope, aim.words, candidates.rows.row_id.tolist()))
    scored = score(scope, candidates, known, cosines, recipe)
    if asked is not None and recipe.standing is not None:
        candidates = replace(candidates, outlived=outlived_rows(scope, candidates, scored, known.words, asked))
    return rank(candidates, scored, Arms.of(near, sparse), k=k, now=now, recipe=recipe)


def _aim(scope: Scope, query: str, recipe: Recipe) -> Aim:
    asked = read_question(query)
    return Aim(
        words=lexical.read_query(scope, query, recipe.postings),
        predicates=asked.predicates,
        subjects=_subjects(scope, asked),
        dense_share=recipe.dense_share_unread + (recipe.dense_share - recipe.dense_share_unread) * asked.read_share,
    )


def _subjects(scope: Scope, asked: Question) -> frozenset[int]:
    """The entities a question is about: those it names, else the user."""
    named = entities_named(scope.tx.connection, asked.names)
    if asked.of_user or not named:
        named |= entities_named(scope.tx.connection, [USER])
    return frozenset(named)


def _slot(scope: Scope, aim: Aim, recipe: Recipe) -> list[int]:
    """Rows of the facts that a question asks for by predicate and subject."""
    if not recipe.slot or not aim.predicates:
        return []
    return scope.visible(slot_rows(scope.tx.connection, aim.subjects, aim.predicates, _SLOT_FACTS, scope.known_at))


def _missing(scope: Scope, meant: DenseQuery | None) -> tuple[str, ...]:
    if meant is None:
        return (NO_EMBEDDER,)
    return (NO_VECTORS,) if scope.view.lacks_vectors(scope.mask) else ()


def _hits(scope: Scope, ranked: Sequence[Ranked], visibility: Visibility, degraded: tuple[str, ...]) -> list[SearchHit]:
    found = scope.tx.hydrate([each.row_id for each in ranked], visibility)
    return [
        SearchHit(
            fact=_flagged(row.fact),
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
        if (row := found.get(each.row_id)) is not None
    ]


def _flagged(fact: Fact) -> Fact:
    """A passage that tries to steer whoever reads it says so, and is trusted least."""
    if fact.record_kind is not RecordKind.PASSAGE or not steers(fact.fact_text):
        return fact
    return replace(fact, flags=(INSTRUCTION_LIKE,), trust=Trust.IMPORTED)


def _shortened(text: str) -> str:
    return text if len(text) <= _SOURCE_CHARACTERS else f"{text[: _SOURCE_CHARACTERS - 1]}…"
