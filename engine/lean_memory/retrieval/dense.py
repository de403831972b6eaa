"""The dense arm: rows whose vectors lie near a question's, coarsely by sign codes in memory, then exactly from the file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.retrieval.recipes import Recipe
from lean_memory.store.codes import IndexView, Mask
from lean_memory.store.reading import ReadTransaction
from lean_memory.store.search_index import exact, sign_code


def best_rows(
    tx: ReadTransaction, view: IndexView, mask: Mask, model: ModelIdentity, query: NDArray[np.float32], recipe: Recipe
) -> dict[int, float]:
    """The up to `depth` visible rows nearest to a query, shape (dims,), with their cosines, best first; equals go to the newer row."""
    near = view.nearest(sign_code(model, query), mask, recipe.coarse)
    found = exact(tx.connection, model, near.tolist(), query)
    best = sorted(found, key=lambda pair: (-pair[1], -pair[0]))[: recipe.depth]
    return dict(best)


def complete(
    tx: ReadTransaction, model: ModelIdentity, query: NDArray[np.float32], known: dict[int, float], row_ids: Iterable[int]
) -> dict[int, float]:
    """The cosines of all the rows that have a vector."""
    missing = [row_id for row_id in row_ids if row_id not in known]
    return known | dict(exact(tx.connection, model, missing, query))
