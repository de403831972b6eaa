"""What a maintenance run looks at, read from one snapshot of the file: facts, vectors, entities, what was served, what waits or is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Fact, FactId, Instant, ModelIdentity
from lean_memory.store import proposal_rows, search_index
from lean_memory.store.rows import FACT_COLUMNS, KEPT_HOT, StoredFact, facts_of
from lean_memory.store.search_index import GROUP

_LATEST = f"""
    SELECT {FACT_COLUMNS}
    FROM fact f JOIN entity s ON s.id = coalesce((SELECT a.entity_id FROM entity_alias a WHERE a.alias_id = f.subject_id), f.subject_id)
    JOIN episode e ON e.id = f.episode_id LEFT JOIN fact n ON n.id = f.superseded_by
    WHERE f.is_latest = 1 AND f.struck = 0 AND f.tier = 'hot' AND (f.valid_to IS NULL OR f.valid_to > :now)
    ORDER BY f.recorded_at, f.id
"""
_FAINT = f"""
    SELECT {FACT_COLUMNS}
    FROM fact f JOIN entity s ON s.id = f.subject_id JOIN episode e ON e.id = f.episode_id LEFT JOIN fact n ON n.id = f.superseded_by
    WHERE f.is_latest = 1 AND f.tier = 'hot' AND f.salience < 2 AND f.recorded_at < :before AND f.valid_at < :before
          AND f.salience < :salience AND f.struck = 0 AND (f.valid_to IS NULL OR f.valid_to > :now) AND f.functional = 0 AND f.record_kind = 'fact' AND f.modality = 'asserted'
          AND NOT EXISTS (SELECT 1 FROM access a WHERE a.fact_id = f.id) AND f.id NOT IN ({KEPT_HOT})
          AND NOT EXISTS (SELECT 1 FROM evidence c WHERE c.fact_id = f.id AND c.recorded_at >= :before AND c.act = 'assert')
          AND NOT EXISTS (SELECT 1 FROM proposal_target t JOIN proposal p ON p.id = t.proposal_id WHERE t.fact_id = f.id AND p.state = 'pending')
          AND NOT EXISTS (
              SELECT 1 FROM fact d WHERE d.superseded_by = f.id AND d.end_reason = 'duplicate' AND d.valid_to IS NULL
              AND (d.salience >= :salience OR d.recorded_at >= :before OR d.valid_at >= :before OR EXISTS (SELECT 1 FROM access a WHERE a.fact_id = d.id)
                   OR EXISTS (SELECT 1 FROM evidence c WHERE c.fact_id = d.id AND c.recorded_at >= :before AND c.act = 'assert'))
          )
    ORDER BY f.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How often a fact was served, and when last."""

    times: int
    last_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """An entity that facts are about or name, with its aliases."""

    name: str
    type: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A namespace at one moment, as far as maintenance cares; hot latest facts, the one recorded first comes first."""

    facts: tuple[Fact, ...]
    vectors: NDArray[np.float32]
    """Shape (len(facts), dims); zeros where a fact has none."""
    served: dict[FactId, Served]
    """What was merged into a fact was served for it."""
    said: dict[FactId, Instant]
    """When facts were said again last, where they were, also in the words of one that was merged into them."""
    entities: tuple[NamedEntity, ...]
    held: frozenset[FactId]
    hot: frozenset[FactId]
    """Those the person wants kept hot,"""
    apart: frozenset[FactId]
    """and those the person wants kept apart."""
    asked: frozenset[FactId]
    """Those that stand in a proposal of whatever state: only of them the person may have been asked before."""
    refused: tuple[frozenset[FactId], ...]
    """Those that the person decided not to merge with each other."""


def read_picture(con: apsw.Connection, namespace: str, model: ModelIdentity, now: Instant) -> Picture:
    """The picture, in the caller's snapshot. Costs grow linearly with the facts."""
    stored = facts_of(con.execute(_LATEST, {"now": now}), namespace)
    return Picture(
        facts=tuple(each.fact for each in stored),
        vectors=_vectors(con, model, [each.row for each in stored]),
        served=_served(con),
        said=_said_again(con),
        entities=_entities(con),
        held=_ids(
            con,
            "SELECT f.uid FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id JOIN fact f ON f.id = t.fact_id WHERE p.state = 'pending'",
        ),
        asked=_ids(con, "SELECT f.uid FROM proposal_target t JOIN fact f ON f.id = t.fact_id"),
        refused=tuple(proposal_rows.refused_merges(con)),
        hot=_ids(con, f"SELECT f.uid FROM fact f WHERE f.id IN ({KEPT_HOT})"),
        apart=_ids(con, "SELECT f.uid FROM kept k JOIN fact f ON f.id = k.fact_id WHERE k.how = 'apart'"),
    )


def faint_facts(con: apsw.Connection, namespace: str, *, salience: float, before: Instant, now: Instant) -> list[StoredFact]:
    """Latest hot facts that hold at `now`, of little salience (at most 2), in slots of many values, neither recorded, begun nor said again since `before`.

    None of them was ever served, waits in a proposal, or is kept by the person; and the same goes for what was merged into it.
    """
    return facts_of(con.execute(_FAINT, {"before": before, "salience": salience, "now": now}), namespace)


def _vectors(con: apsw.Connection, model: ModelIdentity, rows: list[int]) -> NDArray[np.float32]:
    vectors = np.zeros((len(rows), model.dims), dtype=np.float32)
    number = search_index.model_number(con, model)
    if number is None:
        return vectors
    place = {row: at for at, row in enumerate(rows)}
    index_rows = cast("list[tuple[int, int]]", con.execute("SELECT row_id, id FROM fact WHERE is_latest = 1 AND tier = 'hot'").fetchall())
    at = np.full(max((index_row for index_row, _ in index_rows), default=0) + GROUP + 1, -1, dtype=np.int64)
    for index_row, row in index_rows:
        at[index_row] = place.get(row, -1)
    last = (at.shape[0] - 1) // GROUP
    for blob_id, content in con.execute(f"SELECT id, rows FROM embedding_{number:d} WHERE id < ? ORDER BY id", (last,)):
        places = at[blob_id * GROUP : (blob_id + 1) * GROUP]
        there = np.flatnonzero(places >= 0)
        if there.shape[0]:
            vectors[places[there]] = np.frombuffer(content, dtype="<f4").reshape(GROUP, -1)[there]
    return vectors


def _served(con: apsw.Connection) -> dict[FactId, Served]:
    rows = con.execute(
        """
        SELECT s.uid, sum(a.served), max(a.last_at) FROM access a JOIN fact f ON f.id = a.fact_id
        JOIN fact s ON s.id = CASE f.end_reason WHEN 'duplicate' THEN f.superseded_by ELSE f.id END GROUP BY s.id
        """
    ).fetchall()
    return {FactId(uid): Served(times=times, last_at=Instant(last)) for uid, times, last in cast("list[tuple[str, int, int]]", rows)}


def _said_again(con: apsw.Connection) -> dict[FactId, Instant]:
    rows = con.execute(
        """
        SELECT s.uid, max(t.at) FROM (
            SELECT fact_id, recorded_at AS at FROM evidence WHERE act = 'assert' AND fact_id IS NOT NULL
            UNION ALL SELECT id, recorded_at FROM fact WHERE end_reason = 'duplicate'
        ) t JOIN fact f ON f.id = t.fact_id
        JOIN fact s ON s.id = CASE f.end_reason WHEN 'duplicate' THEN f.superseded_by ELSE f.id END GROUP BY s.id
        """
    ).fetchall()
    return {FactId(uid): Instant(at) for uid, at in cast("list[tuple[str, int]]", rows)}


def _entities(con: apsw.Connection) -> tuple[NamedEntity, ...]:
    rows = con.execute(
        """
        SELECT e.name, e.type, (SELECT json_group_array(o.name) FROM entity_alias a JOIN entity o ON o.id = a.alias_id WHERE a.entity_id = e.id)
        FROM entity e WHERE NOT EXISTS (SELECT 1 FROM entity_alias a WHERE a.alias_id = e.id)
              AND (EXISTS (SELECT 1 FROM fact f WHERE f.subject_id = e.id) OR EXISTS (SELECT 1 FROM fact f WHERE f.object_id = e.id))
        ORDER BY e.id
        """
    ).fetchall()
    return tuple(
        NamedEntity(name=name, type=type_, aliases=tuple(cast("list[str]", json.loads(aliases))))
        for name, type_, aliases in cast("list[tuple[str, str, str]]", rows)
    )


def _ids(con: apsw.Connection, query: str) -> frozenset[FactId]:
    return frozenset(FactId(uid) for (uid,) in cast("list[tuple[str]]", con.execute(query).fetchall()))
