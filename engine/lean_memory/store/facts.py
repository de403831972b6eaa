"""Reading facts: what holds now, what held then, what was believed then, and how a fact came about and ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import EndReason, Fact, FactId, HistoryEntry, Instant, Modality, Visibility, name_key
from lean_memory.errors import NotFoundError, quoted
from lean_memory.store.entities import same_entities
from lean_memory.store.rows import CURRENT_FACT, FACT_KNOWN_AT, KNOWN, StoredFact, facts_of
from lean_memory.store.visibility import holds_now

_NOW = {column: f"f.{column}" for column in KNOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFilter:
    """Which facts are asked for; `None` leaves a question open."""

    subject: str | None = None
    predicate: str | None = None
    modalities: frozenset[Modality] | None = None
    limit: int | None = None


def read_facts(con: apsw.Connection, namespace: str, wanted: FactFilter, visibility: Visibility) -> list[Fact]:
    """The facts that `visibility` lets through, newest `valid_at` first, then the one recorded later.

    Struck facts (never so) are shown where the history is asked for, by the end "corrected", and to `known_at` a moment before they were
    struck; at no moment `as_of` were they so.
    """
    conditions, given = _seen(visibility)
    conditions += _asked(con, wanted, given)
    query = CURRENT_FACT if visibility.known_at is None else FACT_KNOWN_AT
    valid_at = _columns(visibility)["valid_at"]
    limit = "" if wanted.limit is None else f"LIMIT {wanted.limit:d}"
    rows = con.execute(f"{query} WHERE {' AND '.join(conditions)} ORDER BY {valid_at} DESC, f.recorded_at DESC, f.id DESC {limit}", given)
    return [stored.fact for stored in facts_of(rows, namespace)]


def partly_over(con: apsw.Connection, fact_ids: Iterable[FactId], moment: Instant) -> set[FactId]:
    """Those of the facts whose sentence says something else as well that was over at a moment, or was never so."""
    found = con.execute(
        """
        SELECT f.uid FROM json_each(?1) j JOIN fact f ON f.uid = j.value
        WHERE EXISTS (
            SELECT 1 FROM fact g WHERE g.episode_id = f.episode_id AND g.fact_text = f.fact_text AND g.id <> f.id AND (g.struck = 1 OR g.valid_to <= ?2)
              AND g.end_reason <> 'merged'
        )
        """,
        (json.dumps(list(fact_ids)), moment),
    )
    return {FactId(uid) for (uid,) in cast("list[tuple[str]]", found.fetchall())}


def read_fact(con: apsw.Connection, namespace: str, fact_id: FactId) -> Fact:
    """A fact by its id, however it stands."""
    return stored_fact(con, namespace, fact_id).fact


def find_fact(con: apsw.Connection, namespace: str, fact_id: FactId) -> StoredFact | None:
    """A fact by its id, with its row, if it is there."""
    found = facts_of(con.execute(f"{CURRENT_FACT} WHERE f.uid = ?", (fact_id,)), namespace)
    return found[0] if found else None


def stored_fact(con: apsw.Connection, namespace: str, fact_id: FactId) -> StoredFact:
    """A fact by its id, with its row."""
    found = find_fact(con, namespace, fact_id)
    if found is None:
        raise NotFoundError(f"There is no fact {quoted(fact_id)} in the namespace “{quoted(namespace)}”; it may have been forgotten.")
    return found


def read_history(con: apsw.Connection, namespace: str, fact_id: FactId) -> list[HistoryEntry]:
    """The chain that a fact belongs to, oldest first: all that led to it, and what came after it, up to the end."""
    start = stored_fact(con, namespace, fact_id).row
    rows = con.execute(
        f"""
        WITH RECURSIVE
            after (id) AS (SELECT ?1 UNION SELECT f.superseded_by FROM fact f JOIN after a ON f.id = a.id WHERE f.superseded_by IS NOT NULL),
            before (id) AS (SELECT ?1 UNION SELECT f.id FROM fact f JOIN before b ON f.superseded_by = b.id)
        {CURRENT_FACT} WHERE f.id IN (SELECT id FROM after UNION SELECT id FROM before)
        ORDER BY f.valid_at, f.recorded_at, f.id
        """,
        (start,),
    )
    return [_entry(con, stored) for stored in facts_of(rows, namespace)]


def _entry(con: apsw.Connection, stored: StoredFact) -> HistoryEntry:
    fact = stored.fact
    confirmed = con.execute(
        "SELECT e.t_ref FROM evidence c JOIN episode e ON e.id = c.episode_id WHERE c.fact_id = ? AND c.act = 'assert' ORDER BY e.t_ref, c.id",
        (stored.row,),
    )
    return HistoryEntry(
        fact=fact,
        reason=fact.end_reason if not fact.is_latest or fact.end_reason is EndReason.ENDED else None,
        source_text=source_text(con, fact),
        confirmed_at=tuple(Instant(row[0]) for row in cast("list[tuple[int]]", confirmed.fetchall())),
    )


def source_text(con: apsw.Connection, fact: Fact) -> str:
    """The sentence that a fact came from."""
    if fact.span is None:
        return fact.fact_text
    text = con.execute(
        "SELECT substr(text, ?, ?) FROM episode WHERE uid = ?", (fact.span.start + 1, fact.span.end - fact.span.start, fact.episode_id)
    ).get
    # Empty where the sentence was erased because of something else that it said.
    return cast("str", text) or fact.fact_text


def _columns(visibility: Visibility) -> dict[str, str]:
    return _NOW if visibility.known_at is None else KNOWN


_Given = dict[str, str | int | None]


def _seen(visibility: Visibility) -> tuple[list[str], _Given]:
    """What `visibility` demands of a fact. Interval ends are exclusive; what was believed at a moment is judged by that moment."""
    column = _columns(visibility)
    conditions = [f"{column['struck']} = 0"] if visibility.as_of is not None or visibility.latest_only else ["1"]
    given: _Given = {}
    moment = visibility.now
    if visibility.known_at is not None:
        conditions.append("f.recorded_at <= :known_at")
        given["known_at"] = moment = visibility.known_at
    if visibility.as_of is not None:
        conditions.append(f"{column['valid_at']} <= :as_of AND ({column['valid_to']} IS NULL OR {column['valid_to']} > :as_of)")
        given["as_of"] = visibility.as_of
    elif visibility.latest_only:
        conditions.append(holds_now(column))
        given["moment"] = moment
        if not visibility.include_cold:
            conditions.append(f"{column['tier']} = 'hot'")
    return conditions, given


def _asked(con: apsw.Connection, wanted: FactFilter, given: _Given) -> list[str]:
    conditions: list[str] = []
    if wanted.subject is not None:
        given["subjects"] = json.dumps(same_entities(con, name_key(wanted.subject)))
        conditions.append("f.subject_id IN (SELECT value FROM json_each(:subjects))")
    if wanted.predicate is not None:
        given["predicate"] = wanted.predicate
        conditions.append("f.predicate = :predicate")
    if wanted.modalities is not None:
        given["modalities"] = json.dumps(sorted(m.value for m in wanted.modalities))
        conditions.append("f.modality IN (SELECT value FROM json_each(:modalities))")
    return conditions
