"""The candidates of a search: what the arms found, and what was said just before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.retrieval.scope import Scope
from lean_memory.store.search_rows import SearchRows, passage_rows, passages_of, search_rows

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Rows, and for each the place among them of the passage said before and after it in the same conversation, or -1.

    What an assistant said counts as before or after only for the rest of what it said there.
    """

    rows: SearchRows
    before: Places
    after: Places


def gather(scope: Scope, row_ids: Iterable[int], leading: Iterable[int], near_ms: int) -> Candidates:
    """The rows, and the visible passages within `near_ms` before and after the `leading` ones, which become candidates themselves."""
    wanted = list(dict.fromkeys(row_ids))
    con = scope.tx.connection
    beside = {passage + step for passage in passages_of(con, leading) for step in (-1, 1)}
    passages = passage_rows(con, passages_of(con, wanted) | beside)
    seen = {passage: row for passage, row in passages.items() if scope.visible([row])}
    known = set(wanted)
    rows = search_rows(con, [*wanted, *(row for row in seen.values() if row not in known)])
    places = {int(row): place for place, row in enumerate(rows.row_id.tolist())}
    of_passage = {passage: places[row] for passage, row in seen.items() if row in places}
    return Candidates(rows=rows, before=_beside(rows, of_passage, -1, near_ms), after=_beside(rows, of_passage, 1, near_ms))


def _beside(rows: SearchRows, of_passage: Mapping[int, int], step: int, near_ms: int) -> Places:
    places = np.array([of_passage.get(passage + step, -1) for passage in rows.passage.tolist()], dtype=np.int64)
    near = (places >= 0) & (np.abs(rows.said_at[places] - rows.said_at) <= near_ms)
    near &= ~rows.by_assistant[places] | (rows.episode[places] == rows.episode)
    near &= np.array([rows.client[other] == client for other, client in zip(places.tolist(), rows.client, strict=True)], dtype=np.bool_)
    return np.where(near, places, -1)
