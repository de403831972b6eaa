"""In which model's space a question is asked: vectors of two models are never held against each other.

The second embedder, where there is one, is asked in a namespace for which it has made every vector. Until then, and whenever it is not
to be had, the first answers, whose vectors are made with every addition.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from lean_memory.errors import ModelError
from lean_memory.models.ports import Embedder, Reranker
from lean_memory.retrieval.dense import DenseQuery
from lean_memory.store.namespace_store import NamespaceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchModels:
    """The models that a search may use."""

    embedder: Embedder | None
    second: Embedder | None = None
    reranker: Reranker | None = None

    def embedders(self) -> list[Embedder]:
        """Those that there are, the first one first."""
        return [embedder for embedder in (self.embedder, self.second) if embedder is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One way to ask a question."""

    meant: DenseQuery | None
    """The question in it; `None` where words alone can be asked for."""
    in_second: bool = False
    """Whether it is the second embedder's; it is left where a vector is missing after all."""


def spaces(store: NamespaceStore, models: SearchModels, query: str) -> Generator[Space]:
    """The ways to ask, best first; a model is asked when its turn comes. The last one is for whatever vectors there are."""
    second = models.second
    if second is not None and store.look(lambda tx: tx.has_all_vectors(second.identity)):
        meant = _asked(second, query)
        if meant is not None:
            yield Space(meant=meant, in_second=True)
    yield Space(meant=None if models.embedder is None else _asked(models.embedder, query))


def _asked(embedder: Embedder, query: str) -> DenseQuery | None:
    try:
        return DenseQuery(model=embedder.identity, vector=embedder.embed_query(query))
    except ModelError:
        return None
