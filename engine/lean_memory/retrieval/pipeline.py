"""A search from the question to the hits, on one snapshot, writing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from lean_memory.domain import (
    INSTRUCTION_LIKE,
    NO_CROSS_ENCODER,
    NO_EMBEDDER,
    NO_SECOND,
    NO_VECTORS,
    USER,
    Fact,
    Instant,
    RecordKind,
    SearchHit,
    Trust,
    Visibility,
    name_key,
)
from lean_memory.extraction.instructions import steers
from lean_memory.models.ports import Reranker
from lean_memory.retrieval import dense, lexical
from lean_memory.retrieval.candidates import Candidates, gather
from lean_memory.retrieval.dense import DenseQuery
from lean_memory.retrieval.outlived import beside_answered, beside_ended, outlived_rows
from lean_memory.retrieval.question import Asked, Question, read_asked, read_question
from lean_memory.retrieval.ranking import Arms, Ranked, arrange, fuse
from lean_memory.retrieval.recipes import Recipe, default
from lean_memory.retrieval.rerank import marks, reranked
from lean_memory.retrieval.scope import Scope
from lean_memory.retrieval.scoring import Aim, score
from lean_memory.retrieval.space import SearchModels, Space, spaces
from lean_memory.store.codes import CodeTable
from lean_memory.store.namespace_store import HydratedRow, NamespaceStore, ReadTransaction
from lean_memory.store.search_rows import entities_named, slot_rows

_SOURCE_CHARACTERS = 400
_SLOT_FACTS = 20
_MOVED_UP = 16
"""Hits behind those that a cross-encoder reads which may come before some of them, as what it read is arranged anew."""


def search(
    store: NamespaceStore,
    codes: CodeTable,
    models: SearchModels,
    query: str,
    *,
    k: int,
    visibility: Visibility,
    recipe: Recipe | None = None,
) -> list[SearchHit]:
    """The up to `k` best hits, best first; the same question on the same content always gives the same ones.

    Validity, tier and forgetting are applied inside both arms, before any cut. Models are asked with no snapshot open. Without a
    recipe it is the one of the models that are there.
    """
    for space in spaces(store, models, query):
        asked = _Asking(
            query=query,
            k=k,
            visibility=visibility,
            recipe=recipe or default(in_second=space.in_second, reranks=models.reranker is not None),
            space=space,
            degraded=(NO_SECOND,) if models.second is not None and not space.in_second else (),
        )
        found = store.look(partial(_found, codes=codes, asked=asked))
        if found is not None:
            return _judged(found, models.reranker, asked)
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A question, and how it is answered."""

    query: str
    k: int
    visibility: Visibility
    recipe: Recipe
    space: Space
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What one snapshot gave."""

    candidates: Candidates
    hits: list[Ranked]
    """By how well each answers for itself, in no order."""
    best: list[Ranked]
    """In their order, best first."""
    rows: dict[int, HydratedRow]
    """What the best ones stand for, by row."""
    degraded: tuple[str, ...]


def _found(tx: ReadTransaction, *, codes: CodeTable, asked: _Asking) -> _Found | None:
    """The hits of one snapshot; `None` where the space that was chosen lacks a vector by now."""
    meant, visibility, recipe = asked.space.meant, asked.visibility, asked.recipe
    complete = meant is None or tx.has_all_vectors(meant.model)
    if asked.space.in_second and not complete:
        return None
    view = codes.refresh(tx.connection, None if meant is None else meant.model)
    scope = Scope(tx=tx, view=view, mask=view.visible(tx.connection, visibility), known_at=visibility.known_at)
    # Who asks for history wants what a newer answer has replaced, too.
    replaced = read_asked(asked.query) if visibility.latest_only or visibility.as_of is not None else None
    deepest = max(asked.k, recipe.rerank)
    candidates, hits = _fused(scope, _aim(scope, asked.query, recipe), meant, replaced, k=deepest, now=visibility.now, recipe=recipe)
    best = arrange(candidates, hits, recipe)
    return _Found(
        candidates=candidates,
        hits=hits,
        best=best,
        rows=tx.hydrate([each.row_id for each in best[: deepest + (_MOVED_UP if recipe.rerank else 0)]], visibility),
        degraded=(*asked.degraded, *_missing(scope, meant, complete=complete)),
    )


def _judged(found: _Found, reranker: Reranker | None, asked: _Asking) -> list[SearchHit]:
    """The hits, best first, as the cross-encoder has them where the recipe asks for one and it is done in time."""
    recipe, best, degraded = asked.recipe, found.best, found.degraded
    if recipe.rerank:
        read = {each.row_id: found.rows[each.row_id].fact.fact_text for each in best[: recipe.rerank] if each.row_id in found.rows}
        given = marks(reranker, asked.query, read, recipe)
        if given is None:
            degraded = (*degraded, NO_CROSS_ENCODER)
        else:
            best = [each for each in arrange(found.candidates, reranked(found.hits, given, recipe), recipe) if each.row_id in found.rows]
    return _hits(found, best[: asked.k], degraded)


def _fused(
    scope: Scope, aim: Aim, meant: DenseQuery | None, asked: Asked | None, *, k: int, now: Instant, recipe: Recipe
) -> tuple[Candidates, list[Ranked]]:
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
        outlived = outlived_rows(scope, candidates, scored, known.words, asked)
        outlived |= beside_ended(scope, candidates, aim.subjects, aim.predicates)
        if asked.of_present or asked.of_now:
            outlived |= beside_answered(candidates, aim.subjects, aim.predicates)
        candidates = replace(candidates, outlived=outlived)
    return candidates, fuse(candidates, scored, Arms.of(near, sparse), k=k, now=now, recipe=recipe)


def _aim(scope: Scope, query: str, recipe: Recipe) -> Aim:
    asked = read_question(query)
    return Aim(
        words=lexical.read_query(scope, query, recipe.postings),
        predicates=asked.predicates,
        subjects=_subjects(scope, asked),
        of_self=asked.of_self,
        dense_share=recipe.dense_share_unread + (recipe.dense_share - recipe.dense_share_unread) * asked.read_share,
    )


def _subjects(scope: Scope, asked: Question) -> frozenset[int]:
    """The entities a question is about: those it names, "my sister" too, else the user."""
    own = [name_key(f"{USER}'s {name}") for name in asked.names] if asked.of_user else []
    named = entities_named(scope.tx.connection, [*asked.names, *own])
    if asked.of_user or not named:
        named |= entities_named(scope.tx.connection, [USER])
    return frozenset(named)


def _slot(scope: Scope, aim: Aim, recipe: Recipe) -> list[int]:
    """Rows of the facts that a question asks for by predicate and subject."""
    if not recipe.slot or not aim.predicates:
        return []
    return scope.visible(slot_rows(scope.tx.connection, aim.subjects, aim.predicates, _SLOT_FACTS, scope.known_at))


def _missing(scope: Scope, meant: DenseQuery | None, *, complete: bool) -> tuple[str, ...]:
    if meant is None:
        return (NO_EMBEDDER,)
    return (NO_VECTORS,) if not complete and scope.view.lacks_vectors(scope.mask) else ()


def _hits(found: _Found, ranked: Sequence[Ranked], degraded: tuple[str, ...]) -> list[SearchHit]:
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
        if (row := found.rows.get(each.row_id)) is not None
    ]


def _flagged(fact: Fact) -> Fact:
    """A passage that tries to steer whoever reads it says so, and is trusted least."""
    if fact.record_kind is not RecordKind.PASSAGE or not steers(fact.fact_text):
        return fact
    return replace(fact, flags=(INSTRUCTION_LIKE,), trust=Trust.IMPORTED)


def _shortened(text: str) -> str:
    return text if len(text) <= _SOURCE_CHARACTERS else f"{text[: _SOURCE_CHARACTERS - 1]}…"
