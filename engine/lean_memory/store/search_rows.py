"""What a ranking needs to know of the rows of the index: their place in the conversation, their slot, their weight."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Instant

_ROWS = """
SELECT r.id, p.id, e.id, e.t_ref, coalesce(f.asserted_at, r.valid_at), f.id IS NOT NULL, coalesce(f.modality = 'asserted', 1), e.source = 'assistant',
       f.id IS NULL AND EXISTS (
           SELECT 1 FROM evidence c WHERE c.episode_id = e.id AND c.act = 'retract' AND c.span_start >= p.span_start AND c.span_start < p.span_end
       ) AND NOT EXISTS (
           SELECT 1 FROM fact g WHERE g.episode_id = e.id AND g.span_start >= p.span_start AND g.span_start < p.span_end
       ),
       coalesce(f.salience, 5.0), e.client, f.subject_id, f.predicate, f.fact_text
FROM json_each(?) j JOIN index_row r ON r.id = j.value
LEFT JOIN fact f ON f.id = r.fact_id
JOIN passage p ON p.id = coalesce(r.passage_id, (
    SELECT q.id FROM passage q WHERE q.episode_id = f.episode_id AND q.span_start <= f.span_start ORDER BY q.span_start DESC LIMIT 1))
JOIN episode e ON e.id = p.episode_id
"""

_PASSAGES = """
SELECT p.id, e.t_ref
FROM json_each(?) j JOIN index_row r ON r.id = j.value
JOIN passage p ON p.id = coalesce(r.passage_id, (
    SELECT q.id FROM fact f JOIN passage q ON q.episode_id = f.episode_id AND q.span_start <= f.span_start
    WHERE f.id = r.fact_id ORDER BY q.span_start DESC LIMIT 1))
JOIN episode e ON e.id = p.episode_id
"""

_SLOT_ROWS = """
SELECT f.row_id FROM fact f
WHERE f.subject_id IN (SELECT value FROM json_each(?)) AND f.predicate IN (SELECT value FROM json_each(?))
      AND f.recorded_at <= coalesce(?, f.recorded_at)
ORDER BY f.asserted_at DESC, f.id DESC LIMIT ?
"""

_ENTITIES = """
SELECT coalesce(a.entity_id, n.id) FROM entity n LEFT JOIN entity_alias a ON a.alias_id = n.id
WHERE n.name_key IN (SELECT value FROM json_each(?))
"""

_PEOPLE = "SELECT id FROM entity WHERE type = 'person' AND id IN (SELECT value FROM json_each(?))"

_NUMBERS = 9
"""How many columns of `_ROWS` are whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRows:
    """Rows of the index as a ranking sees them, a column each; every array has shape (rows,)."""

    row_id: NDArray[np.int64]
    passage: NDArray[np.int64]
    """The passage a row is, or was taken from; passages are numbered in the order they were said."""
    episode: NDArray[np.int64]
    said_at: NDArray[np.int64]
    valid_at: NDArray[np.int64]
    """From when on the statement itself says it holds; what is learned later does not move it."""
    is_fact: NDArray[np.bool_]
    asserted: NDArray[np.bool_]
    by_assistant: NDArray[np.bool_]
    takes_back: NDArray[np.bool_]
    """Whether it is a passage that says of something only that it is over."""
    salience: NDArray[np.float64]
    client: tuple[str | None, ...]
    slot: tuple[tuple[int, str] | None, ...]
    """The subject's number and the predicate of a fact; `None` for a passage."""
    sentence: tuple[str | None, ...]
    """The text of a fact; `None` for a passage."""

    def __len__(self) -> int:
        return self.row_id.shape[0]


def search_rows(con: apsw.Connection, row_ids: Iterable[int]) -> SearchRows:
    """The rows with those ids, as far as they exist, in the order asked for."""
    found = cast("list[tuple[object, ...]]", con.execute(_ROWS, (_json(row_ids),)).fetchall())
    columns = list(zip(*found, strict=True)) if found else [()] * 14
    numbers = [np.array(column, dtype=np.int64) for column in columns[:_NUMBERS]]
    return SearchRows(
        row_id=numbers[0],
        passage=numbers[1],
        episode=numbers[2],
        said_at=numbers[3],
        valid_at=numbers[4],
        is_fact=numbers[5] != 0,
        asserted=numbers[6] != 0,
        by_assistant=numbers[7] != 0,
        takes_back=numbers[8] != 0,
        salience=np.array(columns[9], dtype=np.float64),
        client=cast("tuple[str | None, ...]", columns[10]),
        slot=tuple(
            None if predicate is None else (cast("int", subject), cast("str", predicate))
            for subject, predicate in zip(columns[11], columns[12], strict=True)
        ),
        sentence=cast("tuple[str | None, ...]", columns[13]),
    )


def passages_of(con: apsw.Connection, row_ids: Iterable[int]) -> dict[int, int]:
    """The passages that rows are, or were taken from, with when they were said."""
    return dict(cast("list[tuple[int, int]]", con.execute(_PASSAGES, (_json(row_ids),)).fetchall()))


def passage_rows(con: apsw.Connection, passages: Iterable[int]) -> list[tuple[int, int, int]]:
    """Of those passages that exist: number, index row, and when it was said."""
    found = con.execute(
        "SELECT p.id, p.row_id, e.t_ref FROM json_each(?) j JOIN passage p ON p.id = j.value JOIN episode e ON e.id = p.episode_id",
        (_json(passages),),
    )
    return cast("list[tuple[int, int, int]]", found.fetchall())


def fact_rows(con: apsw.Connection, passages: Iterable[int], known_at: Instant | None) -> list[tuple[int, int]]:
    """The index rows of the facts taken from passages (by `known_at`), whatever their visibility, each with its passage."""
    found = con.execute(
        "SELECT p.id, f.row_id FROM json_each(?) j JOIN passage p ON p.id = j.value "
        "JOIN fact f ON f.episode_id = p.episode_id AND f.span_start >= p.span_start AND f.span_start < p.span_end "
        "WHERE f.recorded_at <= coalesce(?, f.recorded_at)",
        (_json(passages), known_at),
    )
    return cast("list[tuple[int, int]]", found.fetchall())


def slot_rows(con: apsw.Connection, subjects: Iterable[int], predicates: Iterable[str], limit: int, known_at: Instant | None) -> list[int]:
    """Index rows of the facts of some subjects and predicates (by `known_at`), whatever their visibility, newest first."""
    found = con.execute(_SLOT_ROWS, (_json(subjects), json.dumps(list(predicates)), known_at, limit))
    return [cast("int", row) for (row,) in found]


def told_beside(con: apsw.Connection, row_ids: Iterable[int]) -> list[tuple[int, int, int, str]]:
    """What the sentences of facts, by index row, say besides: the row, and the row, subject and predicate of another fact of that sentence."""
    found = con.execute(
        "SELECT f.row_id, g.row_id, g.subject_id, g.predicate FROM json_each(?) j JOIN index_row r ON r.id = j.value JOIN fact f ON f.id = r.fact_id "
        "JOIN fact g ON g.episode_id = f.episode_id AND g.fact_text = f.fact_text AND g.id <> f.id AND coalesce(g.end_reason, '') NOT IN ('merged', 'duplicate')",
        (_json(row_ids),),
    )
    return cast("list[tuple[int, int, int, str]]", found.fetchall())


def entities_named(con: apsw.Connection, name_keys: Sequence[str]) -> set[int]:
    """The numbers of the entities that bear one of the names, aliases resolved."""
    return {cast("int", entity) for (entity,) in con.execute(_ENTITIES, (json.dumps(list(name_keys)),))}


def people_among(con: apsw.Connection, entities: Iterable[int]) -> set[int]:
    """Those of the entities, by number, that are people."""
    return {cast("int", entity) for (entity,) in con.execute(_PEOPLE, (_json(entities),))}


def _json(numbers: Iterable[int]) -> str:
    return f"[{','.join(str(int(number)) for number in numbers)}]"
