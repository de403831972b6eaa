"""The candidates of a search: what the arms found, and what was said just before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.retrieval.scope import Scope
from lean_memory.store.search_rows import SearchRows, fact_rows, passage_rows, passages_of, search_rows

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Rows, and for each the place among them of the passage said before and after it in the same conversation, or -1.

    What an assistant said counts as before or after only for the rest of what it said there.
    """

    rows: SearchRows
    before: Places
    after: Places
    outdated: NDArray[np.bool_]
    """Passages that also say what the search may not see, shape (rows,); the visible facts taken from them are candidates too."""
    outlived: NDArray[np.bool_] | None = None
    """Rows whose answer to the question a newer one replaces, shape (rows,); `None` where that is not asked."""


def gather(scope: Scope, row_ids: Iterable[int], leading: Iterable[int], near_ms: int) -> Candidates:
    """The rows, and the visible passages within `near_ms` before and after the `leading` ones, which become candidates themselves."""
    wanted = list(dict.fromkeys(row_ids))
    con = scope.tx.connection
    spoken, heads = passages_of(con, wanted), passages_of(con, leading)
    seen: dict[int, int] = {}
    for passage, row_id, said_at in passage_rows(con, set(spoken) | {passage + step for passage in heads for step in (-1, 1)}):
        near = (heads.get(passage + step) for step in (-1, 1))
        if passage in spoken or any(other is not None and abs(other - said_at) <= near_ms for other in near):
            seen[passage] = row_id
    seen = {passage: row_id for passage, row_id in seen.items() if scope.visible([row_id])}
    outdated, instead = _outdated(scope, seen)
    rows = search_rows(con, dict.fromkeys([*wanted, *seen.values(), *instead]))
    places = {row_id: place for place, row_id in enumerate(rows.row_id.tolist())}
    of_passage = {passage: places[row_id] for passage, row_id in seen.items() if row_id in places}
    return Candidates(
        rows=rows,
        before=_beside(rows, of_passage, -1, near_ms),
        after=_beside(rows, of_passage, 1, near_ms),
        outdated=~rows.is_fact & np.isin(rows.passage, list(outdated)),
    )


def _outdated(scope: Scope, passages: Iterable[int]) -> tuple[set[int], list[int]]:
    """Those of the passages of which some fact is not visible, and the rows of their facts that are."""
    facts = fact_rows(scope.tx.connection, passages, scope.known_at)
    shown = set(scope.visible([row_id for _, row_id in facts]))
    outdated = {passage for passage, row_id in facts if row_id not in shown}
    return outdated, [row_id for passage, row_id in facts if passage in outdated and row_id in shown]


def _beside(rows: SearchRows, of_passage: Mapping[int, int], step: int, near_ms: int) -> Places:
    places = np.array([of_passage.get(passage + step, -1) for passage in rows.passage.tolist()], dtype=np.int64)
    near = (places >= 0) & (np.abs(rows.said_at[places] - rows.said_at) <= near_ms)
    near &= ~rows.by_assistant[places] | (rows.episode[places] == rows.episode)
    near &= np.array([rows.client[other] == client for other, client in zip(places.tolist(), rows.client, strict=True)], dtype=np.bool_)
    return np.where(near, places, -1)
