"""What a ranking needs to know of the rows of the index: their text, their place in the conversation, their slot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant, Modality

_ROWS = """
SELECT r.id, f.id, p.id, e.id, e.t_ref, e.client, e.source,
       CASE WHEN f.id IS NULL THEN substr(e.text, p.span_start + 1, p.span_end - p.span_start) ELSE f.fact_text END,
       r.valid_at, f.subject_id, f.predicate, f.object_key, f.modality, f.salience
FROM json_each(?) j JOIN index_row r ON r.id = j.value
LEFT JOIN fact f ON f.id = r.fact_id
JOIN passage p ON p.id = coalesce(r.passage_id, (
    SELECT q.id FROM passage q WHERE q.episode_id = f.episode_id AND q.span_start <= f.span_start ORDER BY q.span_start DESC LIMIT 1))
JOIN episode e ON e.id = p.episode_id
"""

_BESIDE = """
SELECT p.id, p.row_id FROM json_each(?) j JOIN passage p ON p.id = j.value
"""

_SLOT_ROWS = """
SELECT f.row_id FROM fact f
WHERE f.subject_id IN (SELECT value FROM json_each(?)) AND f.predicate IN (SELECT value FROM json_each(?))
ORDER BY f.valid_at DESC, f.id DESC LIMIT ?
"""

_ENTITIES = """
SELECT coalesce(a.entity_id, n.id) FROM entity n LEFT JOIN entity_alias a ON a.alias_id = n.id
WHERE n.name_key IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRow:
    """A row of the index as a ranking sees it."""

    row_id: int
    fact: int | None
    """The row number of the fact it stands for; `None` for a passage."""
    passage: int
    """The passage it is, or was taken from; passages are numbered in the order they were said."""
    episode: int
    said_at: Instant
    client: str | None
    source: str
    text: str
    valid_at: Instant
    subject: int | None
    """The number of the entity a fact is about."""
    predicate: str | None
    object_key: str | None
    modality: Modality
    salience: float


def search_rows(con: apsw.Connection, row_ids: Iterable[int]) -> list[SearchRow]:
    """The rows with those ids, as far as they exist, in no promised order."""
    return [_row(cast("tuple[object, ...]", found)) for found in con.execute(_ROWS, (_json(row_ids),))]


def passage_rows(con: apsw.Connection, passages: Iterable[int]) -> dict[int, int]:
    """The index rows of those passages that exist, by passage."""
    return dict(cast("list[tuple[int, int]]", con.execute(_BESIDE, (_json(passages),)).fetchall()))


def slot_rows(con: apsw.Connection, subjects: Iterable[int], predicates: Iterable[str], limit: int) -> list[int]:
    """Index rows of the facts of some subjects and predicates, whatever their visibility, newest first."""
    found = con.execute(_SLOT_ROWS, (_json(subjects), json.dumps(list(predicates)), limit))
    return [cast("int", row) for (row,) in found]


def entities_named(con: apsw.Connection, name_keys: Sequence[str]) -> set[int]:
    """The numbers of the entities that bear one of the names, aliases resolved."""
    return {cast("int", entity) for (entity,) in con.execute(_ENTITIES, (json.dumps(name_keys),))}


def _row(found: tuple[object, ...]) -> SearchRow:
    row_id, fact, passage, episode, said_at, client, source, text, valid_at, subject, predicate, object_key, modality, salience = found
    return SearchRow(
        row_id=cast("int", row_id),
        fact=cast("int | None", fact),
        passage=cast("int", passage),
        episode=cast("int", episode),
        said_at=Instant(cast("int", said_at)),
        client=cast("str | None", client),
        source=cast("str", source),
        text=cast("str", text),
        valid_at=Instant(cast("int", valid_at)),
        subject=cast("int | None", subject),
        predicate=cast("str | None", predicate),
        object_key=cast("str | None", object_key),
        modality=Modality.ASSERTED if modality is None else Modality(str(modality)),
        salience=_PASSAGE_SALIENCE if salience is None else cast("float", salience),
    )


_PASSAGE_SALIENCE = 5.0


def _json(numbers: Iterable[int]) -> str:
    return f"[{','.join(str(int(number)) for number in numbers)}]"
