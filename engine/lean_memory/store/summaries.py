"""Summaries as they are stored: a fact with an episode of its own, tied to the facts it was made from, and retired with any of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import EndReason, EpisodeState, FactId, Instant, ModelIdentity, RecordKind, Source, Span, Tier, Trust, value_key
from lean_memory.store import search_index
from lean_memory.store.apply import INSERT_FACT, keep_version
from lean_memory.store.episodes import NewEpisode, episode_row, insert_episode, mark, passages_of
from lean_memory.store.identifiers import new_uid
from lean_memory.store.search_index import RowVisibility
from lean_memory.store.tiers import set_tier, show

_SOURCE = """
    SELECT d.fact_id, s.valid_at, min(CASE WHEN f.struck THEN s.valid_at ELSE max(coalesce(f.valid_to, ?2), s.valid_at) END)
    FROM json_each(?1) j JOIN derivation d ON d.source_id = j.value JOIN fact s ON s.id = d.fact_id JOIN fact f ON f.id = d.source_id
    WHERE s.is_latest = 1 GROUP BY d.fact_id
"""
_RESTED = """
    SELECT DISTINCT t.fact_id FROM json_each(?) j JOIN proposal_target g ON g.fact_id = j.value AND g.position < 0
    JOIN proposal p ON p.id = g.proposal_id AND p.state = 'approved' AND p.kind = 'demotion'
    JOIN proposal_target t ON t.proposal_id = p.id AND t.position >= 0
"""


def insert_summary(con: apsw.Connection, text: str, sources: Sequence[int], now: Instant, tz: str) -> tuple[int, FactId]:
    """Write a summary of stored facts of one slot, valid from now; gives its row and its id. Its vector comes later."""
    new = NewEpisode(text=text, source=Source.MAINTENANCE, t_ref=now, tz=tz, passages=(Span(start=0, end=len(text)),))
    episode = insert_episode(con, new, now)
    mark(con, episode.uid, EpisodeState.DONE)
    at = episode_row(con, episode.uid)
    slot = con.execute(
        "SELECT subject_id, predicate, max(salience) FROM fact WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(sources)),)
    ).fetchone()
    subject, predicate, salience = cast("tuple[int, str, float]", slot)
    uid = FactId(new_uid(now, 1))
    told = {
        "uid": uid,
        "subject_id": subject,
        "predicate": predicate,
        "salience": salience,
        "fact_text": text,
        "object_key": value_key(text),
    }
    times = {"asserted_at": now, "valid_at": now, "recorded_at": now, "episode_id": at, "span_end": len(text)}
    con.execute(INSERT_FACT, _STANDING | told | times)
    row = con.last_insert_rowid()
    index_row = passages_of(con, at)[0].index_row
    search_index.set_fact(con, index_row, row)
    search_index.set_visibility(con, index_row, RowVisibility(valid_at=now, valid_to=None, recorded_at=now, latest=True))
    con.execute("UPDATE fact SET row_id = ? WHERE id = ?", (index_row, row))
    con.executemany("INSERT INTO derivation (fact_id, source_id) VALUES (?, ?)", [(row, source) for source in sources])
    return row, uid


_STANDING: dict[str, str | int | float | None] = {
    "object": "",
    "object_id": None,
    "polarity": "+",
    "modality": "asserted",
    "record_kind": RecordKind.SUMMARY.value,
    "functional": 0,
    "additive": 0,
    "asserted_until": None,
    "valid_to": None,
    "retired_at": None,
    "is_latest": 1,
    "end_reason": None,
    "confidence": 1.0,
    "is_inference": 1,
    "trust": Trust.INFERRED.value,
    "tier": Tier.HOT.value,
    "span_start": 0,
    "found_by": "maintenance",
    "rule": "summary",
    "reasons": "",
}
"""What the columns of every new summary hold."""


def set_vector(con: apsw.Connection, summary: int, model: ModelIdentity, vector: NDArray[np.float32]) -> None:
    """Keep the unit vector of a summary, shape (dims,), that `model` made."""
    index_row = cast("int", con.execute("SELECT row_id FROM fact WHERE id = ?", (summary,)).get)
    search_index.set_vectors(con, model, {index_row: vector})


def note_demoted(con: apsw.Connection, summary: int, source: int) -> None:
    """Note that a source went cold because its summary says it."""
    con.execute("UPDATE derivation SET is_demoted = 1 WHERE fact_id = ? AND source_id = ?", (summary, source))


def retire_summaries(con: apsw.Connection, ended: Collection[int], now: Instant) -> list[int]:
    """Retire the summaries of facts that no longer hold, where the first of these ended, and give what they stood for its place back.

    So does what went cold because one of these facts says the same. Gives the rows of the summaries.
    """
    given = json.dumps(sorted(ended))
    warm_repeated(con, ended, now)
    found = cast("list[tuple[int, int, int]]", con.execute(_SOURCE, (given, now)).fetchall())
    for row, _, end in found:
        retire_summary(con, row, Instant(end), EndReason.OUTDATED, now)
    return [row for row, _, _ in found]


def retire_summary(con: apsw.Connection, row: int, end: Instant, reason: EndReason, now: Instant) -> list[int]:
    """End a summary; gives the sources that come back to the hot tier because of it."""
    keep_version(con, row, now)
    con.execute(
        "UPDATE fact SET is_latest = 0, valid_to = ?, end_reason = ?, retired_at = ?, version_at = ? WHERE id = ?",
        (end, reason.value, now, now, row),
    )
    show(con, row)
    return warm_sources(con, row, now)


def warm_sources(con: apsw.Connection, summary: int, now: Instant) -> list[int]:
    """Bring back to the hot tier what went cold because a summary says it."""
    demoted = con.execute("SELECT source_id FROM derivation WHERE fact_id = ? AND is_demoted = 1", (summary,)).fetchall()
    return [row for (row,) in cast("list[tuple[int]]", demoted) if set_tier(con, row, Tier.HOT, now)]


def warm_repeated(con: apsw.Connection, gone: Collection[int], now: Instant) -> list[int]:
    """Bring back to the hot tier what went cold because one of these facts says the same."""
    rows = cast("list[tuple[int]]", con.execute(_RESTED, (json.dumps(sorted(gone)),)).fetchall())
    return [row for (row,) in rows if set_tier(con, row, Tier.HOT, now)]
