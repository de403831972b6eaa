"""How the rows of the index stood at an earlier moment of system time, where that may differ from how they stand now."""

from __future__ import annotations

from collections import defaultdict
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Instant, Tier
from lean_memory.store.search_index import RowVisibility, flags_of
from lean_memory.store.standing import FactRow, Said, passage_visibility, visibility_of
from lean_memory.store.visibility import IS_FACT, OPEN_END, RowArrays

_FACTS = """
SELECT f.row_id, v.valid_at, v.valid_to, f.recorded_at, v.is_latest, v.tier, v.struck, f.modality
FROM fact_version v JOIN fact f ON f.id = v.fact_id
WHERE v.recorded_at <= :known_at AND v.retired_at > :known_at
"""

# The passages with rows of their own that say something which has changed or was learned since, with all that they said by then and
# how it stood. A merged fact stood as the one it was merged into, as in `standing`.
_PASSAGES = """
WITH moved (id) AS (
    SELECT fact_id FROM fact_version WHERE retired_at > :known_at
    UNION SELECT id FROM fact WHERE recorded_at > :known_at
    UNION SELECT fact_id FROM evidence WHERE recorded_at > :known_at AND fact_id IS NOT NULL
), told (episode_id, span_start) AS (
    SELECT f.episode_id, f.span_start FROM moved m JOIN fact f ON f.id = m.id OR (f.superseded_by = m.id AND f.end_reason IN ('merged', 'duplicate'))
    UNION SELECT c.episode_id, c.span_start FROM moved m JOIN evidence c ON c.fact_id = m.id
    UNION SELECT c.episode_id, c.span_start FROM evidence_link l JOIN evidence c ON c.id = l.evidence_id WHERE l.retired_at > :known_at
), about (id, row_id, episode_id, span_start, span_end) AS (
    SELECT DISTINCT p.id, p.row_id, p.episode_id, p.span_start, p.span_end
    FROM told t JOIN passage p ON p.episode_id = t.episode_id AND p.span_start <= t.span_start AND p.span_end > t.span_start
    JOIN index_row r ON r.id = p.row_id AND r.fact_id IS NULL
), said (passage_id, fact_id) AS (
    SELECT a.id, f.id FROM about a JOIN fact f ON f.episode_id = a.episode_id AND f.span_start >= a.span_start AND f.span_start < a.span_end
    UNION
    SELECT a.id, coalesce(
        (SELECT l.fact_id FROM evidence_link l WHERE l.evidence_id = c.id AND l.retired_at > :known_at ORDER BY l.retired_at LIMIT 1), c.fact_id
    ) FROM about a
    JOIN evidence c ON c.episode_id = a.episode_id AND c.span_start >= a.span_start AND c.span_start < a.span_end
    WHERE c.act IN ('assert', 'echo') AND c.recorded_at <= :known_at
), stood (id, valid_to, is_latest, struck, tier, superseded_by, end_reason) AS (
    SELECT f.id, CASE WHEN v.fact_id IS NULL THEN f.valid_to ELSE v.valid_to END, coalesce(v.is_latest, f.is_latest),
           coalesce(v.struck, f.struck), coalesce(v.tier, f.tier),
           CASE WHEN v.fact_id IS NULL THEN f.superseded_by ELSE v.superseded_by END,
           CASE WHEN v.fact_id IS NULL THEN f.end_reason ELSE v.end_reason END
    FROM fact f LEFT JOIN fact_version v ON v.fact_id = f.id AND v.recorded_at <= :known_at AND v.retired_at > :known_at
    WHERE f.recorded_at <= :known_at
)
SELECT a.row_id, e.t_ref, e.recorded_at, s.id IS NOT NULL, CASE WHEN h.id IS NULL THEN s.valid_to ELSE h.valid_to END,
       coalesce(h.is_latest, s.is_latest), coalesce(h.struck, s.struck), coalesce(h.tier, s.tier)
FROM about a JOIN episode e ON e.id = a.episode_id
LEFT JOIN said d ON d.passage_id = a.id
LEFT JOIN stood s ON s.id = d.fact_id
LEFT JOIN stood h ON s.end_reason IN ('merged', 'duplicate') AND h.id = s.superseded_by
"""

_PassageRow = tuple[int, int, int, int, int | None, int, int, str]


def known_rows(con: apsw.Connection, known_at: Instant) -> tuple[NDArray[np.int64], RowArrays]:
    """Ids and visibility, as at `known_at`, of the rows that may have changed since; the others stand as they stood then.

    A row recorded after `known_at` was not known at all, which its `recorded_at` says by itself.
    """
    rows = _passages(con, known_at) | _facts(con, known_at)
    numbers = np.array(list(rows.values()), dtype=np.int64).reshape(-1, 4)
    arrays = RowArrays(
        valid_at=numbers[:, 0],
        valid_to=numbers[:, 1],
        recorded_at=numbers[:, 2],
        tokens=np.zeros(len(rows), dtype=np.uint16),
        asks=np.zeros(len(rows), dtype=np.uint8),
        flags=numbers[:, 3].astype(np.uint8),
    )
    return np.array(list(rows), dtype=np.int64), arrays


_Numbers = tuple[int, int, int, int]


def _facts(con: apsw.Connection, known_at: Instant) -> dict[int, _Numbers]:
    rows = cast("list[FactRow]", con.execute(_FACTS, {"known_at": known_at}).fetchall())
    return {index_row: _numbers(visibility, IS_FACT) for index_row, visibility in map(visibility_of, rows)}


def _passages(con: apsw.Connection, known_at: Instant) -> dict[int, _Numbers]:
    rows = cast("list[_PassageRow]", con.execute(_PASSAGES, {"known_at": known_at}).fetchall())
    said: dict[tuple[int, int, int], list[Said]] = defaultdict(list)
    for row_id, t_ref, recorded_at, anything, valid_to, is_latest, struck, tier in rows:
        things = said[row_id, t_ref, recorded_at]
        if anything:
            end = None if valid_to is None else Instant(valid_to)
            things.append(Said(valid_to=end, is_latest=bool(is_latest), struck=bool(struck), cold=tier == Tier.COLD.value))
    return {
        row_id: _numbers(passage_visibility(things, Instant(t_ref), Instant(recorded_at)), 0)
        for (row_id, t_ref, recorded_at), things in said.items()
    }


def _numbers(visibility: RowVisibility, extra: int) -> _Numbers:
    end = OPEN_END if visibility.valid_to is None else visibility.valid_to
    return visibility.valid_at, end, visibility.recorded_at, flags_of(visibility) | extra
