"""From the engine's values to what goes over the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lean_memory.domain import (
    WEAK_RELEVANCE,
    AddResult,
    ClearResult,
    Ending,
    Explanation,
    Fact,
    ForgetResult,
    HistoryEntry,
    NamespaceStatus,
    SearchHit,
)
from lean_memory_bridge.schemas import (
    Added,
    Cleared,
    EndingView,
    Explained,
    FactView,
    Forgotten,
    HistoryLink,
    HitView,
    NamespaceView,
    SpanView,
)


def fact_view(fact: Fact) -> FactView:
    """Every field of a fact under its own name."""
    return FactView(
        id=fact.id,
        namespace=fact.namespace,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        fact_text=fact.fact_text,
        valid_at=fact.valid_at,
        valid_to=fact.valid_to,
        recorded_at=fact.recorded_at,
        retired_at=fact.retired_at,
        is_latest=fact.is_latest,
        superseded_by=fact.superseded_by,
        polarity=fact.polarity.value,
        modality=fact.modality.value,
        confidence=fact.confidence,
        salience=fact.salience,
        is_inference=fact.is_inference,
        record_kind=fact.record_kind.value,
        tier=fact.tier.value,
        trust=fact.trust.value,
        episode_id=fact.episode_id,
        end_reason=fact.end_reason.value if fact.end_reason else None,
        span=SpanView(start=fact.span.start, end=fact.span.end) if fact.span else None,
        found_by=fact.found_by,
        rule=fact.rule,
        reasons=fact.reasons,
        flags=fact.flags,
    )


def fact_views(facts: Iterable[Fact]) -> tuple[FactView, ...]:
    """Facts in their order."""
    return tuple(fact_view(fact) for fact in facts)


def hit_view(hit: SearchHit) -> HitView:
    """A hit with the ranks and scores that produced it."""
    return HitView(
        fact=fact_view(hit.fact),
        final_score=hit.final_score,
        relevance=hit.relevance,
        recency=hit.recency,
        importance=hit.importance,
        dense_rank=hit.dense_rank,
        sparse_rank=hit.sparse_rank,
        rrf_score=hit.rrf_score,
        source=hit.source,
        degraded=hit.degraded,
    )


def is_known(hits: Sequence[SearchHit]) -> bool:
    """Whether any hit is relevant enough to be an answer."""
    return any(hit.relevance >= WEAK_RELEVANCE for hit in hits)


def added_view(namespace: str, result: AddResult, facts: Iterable[Fact] = ()) -> Added:
    """What one `add` did."""
    return Added(
        namespace=namespace,
        episode_id=result.episode_id,
        fact_ids=result.fact_ids,
        existing=result.existing,
        superseded=result.superseded,
        redacted=result.redacted,
        queued=result.queued,
        withheld=result.withheld,
        echoed=result.echoed,
        flags=result.flags,
        facts=fact_views(facts),
    )


def link_view(entry: HistoryEntry) -> HistoryLink:
    """One link of a chain."""
    return HistoryLink(
        fact=fact_view(entry.fact),
        reason=entry.reason.value if entry.reason else None,
        source_text=entry.source_text,
        confirmed_at=entry.confirmed_at,
    )


def explained_view(namespace: str, told: Explanation) -> Explained:
    """Why a fact is held."""
    return Explained(
        namespace=namespace,
        fact_id=told.fact.id,
        fact=fact_view(told.fact),
        source_text=told.source_text,
        said_at=told.said_at,
        source=told.source.value,
        client=told.client,
        made_by=told.made_by,
        doubts=told.doubts,
        confirmed_at=told.confirmed_at,
        echoes=told.echoes,
        ended=tuple(_ending_view(ending) for ending in told.ended),
        ending=None if told.ending is None else _ending_view(told.ending),
    )


def _ending_view(ending: Ending) -> EndingView:
    return EndingView(fact=fact_view(ending.fact), reason=ending.reason.value, rung=ending.rung, said=ending.said, by=ending.by)


def forgotten_view(namespace: str, result: ForgetResult) -> Forgotten:
    """What a forgetting erased."""
    return Forgotten(
        namespace=namespace,
        facts=result.facts,
        episodes=result.episodes,
        passages=result.passages,
        entities=result.entities,
        tombstones=result.tombstones,
        backups_holding_copies=result.backups_holding_copies,
    )


def cleared_view(namespace: str, result: ClearResult) -> Cleared:
    """What a clear did."""
    return Cleared(namespace=namespace, cleared=result.existed, copies=result.copies)


def namespace_view(status: NamespaceStatus) -> NamespaceView:
    """Counts and health of one namespace."""
    return NamespaceView(
        name=status.name,
        path=status.path,
        bytes=status.bytes,
        facts=status.facts,
        latest=status.latest,
        episodes=status.episodes,
        unfinished=status.unfinished,
        entities=status.entities,
        schema_version=status.schema_version,
        writable=status.writable,
        problems=status.problems,
    )
