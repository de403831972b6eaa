"""What a slot holds, for resolution to plan with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import Slot, Window, WindowEvidence, WindowFact
from lean_memory.domain import Act, EndReason, EpisodeId, Instant, Modality, ModelIdentity, Polarity, Span, Trust
from lean_memory.store import search_index
from lean_memory.store.entities import same_entities

_FactRow = tuple[
    int, str, str, str, str, str, int, int, int | None, int, int, int | None, int, int | None, str | None, int, int,
]  # fmt: skip
_FACT_COLUMNS = """
    SELECT f.id, f.object, f.object_key, f.polarity, f.modality, f.trust, f.additive, f.asserted_at, f.asserted_until, e.recorded_at,
           f.valid_at, f.valid_to, f.is_latest, f.superseded_by, f.end_reason, f.span_start, e.t_ref
    FROM fact f JOIN episode e ON e.id = f.episode_id
"""
_FACT = f"""
    {_FACT_COLUMNS}
    WHERE f.subject_id = :subject AND f.predicate = :predicate AND f.struck = 0 AND f.record_kind = 'fact'
"""
_AMONG_VALUES = "AND f.object_key IN (SELECT value FROM json_each(:keys))"

_REACHING = "AND (f.valid_to IS NULL OR f.valid_to >= :since)"
# What was said before `since` and still counts then, of the facts that it began with.
_COUNTS = "({said}.{until} IS NOT NULL OR {said}.trust <> h.trust OR h.asserted_at >= :since)"
_MERGED_BEFORE = f"""
    {_FACT_COLUMNS} WHERE f.struck = 0 AND f.id IN (
        SELECT m.id FROM fact m JOIN fact h ON h.id = m.superseded_by
        WHERE m.superseded_by IN (SELECT value FROM json_each(:held)) AND m.end_reason = 'merged' AND m.asserted_at < :since
              AND {_COUNTS.format(said="m", until="asserted_until")}
    )
"""

_EvidenceRow = tuple[int, str, str, str, str, str, str, int, int, int | None, int, int | None, str, str, int, int, int]
_EVIDENCE = """
    SELECT c.id, c.act, c.object, c.object_key, c.polarity, c.modality, c.trust, c.additive, c.valid_at, c.valid_to, e.recorded_at, c.fact_id,
           c.fact_text, e.uid, c.span_start, c.span_end, e.t_ref
    FROM evidence c JOIN episode e ON e.id = c.episode_id
"""
_SINCE = _EVIDENCE + "WHERE c.subject_id = :subject AND c.predicate = :predicate AND c.valid_at >= :since AND "
_RETRACTIONS = _SINCE + "c.act = 'retract'"
_CONFIRMATIONS = _SINCE + "c.act = 'assert'"
# The plus keeps the planner on the index of the values.
_CONFIRMATIONS_OF = _SINCE + "+c.act = 'assert' AND c.object_key IN (SELECT value FROM json_each(:keys))"
_CONFIRMED_BEFORE = f"""
    {_EVIDENCE} JOIN fact h ON h.id = c.fact_id
    WHERE c.fact_id IN (SELECT value FROM json_each(:held)) AND c.act = 'assert' AND c.valid_at < :since
          AND {_COUNTS.format(said="c", until="valid_to")}
"""

_KEYS = """
    SELECT DISTINCT object_key FROM fact
    WHERE subject_id = ? AND predicate = ? AND EXISTS (SELECT 1 FROM json_each(?) mark WHERE instr(object_key, mark.value))
"""

_DUPLICATES = """
    SELECT s.id, d.object_key, s.object_key FROM fact d JOIN fact s ON s.id = d.superseded_by
    WHERE d.subject_id = ? AND d.predicate = ? AND d.end_reason = 'duplicate'
"""

_STANDING = """
    FROM fact f
    WHERE f.subject_id IN (SELECT value FROM json_each(:subjects)) AND f.predicate = :predicate AND f.struck = 0 AND f.record_kind = 'fact'
          AND (f.is_latest = 1 OR f.end_reason = 'duplicate') AND (f.valid_to IS NULL OR f.valid_to > :now)
"""
_OPEN = f"SELECT f.object_key, f.row_id {_STANDING}"
_OPEN_TOLD = f"SELECT f.object_key, f.fact_text {_STANDING}"
_MARKED = "AND EXISTS (SELECT 1 FROM json_each(:marks) mark WHERE instr(f.object_key, mark.value))"
_NEWEST = "ORDER BY f.valid_at DESC, f.id DESC LIMIT :limit"

_SEARCHED = 1_000

_Parameters = dict[str, str | int | None]


def read_window(con: apsw.Connection, slot: Slot, values: frozenset[str] | None, since: Instant) -> Window:
    """What a slot holds from `since` on; see `Window`. `values` are the object keys that matter, or `None` for all.

    Costs grow with what is open or was said since, not with the slot's history.
    """
    facts: list[WindowFact] = []
    evidence: list[WindowEvidence] = []
    keys = None if values is None else json.dumps(sorted(values))
    for subject in same_entities(con, slot.subject_key):
        given: _Parameters = {"subject": subject, "predicate": slot.predicate, "keys": keys, "since": since}
        reaching = _reaching(con, given)
        given["held"] = json.dumps([f.row for f in reaching if f.valid_at < since])
        facts += reaching + _facts(con.execute(_MERGED_BEFORE, given))
        evidence += _evidence_since(con, given) + _evidence(con.execute(_CONFIRMED_BEFORE, given))
    return Window(
        slot=slot,
        since=since,
        facts=tuple(sorted(facts, key=lambda f: (f.asserted_at, f.recorded_at, f.row))),
        evidence=tuple(sorted(evidence, key=lambda c: (c.valid_at, c.recorded_at, c.row))),
    )


def read_values(con: apsw.Connection, slot: Slot, marks: Iterable[str]) -> list[str]:
    """The object keys that the slot ever held and in which one of the marks stands."""
    sought = json.dumps(sorted(marks))
    return [
        cast("str", key)
        for subject in same_entities(con, slot.subject_key)
        for (key,) in con.execute(_KEYS, (subject, slot.predicate, sought))
    ]


def slot_of(con: apsw.Connection, fact_row: int) -> tuple[bool, str]:
    """Whether the slot of a stored fact holds one value, and the key of the fact's own."""
    functional, key = cast("tuple[int, str]", con.execute("SELECT functional, object_key FROM fact WHERE id = ?", (fact_row,)).fetchone())
    return bool(functional), key


def merged_values(con: apsw.Connection, slot: Slot, values: Iterable[str]) -> list[str]:
    """The object keys of the facts that hold on as duplicates together with facts of these values."""
    found: dict[int, set[str]] = {}
    for subject in same_entities(con, slot.subject_key):
        for survivor, own, its in cast("list[tuple[int, str, str]]", con.execute(_DUPLICATES, (subject, slot.predicate)).fetchall()):
            found.setdefault(survivor, set()).update((own, its))
    wanted = set(values)
    return sorted(key for keys in found.values() if keys & wanted for key in keys)


def open_values(con: apsw.Connection, slot: Slot, now: Instant, marks: Iterable[str]) -> list[str]:
    """The object keys that are open in a slot, in any modality, and in which one of the marks stands."""
    rows = con.execute(f"{_OPEN} {_MARKED}", _of_slot(con, slot, now) | {"marks": json.dumps(sorted(marks))})
    return [key for key, _ in cast("list[tuple[str, int]]", rows.fetchall())]


def open_values_told(con: apsw.Connection, slot: Slot, now: Instant) -> list[tuple[str, str]]:
    """The object keys that are open in a slot with the sentences that told them, newest first, of more than 1,000 the newest."""
    rows = con.execute(f"{_OPEN_TOLD} {_NEWEST}", _of_slot(con, slot, now) | {"limit": _SEARCHED})
    return cast("list[tuple[str, str]]", rows.fetchall())


def has_open_values(con: apsw.Connection, slot: Slot, now: Instant) -> bool:
    """Whether anything is open in a slot."""
    return con.execute(f"{_OPEN} LIMIT 1", _of_slot(con, slot, now)).fetchone() is not None


def nearest_values(
    con: apsw.Connection, slot: Slot, now: Instant, model: ModelIdentity, vector: NDArray[np.float32], *, floor: float
) -> list[str]:
    """The object keys open in a slot whose sentences have a cosine of `floor` with a unit vector, shape (dims,), that `model` made.

    Nearest first; those without a vector come last, newest first. Of more than 1,000, the newest 1,000.
    """
    given = _of_slot(con, slot, now) | {"limit": _SEARCHED}
    rows = cast("list[tuple[str, int]]", con.execute(f"{_OPEN} {_NEWEST}", given).fetchall())
    cosines = dict(search_index.exact(con, model, [row_id for _, row_id in rows], vector))
    near = [row for row in rows if cosines.get(row[1], floor) >= floor]
    return list(dict.fromkeys(key for key, _ in sorted(near, key=lambda row: -cosines.get(row[1], -1.0))))


def _of_slot(con: apsw.Connection, slot: Slot, now: Instant) -> _Parameters:
    return {"subjects": json.dumps(same_entities(con, slot.subject_key)), "predicate": slot.predicate, "now": now}


def _reaching(con: apsw.Connection, given: _Parameters) -> list[WindowFact]:
    if given["keys"] is not None:
        return _facts(con.execute(f"{_FACT} {_AMONG_VALUES} {_REACHING}", given))
    # Two queries, so that each is one range of the index on the ends.
    still_open = _facts(con.execute(f"{_FACT} AND f.valid_to IS NULL", given))
    return still_open + _facts(con.execute(f"{_FACT} AND f.valid_to >= :since", given))


def _evidence_since(con: apsw.Connection, given: _Parameters) -> list[WindowEvidence]:
    confirmations = _CONFIRMATIONS if given["keys"] is None else _CONFIRMATIONS_OF
    return _evidence(con.execute(_RETRACTIONS, given)) + _evidence(con.execute(confirmations, given))


def _facts(rows: apsw.Cursor) -> list[WindowFact]:
    return [
        WindowFact(
            row=r[0],
            object=r[1],
            object_key=r[2],
            polarity=Polarity(r[3]),
            modality=Modality(r[4]),
            trust=Trust(r[5]),
            additive=bool(r[6]),
            asserted_at=Instant(r[7]),
            asserted_until=None if r[8] is None else Instant(r[8]),
            recorded_at=Instant(r[9]),
            valid_at=Instant(r[10]),
            valid_to=None if r[11] is None else Instant(r[11]),
            is_latest=bool(r[12]),
            superseded_by=r[13],
            end_reason=None if r[14] is None else EndReason(r[14]),
            position=r[15],
            said_at=Instant(r[16]),
        )
        for r in cast("list[_FactRow]", rows.fetchall())
    ]


def _evidence(rows: apsw.Cursor) -> list[WindowEvidence]:
    return [
        WindowEvidence(
            row=r[0],
            act=Act(r[1]),
            object=r[2],
            object_key=r[3],
            polarity=Polarity(r[4]),
            modality=Modality(r[5]),
            trust=Trust(r[6]),
            additive=bool(r[7]),
            valid_at=Instant(r[8]),
            valid_to=None if r[9] is None else Instant(r[9]),
            recorded_at=Instant(r[10]),
            fact_row=r[11],
            fact_text=r[12],
            episode_id=EpisodeId(r[13]),
            span=Span(start=r[14], end=r[15]),
            said_at=Instant(r[16]),
        )
        for r in cast("list[_EvidenceRow]", rows.fetchall())
    ]
