"""Slots that hold one value at a time: what may not hold at once in them, and how it is parted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import cast

import apsw

from lean_memory.domain import EndReason, Instant
from lean_memory.store.apply import keep_version
from lean_memory.store.standing import refresh_fact_row

_IN_SLOTS = "AND (subject_id, predicate) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"


def _overlapping(among: str = "") -> str:
    return f"""
        SELECT id, uid, next_id, next FROM (
            SELECT id, uid, valid_at, valid_to, lead(valid_at) OVER one AS next, lead(id) OVER one AS next_id
            FROM fact
            WHERE functional = 1 AND additive = 0 AND struck = 0 AND modality = 'asserted' AND polarity = '+' AND record_kind = 'fact'
                  AND (valid_to IS NULL OR valid_to > valid_at)
                  AND NOT EXISTS (SELECT 1 FROM evidence c WHERE c.fact_id = fact.id AND (c.additive = 1 OR c.trust <> fact.trust)) {among}
            WINDOW one AS (PARTITION BY subject_id, predicate, trust ORDER BY valid_at, recorded_at, id)
        ) WHERE next IS NOT NULL AND (valid_to IS NULL OR valid_to > next)
    """


OVERLAPS = f"SELECT uid FROM ({_overlapping()})"
"""Facts that hold on where the next of equal trust holds in the same slot.

Beside what was said in addition, or confirmed by somebody of another trust, the next may stand.
"""


def part(con: apsw.Connection, slots: Iterable[tuple[int, str]], now: Instant) -> set[int]:
    """End each fact of these slots, by subject and predicate, where the next begins; gives those that stand otherwise now.

    What only let them stand side by side, a confirmation that somebody of another trust gave, was erased.
    """
    found = con.execute(_overlapping(_IN_SLOTS), (json.dumps(sorted(set(slots))),)).fetchall()
    overlapping = cast("list[tuple[int, str, int, int]]", found)
    for row, _, following, begins in overlapping:
        keep_version(con, row, now)
        con.execute(
            """
            UPDATE fact SET valid_to = ?2, superseded_by = ?3, end_reason = ?4, retired_at = coalesce(retired_at, ?5), is_latest = 0, version_at = ?5
            WHERE id = ?1
            """,
            (row, begins, following, EndReason.SUPERSEDED.value, now),
        )
        refresh_fact_row(con, row)
    return {row for row, _, _, _ in overlapping}
