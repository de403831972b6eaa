"""The dense arm: rows whose vectors lie near a question's, coarsely by sign codes in memory, then exactly from the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.retrieval.scope import Scope
from lean_memory.store.search_index import exact, sign_code


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseQuery:
    """A question's unit vector, shape (dims,), and the model that made it."""

    model: ModelIdentity
    vector: NDArray[np.float32]


def best_rows(scope: Scope, query: DenseQuery, *, coarse: int, depth: int) -> dict[int, float]:
    """The up to `depth` visible rows nearest to a question, with their cosines, best first; equals go to the newer row.

    Exact distances are taken of the `coarse` rows whose codes are nearest.
    """
    near = scope.view.nearest(sign_code(query.model, query.vector), scope.mask, coarse)
    found = exact(scope.tx.connection, query.model, near.tolist(), query.vector)
    return dict(sorted(found, key=lambda pair: (-pair[1], -pair[0]))[:depth])


def cosines(scope: Scope, query: DenseQuery, known: dict[int, float], row_ids: Iterable[int]) -> NDArray[np.float64]:
    """The cosines of rows with a question, `known` ones taken over; NaN for a row without a vector. Shape (rows,)."""
    wanted = list(row_ids)
    missing = [row_id for row_id in wanted if row_id not in known]
    found = known | dict(exact(scope.tx.connection, query.model, missing, query.vector))
    return np.array([found.get(row_id, np.nan) for row_id in wanted])
