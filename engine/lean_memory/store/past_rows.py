"""How the rows of the index stood at an earlier moment of system time, where that differs from how they stand now."""

from __future__ import annotations

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Instant, Modality, Tier
from lean_memory.store.visibility import ASSERTED, COLD, IS_FACT, LATEST, OPEN_END, PRESENT, STRUCK, RowArrays

_FACT_ROWS = """
SELECT f.row_id, v.valid_at, coalesce(v.valid_to, :open), f.recorded_at,
       :present | :fact | (v.is_latest <> 0) * :latest | (v.struck <> 0) * :struck
       | (v.tier = :cold_tier) * :cold | (f.modality = :asserted_modality) * :asserted
FROM fact_version v JOIN fact f ON f.id = v.fact_id
WHERE v.recorded_at <= :known_at AND v.retired_at > :known_at
"""

# A passage with rows of its own follows its facts. The ones whose facts have changed or appeared since are put together again from
# the facts as they were: open when it had none yet, or when one of them was open.
_PASSAGE_ROWS = """
WITH moved (id) AS (
    SELECT fact_id FROM fact_version WHERE retired_at > :known_at
    UNION SELECT id FROM fact WHERE recorded_at > :known_at
), passages (row_id, episode_id, span_start, span_end) AS (
    SELECT DISTINCT p.row_id, p.episode_id, p.span_start, p.span_end
    FROM moved m JOIN fact f ON f.id = m.id
    JOIN passage p ON p.episode_id = f.episode_id AND f.span_start >= p.span_start AND f.span_start < p.span_end
    JOIN index_row r ON r.id = p.row_id AND r.fact_id IS NULL
), stood (row_id, modality, struck, is_latest, valid_to) AS (
    SELECT p.row_id, f.modality, coalesce(v.struck, f.struck), coalesce(v.is_latest, f.is_latest),
           CASE WHEN v.fact_id IS NULL THEN f.valid_to ELSE v.valid_to END
    FROM passages p
    JOIN fact f ON f.episode_id = p.episode_id AND f.span_start >= p.span_start AND f.span_start < p.span_end
               AND f.recorded_at <= :known_at
    LEFT JOIN fact_version v ON v.fact_id = f.id AND v.recorded_at <= :known_at AND v.retired_at > :known_at
), closed (row_id, valid_to) AS (
    SELECT row_id, max(valid_to) FROM stood WHERE NOT struck GROUP BY row_id
    HAVING max(modality <> :asserted_modality OR is_latest) = 0
)
SELECT r.id, r.valid_at, coalesce(c.valid_to, :open), r.recorded_at,
       :present | :asserted | (c.row_id IS NULL) * :latest
FROM passages p JOIN index_row r ON r.id = p.row_id LEFT JOIN closed c ON c.row_id = r.id
"""


def known_rows(con: apsw.Connection, known_at: Instant) -> tuple[NDArray[np.int64], RowArrays]:
    """Ids and visibility, at `known_at`, of the rows that have changed since; others stand now as they stood then.

    A row recorded after `known_at` was not known at all, which `recorded_at` says by itself.
    """
    bindings = {
        "known_at": known_at,
        "open": OPEN_END,
        "present": PRESENT,
        "latest": LATEST,
        "cold": COLD,
        "struck": STRUCK,
        "asserted": ASSERTED,
        "fact": IS_FACT,
        "cold_tier": Tier.COLD.value,
        "asserted_modality": Modality.ASSERTED.value,
    }
    found = con.execute(_FACT_ROWS, bindings).fetchall() + con.execute(_PASSAGE_ROWS, bindings).fetchall()
    table = np.array(found, dtype=np.int64).reshape(-1, 5)
    arrays = RowArrays(
        valid_at=table[:, 1],
        valid_to=table[:, 2],
        recorded_at=table[:, 3],
        tokens=np.zeros(table.shape[0], dtype=np.uint16),
        asks=np.zeros(table.shape[0], dtype=np.uint8),
        flags=table[:, 4].astype(np.uint8),
    )
    return table[:, 0], arrays
