"""The facts that a rule of retention speaks of."""

from __future__ import annotations

import apsw

from lean_memory.domain import Fact, Instant
from lean_memory.store.rows import CURRENT_FACT, KEPT_HOT, facts_of

# The last word counts: of the fact itself, of whoever said it again, and of what was merged into it.
_OLD = f"""
    {CURRENT_FACT}
    WHERE f.is_latest = 1 AND f.struck = 0 AND f.record_kind = 'fact' AND (f.valid_to IS NULL OR f.valid_to > :now)
          AND f.recorded_at < :before AND f.valid_at < :before AND (NOT :hot OR f.tier = 'hot')
          AND NOT EXISTS (SELECT 1 FROM evidence c WHERE c.fact_id = f.id AND c.act = 'assert' AND c.recorded_at >= :before)
          AND NOT EXISTS (
              SELECT 1 FROM fact d WHERE d.superseded_by = f.id AND d.end_reason = 'duplicate' AND (d.recorded_at >= :before
              OR EXISTS (SELECT 1 FROM evidence c WHERE c.fact_id = d.id AND c.act = 'assert' AND c.recorded_at >= :before))
          )
          AND NOT EXISTS (SELECT 1 FROM proposal_target t JOIN proposal p ON p.id = t.proposal_id WHERE t.fact_id = f.id AND p.state = 'pending')
          AND (NOT :hot OR f.id NOT IN ({KEPT_HOT}))
"""
_OF_CLIENT = """
          AND e.client = :client
          AND NOT EXISTS (
              SELECT 1 FROM evidence c JOIN episode o ON o.id = c.episode_id
              WHERE c.fact_id = f.id AND c.act = 'assert' AND o.client IS NOT :client
          )
          AND NOT EXISTS (
              SELECT 1 FROM fact d JOIN episode o ON o.id = d.episode_id
              WHERE d.superseded_by = f.id AND d.end_reason = 'duplicate' AND (o.client IS NOT :client OR EXISTS (
                  SELECT 1 FROM evidence c JOIN episode b ON b.id = c.episode_id
                  WHERE c.fact_id = d.id AND c.act = 'assert' AND b.client IS NOT :client
              ))
          )
"""


def old_facts(con: apsw.Connection, namespace: str, *, client: str | None, before: Instant, now: Instant, only_hot: bool) -> list[Fact]:
    """Latest facts that were begun, recorded and said again last before a moment, the oldest first; of a client, those nobody else has said.

    Those that wait in a proposal are left out; with `only_hot` so is what was put away already, and what the person wants kept hot.
    """
    given = {"before": before, "now": now, "hot": only_hot, "client": client}
    query = f"{_OLD}{'' if client is None else _OF_CLIENT} ORDER BY f.recorded_at, f.id"
    return [stored.fact for stored in facts_of(con.execute(query, given), namespace)]
