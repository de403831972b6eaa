"""Tallies of what was served, in a table beside everything that answers: maintenance reads them, ranking never does."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from lean_memory.domain import FactId, Instant


def add_tallies(con: apsw.Connection, served: Mapping[FactId, tuple[int, Instant]]) -> None:
    """Add how often facts were served, and when last; those that are gone by now are passed over."""
    con.executemany(
        """
        INSERT INTO access (fact_id, served, last_at) SELECT f.id, ?2, ?3 FROM fact f WHERE f.uid = ?1
        ON CONFLICT (fact_id) DO UPDATE SET served = served + excluded.served, last_at = max(last_at, excluded.last_at)
        """,
        [(fact_id, times, last_at) for fact_id, (times, last_at) in served.items()],
    )
