"""How facts and passages stand, kept in step with what the search index may show of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant, Modality, Tier
from lean_memory.store import search_index
from lean_memory.store.search_index import RowVisibility

_FACT = "SELECT row_id, valid_at, valid_to, recorded_at, is_latest, tier, struck, modality FROM fact WHERE id = ?"

# A merged fact stands as the one that it was merged into; a passage that only confirms a fact stands as that fact.
_SAID_IN_PASSAGE = """
    SELECT coalesce(h.valid_to, CASE WHEN h.id IS NULL THEN f.valid_to END), coalesce(h.is_latest, f.is_latest),
           coalesce(h.struck, f.struck), coalesce(h.tier, f.tier)
    FROM (SELECT id FROM fact WHERE episode_id = :episode AND span_start >= :start AND span_start < :end
          UNION
          SELECT fact_id FROM evidence
          WHERE episode_id = :episode AND span_start >= :start AND span_start < :end AND act IN ('assert', 'echo') AND fact_id IS NOT NULL) said
    JOIN fact f ON f.id = said.id
    LEFT JOIN fact h ON f.end_reason IN ('merged', 'duplicate') AND h.id = f.superseded_by
"""

_PASSAGES_ABOUT = """
    WITH told AS (
        SELECT episode_id, span_start FROM fact WHERE id = ?1
        UNION SELECT episode_id, span_start FROM evidence WHERE fact_id = ?1 AND act IN ('assert', 'echo')
        UNION SELECT episode_id, span_start FROM fact WHERE superseded_by = ?1 AND end_reason IN ('merged', 'duplicate')
    )
    SELECT DISTINCT p.id FROM told t JOIN passage p ON p.episode_id = t.episode_id AND p.span_start <= t.span_start AND p.span_end > t.span_start
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How something that a passage says stands."""

    valid_to: Instant | None
    is_latest: bool
    struck: bool
    cold: bool


def fact_visibility(con: apsw.Connection, fact_row: int) -> tuple[int, RowVisibility]:
    """The index row of a fact, and how it may be found."""
    return visibility_of(cast("FactRow", con.execute(_FACT, (fact_row,)).fetchone()))


FactRow = tuple[int, int, int | None, int, int, str, int, str]
"""The columns of `visibility_of`, in order."""


def visibility_of(row: FactRow) -> tuple[int, RowVisibility]:
    """An index row and how it may be found, from a fact's (or its version's) row_id, valid_at … modality."""
    index_row, valid_at, valid_to, recorded_at, is_latest, tier, struck, modality = row
    visibility = RowVisibility(
        valid_at=Instant(valid_at),
        valid_to=None if valid_to is None else Instant(valid_to),
        recorded_at=Instant(recorded_at),
        latest=bool(is_latest),
        cold=tier == Tier.COLD.value,
        struck=bool(struck),
        asserted=modality == Modality.ASSERTED.value,
    )
    return index_row, visibility


def refresh_fact_row(con: apsw.Connection, fact_row: int) -> None:
    """Let the index show a fact as it stands now."""
    index_row, visibility = fact_visibility(con, fact_row)
    search_index.set_visibility(con, index_row, visibility)


def passages_about(con: apsw.Connection, fact_row: int) -> list[int]:
    """The passages in which a fact was said: first, again, or in the words of one merged into it."""
    return [row[0] for row in cast("list[tuple[int]]", con.execute(_PASSAGES_ABOUT, (fact_row,)).fetchall())]


def refresh_passage(con: apsw.Connection, passage_row: int) -> None:
    """Let the index show a passage while something that it says is current, or nothing was made of it.

    A passage that is itself a fact's row is shown as the fact is.
    """
    found = con.execute(
        """
        SELECT p.row_id, p.episode_id, p.span_start, p.span_end, e.t_ref, e.recorded_at
        FROM passage p JOIN episode e ON e.id = p.episode_id JOIN index_row r ON r.id = p.row_id
        WHERE p.id = ? AND r.fact_id IS NULL
        """,
        (passage_row,),
    ).fetchone()
    if found is None:
        return
    index_row, episode, start, end, t_ref, recorded_at = cast("tuple[int, int, int, int, int, int]", found)
    said = _said(con, episode, start, end)
    search_index.set_visibility(con, index_row, passage_visibility(said, Instant(t_ref), Instant(recorded_at)))


def _said(con: apsw.Connection, episode: int, start: int, end: int) -> list[Said]:
    rows = con.execute(_SAID_IN_PASSAGE, {"episode": episode, "start": start, "end": end}).fetchall()
    return [
        Said(
            valid_to=None if valid_to is None else Instant(valid_to),
            is_latest=bool(is_latest),
            struck=bool(struck),
            cold=tier == Tier.COLD.value,
        )
        for valid_to, is_latest, struck, tier in cast("list[tuple[int | None, int, int, str]]", rows)
    ]


def passage_visibility(said: Sequence[Said], t_ref: Instant, recorded_at: Instant) -> RowVisibility:
    """How a passage may be found that says these things: while one of them is current, or always where it says nothing."""
    true = [s for s in said if not s.struck]
    live = [s for s in true if s.is_latest]
    if not said:
        return RowVisibility(valid_at=t_ref, valid_to=None, recorded_at=recorded_at, latest=True)
    ends = [s.valid_to for s in live or true]
    known = [end for end in ends if end is not None]
    # Where all of it was corrected, it was never so: it holds over no time at all.
    end = None if len(known) < len(ends) else max(known, default=t_ref)
    return RowVisibility(
        valid_at=t_ref,
        valid_to=end,
        recorded_at=recorded_at,
        latest=bool(live),
        cold=bool(live) and all(s.cold for s in live),
    )
