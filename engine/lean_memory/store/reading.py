"""Readers: a pool of connections, and what a search reads on one snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar, cast
from weakref import WeakSet

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import Slot
from lean_memory.domain import Episode, Fact, Instant, ModelIdentity, Span, Visibility
from lean_memory.store import search_index, slots
from lean_memory.store.entities import entity_names
from lean_memory.store.episodes import waiting_episodes
from lean_memory.store.old_vectors import kept_models
from lean_memory.store.rows import CURRENT_FACT, FACT_KNOWN_AT, episode_of, facts_of, passage_as_fact
from lean_memory.store.visibility import LATEST

_KEPT_READERS = 4

_T = TypeVar("_T")


class ReaderPool:
    """Read connections of one file, opened when needed; each is used by one thread at a time."""

    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._idle: list[apsw.Connection] = []
        self._every: WeakSet[apsw.Connection] = WeakSet()
        self._lock = Lock()
        self._closed = False

    def look(self, do: Callable[[apsw.Connection], _T]) -> _T | None:
        """What `do` reads with a connection inside a read transaction: all of it is of one moment. `None` if the pool is closed."""
        con = self.take()
        if con is None:
            return None
        try:
            con.execute("BEGIN")
            return do(con)
        finally:
            # Calls of the driver alone: Ctrl-C cannot come between here and the rollback. One that is not given back closes by itself.
            if con.in_transaction:
                con.execute("ROLLBACK")
            self.give_back(con)

    def close(self) -> None:
        """Close the idle connections; one in use is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._every.difference_update(idle)
        for con in idle:
            con.close()

    def in_use(self) -> int:
        """How many connections are being read with."""
        with self._lock:
            return len(self._every) - len(self._idle)

    def take(self) -> apsw.Connection | None:
        """A connection to be given back; none if the pool is closed."""
        with self._lock:
            if self._closed:
                return None
            if self._idle:
                return self._idle.pop()
            con = self._connect()
            self._every.add(con)
            return con

    def give_back(self, con: apsw.Connection) -> None:
        """Keep a connection for the next, or close it."""
        with self._lock:
            if not self._closed and len(self._idle) < _KEPT_READERS:
                self._idle.append(con)
                return
            self._every.discard(con)
        con.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class HydratedRow:
    """What an index row stands for: a fact, or a passage in the shape of one, with the passage it was taken from, verbatim."""

    row_id: int
    fact: Fact
    source: str
    passage_row: int | None
    """The passage that holds it, so that a fact and its own passage can be told to be one hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTransaction:
    """One snapshot of a namespace."""

    connection: apsw.Connection
    namespace: str

    def hydrate(self, row_ids: Sequence[int], visibility: Visibility | None = None) -> dict[int, HydratedRow]:
        """What the index rows stand for, by row id; rows that stand for nothing are left out.

        With `known_at` in `visibility`, facts are shown as they stood then, and passages without an end: what ends a passage are
        its facts, and some may have ended later.
        """
        known_at = None if visibility is None else visibility.known_at
        found = self._passages(row_ids, ends=known_at is None)
        found.update(self._facts(row_ids, known_at))
        return found

    def texts(self, row_ids: Iterable[int]) -> dict[int, str]:
        """The texts that index rows were made from, by row id: what is to be embedded for them."""
        rows = self.connection.execute(
            """
            SELECT r.id, CASE WHEN f.id IS NULL THEN substr(e.text, p.span_start + 1, p.span_end - p.span_start) ELSE f.fact_text END
            FROM json_each(?) j JOIN index_row r ON r.id = j.value
            LEFT JOIN fact f ON f.id = r.fact_id
            LEFT JOIN passage p ON p.id = r.passage_id LEFT JOIN episode e ON e.id = p.episode_id
            """,
            (_json(row_ids),),
        )
        return {row_id: text for row_id, text in cast("list[tuple[int, str | None]]", rows.fetchall()) if text is not None}

    def texts_without_vector(self, model: ModelIdentity, limit: int, before: int | None = None) -> tuple[dict[int, str], int | None]:
        """Texts that `model` has made no vector of, by index row, of up to `limit` rows below `before`; and the lowest row looked at."""
        rows = search_index.rows_without_vector(self.connection, model, limit, before=before)
        return self.texts(rows), min(rows, default=None)

    def lacking_vectors(self, model: ModelIdentity) -> int:
        """How many rows of the index `model` has made no vector for."""
        return search_index.lacking(self.connection, model)

    def models(self) -> list[ModelIdentity]:
        """The models whose vectors the file keeps, oldest first."""
        return kept_models(self.connection)

    def count_texts(self) -> int:
        """How many texts the index has."""
        return self.connection.execute("SELECT count(*) FROM index_row").get

    def has_all_vectors(self, model: ModelIdentity) -> bool:
        """Whether `model` has made a vector for every row of the index."""
        return search_index.is_complete(self.connection, model)

    def open_values(self, slot: Slot, now: Instant, marks: Iterable[str]) -> list[str]:
        """The object keys that are open in a slot, in any modality, and in which one of the marks stands."""
        return slots.open_values(self.connection, slot, now, marks)

    def open_values_told(self, slot: Slot, now: Instant) -> list[tuple[str, str]]:
        """The object keys that are open in a slot with the sentences that told them, newest first, of more than 1,000 the newest."""
        return slots.open_values_told(self.connection, slot, now)

    def waiting(self) -> list[Episode]:
        """Episodes whose facts are stored and which wait for a model, oldest first."""
        return waiting_episodes(self.connection)

    def entity_names(self, limit: int) -> list[str]:
        """The names of the entities that were named last for the first time, newest first."""
        return entity_names(self.connection, limit)

    def has_open_values(self, slot: Slot, now: Instant) -> bool:
        """Whether anything is open in a slot."""
        return slots.has_open_values(self.connection, slot, now)

    def nearest_values(self, slot: Slot, now: Instant, model: ModelIdentity, vector: NDArray[np.float32], *, floor: float) -> list[str]:
        """The object keys open in a slot whose sentences have a cosine of `floor` with a unit vector, shape (dims,), that `model` made.

        Nearest first; those without a vector come last, newest first. Of more than 1,000, the newest 1,000.
        """
        return slots.nearest_values(self.connection, slot, now, model, vector, floor=floor)

    def _facts(self, row_ids: Sequence[int], known_at: Instant | None) -> dict[int, HydratedRow]:
        query = CURRENT_FACT if known_at is None else FACT_KNOWN_AT
        rows = self.connection.execute(
            f"{query} WHERE f.id IN (SELECT r.fact_id FROM json_each(:ids) j JOIN index_row r ON r.id = j.value)",
            {"ids": _json(row_ids), "known_at": known_at},
        )
        facts = {stored.row: stored.fact for stored in facts_of(rows, self.namespace)}
        passages = self._passages_of_facts(facts)
        places = self.connection.execute(
            "SELECT r.id, r.fact_id FROM json_each(?) j JOIN index_row r ON r.id = j.value WHERE r.fact_id IS NOT NULL", (_json(row_ids),)
        )
        found: dict[int, HydratedRow] = {}
        for row_id, fact_row in cast("list[tuple[int, int]]", places.fetchall()):
            if fact_row in facts:
                fact = facts[fact_row]
                passage_row, source = passages.get(fact_row, (None, fact.fact_text))
                found[row_id] = HydratedRow(row_id=row_id, fact=fact, source=source, passage_row=passage_row)
        return found

    def _passages_of_facts(self, fact_rows: Iterable[int]) -> dict[int, tuple[int, str]]:
        rows = self.connection.execute(
            """
            SELECT f.id, p.id, substr(e.text, p.span_start + 1, p.span_end - p.span_start)
            FROM json_each(?) j JOIN fact f ON f.id = j.value JOIN episode e ON e.id = f.episode_id
            JOIN passage p ON p.episode_id = f.episode_id AND p.span_start <= f.span_start AND p.span_end > f.span_start
            """,
            (_json(fact_rows),),
        )
        return {fact: (passage, text) for fact, passage, text in cast("list[tuple[int, int, str]]", rows.fetchall())}

    def _passages(self, row_ids: Sequence[int], *, ends: bool) -> dict[int, HydratedRow]:
        rows = self.connection.execute(
            f"""
            SELECT r.id, p.id, r.valid_to, r.flags & {LATEST}, e.uid, substr(e.text, p.span_start + 1, p.span_end - p.span_start),
                   e.source, e.client, e.t_ref, e.tz, e.recorded_at, p.span_start
            FROM json_each(?) j JOIN index_row r ON r.id = j.value JOIN passage p ON p.id = r.passage_id
            JOIN episode e ON e.id = p.episode_id WHERE r.fact_id IS NULL
            """,
            (_json(row_ids),),
        )
        return {row[0]: self._passage(row, ends=ends) for row in cast("list[_PassageRow]", rows.fetchall())}

    def _passage(self, row: _PassageRow, *, ends: bool) -> HydratedRow:
        row_id, passage_row, valid_to, latest, uid, text, source, client, t_ref, tz, recorded_at, start = row
        episode = episode_of((uid, text, source, client, t_ref, tz, recorded_at))
        fact = passage_as_fact(
            episode,
            passage_row=passage_row,
            namespace=self.namespace,
            span=Span(start=start, end=start + len(text)),
            valid_to=None if valid_to is None or not ends else Instant(valid_to),
            is_latest=bool(latest) or not ends,
        )
        return HydratedRow(row_id=row_id, fact=fact, source=text, passage_row=passage_row)


_PassageRow = tuple[int, int, int | None, int, str, str, str, str | None, int, str, int, int]


def _json(numbers: Iterable[int]) -> str:
    return json.dumps([int(n) for n in numbers])
