"""The JSON that `--json` prints. Keys are a contract (docs/commands.md, "JSON"): add to them, rename none. Times are epoch milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lean_memory.domain import AddResult, Ending, Explanation, Fact, ForgetResult, HistoryEntry, NamespaceStatus, SearchHit

Json = dict[str, object]


def fact_form(fact: Fact) -> Json:
    """Every field of a fact under its own name."""
    return {
        "id": fact.id,
        "namespace": fact.namespace,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "fact_text": fact.fact_text,
        "valid_at": fact.valid_at,
        "valid_to": fact.valid_to,
        "recorded_at": fact.recorded_at,
        "retired_at": fact.retired_at,
        "is_latest": fact.is_latest,
        "superseded_by": fact.superseded_by,
        "polarity": fact.polarity.value,
        "modality": fact.modality.value,
        "confidence": fact.confidence,
        "salience": fact.salience,
        "is_inference": fact.is_inference,
        "record_kind": fact.record_kind.value,
        "tier": fact.tier.value,
        "trust": fact.trust.value,
        "episode_id": fact.episode_id,
        "end_reason": fact.end_reason.value if fact.end_reason else None,
        "span": [fact.span.start, fact.span.end] if fact.span else None,
        "found_by": fact.found_by,
        "rule": fact.rule,
        "reasons": list(fact.reasons),
        "flags": list(fact.flags),
    }


def hit_form(hit: SearchHit) -> Json:
    """A hit with the ranks and scores that produced it."""
    return {
        "fact": fact_form(hit.fact),
        "final_score": hit.final_score,
        "relevance": hit.relevance,
        "recency": hit.recency,
        "importance": hit.importance,
        "dense_rank": hit.dense_rank,
        "sparse_rank": hit.sparse_rank,
        "rrf_score": hit.rrf_score,
        "source": hit.source,
        "degraded": list(hit.degraded),
    }


def added_form(result: AddResult) -> Json:
    """What one `add` did."""
    return {
        "episode_id": result.episode_id,
        "fact_ids": list(result.fact_ids),
        "existing": list(result.existing),
        "superseded": list(result.superseded),
        "redacted": list(result.redacted),
        "queued": result.queued,
        "withheld": result.withheld,
        "echoed": result.echoed,
        "flags": list(result.flags),
    }


def history_form(entries: Iterable[HistoryEntry]) -> list[Json]:
    """A chain, oldest first."""
    return [
        {
            "fact": fact_form(entry.fact),
            "reason": entry.reason.value if entry.reason else None,
            "source_text": entry.source_text,
            "confirmed_at": list(entry.confirmed_at),
        }
        for entry in entries
    ]


def explained_form(told: Explanation) -> Json:
    """Why a fact is held."""
    return {
        "fact": fact_form(told.fact),
        "source_text": told.source_text,
        "said_at": told.said_at,
        "source": told.source.value,
        "client": told.client,
        "made_by": told.made_by,
        "doubts": list(told.doubts),
        "confirmed_at": list(told.confirmed_at),
        "echoes": told.echoes,
        "ended": [_ending_form(ending) for ending in told.ended],
        "ending": None if told.ending is None else _ending_form(told.ending),
    }


def _ending_form(ending: Ending) -> Json:
    return {"fact": fact_form(ending.fact), "reason": ending.reason.value, "rung": ending.rung, "said": ending.said, "by": ending.by}


def forgotten_form(result: ForgetResult) -> Json:
    """What a `forget` erased, by count."""
    return {
        "facts": result.facts,
        "episodes": result.episodes,
        "passages": result.passages,
        "entities": result.entities,
        "tombstones": result.tombstones,
        "backups_holding_copies": list(result.backups_holding_copies),
    }


def status_form(status: NamespaceStatus) -> Json:
    """Counts and health of one namespace."""
    return {
        "name": status.name,
        "path": status.path,
        "bytes": status.bytes,
        "facts": status.facts,
        "latest": status.latest,
        "episodes": status.episodes,
        "unfinished": status.unfinished,
        "entities": status.entities,
        "schema_version": status.schema_version,
        "writable": status.writable,
        "problems": list(status.problems),
    }
