"""Making the vectors that a model has not made yet: of texts that came without, or of all where the model is new to the file.

What is missing is seen from the index itself, so that whatever dies, the next go takes up the rest. The model is asked with no
transaction open, and each batch is written in a short transaction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, sleep

from lean_memory.domain import ModelIdentity, VectorsMade, VectorSpace
from lean_memory.errors import ModelError, NotFoundError
from lean_memory.models.ports import Embedder
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction, WriteTransaction
from lean_memory.store.only_maker import only_maker

_AT_ONCE = 32
"""Texts to a batch: a model of the size of MiniLM reads them in a fifth of a second, and they are written in some milliseconds."""
_SHORTEST_REST, _LONGEST_REST = 0.02, 0.1
"""Seconds between two batches: as long as the last one took, so that searches of the same process take less than twice as long, within
bounds by which a fast model still gets through a thousand texts a second and a slow one hardly waits."""

EMBEDDER, SECOND, OLD = "embedder", "second", "old"
"""The roles of models (see `VectorSpace`)."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """How much is made at one go, who is told and who may stop it."""

    limit: int | None = None
    """Texts."""
    ends: float | None = None
    """On the monotonic clock; no batch is begun after it."""
    progress: Callable[[int, int], None] | None = None
    """Told after each batch how many were made in this go, and how many of that model are missing."""
    cancelled: Callable[[], bool] = field(default=lambda: False)
    rests: bool = True
    """Whether others get a turn between the batches."""
    made: int = 0

    def next_batch(self) -> int:
        """How many texts may come next; 0 at the end."""
        if self.cancelled() or (self.ends is not None and monotonic() >= self.ends):
            return 0
        return _AT_ONCE if self.limit is None else max(0, min(_AT_ONCE, self.limit - self.made))


def make_missing(store: NamespaceStore, embedders: Sequence[Embedder], pace: Pace) -> VectorsMade:
    """Make the vectors that the models lack in a namespace, one model after the other, the newest texts first.

    One thread of one process at a time does so; nobody else is kept from anything. Raises `StorageError`.
    """
    if not missing_of(store, embedders):
        return VectorsMade(made=0, missing=0)
    with only_maker(store.path) as mine:
        reason = _make_all(store, embedders, pace) if mine else "Another process is making them."
    return VectorsMade(made=pace.made, missing=missing_of(store, embedders), reason=reason)


def make_few(store: NamespaceStore, embedder: Embedder, most: int) -> None:
    """Make the vectors that a model lacks at once, if they are no more than `most`. Raises `ModelError` and `StorageError`."""
    if 0 < missing_of(store, [embedder]) <= most:
        with suppress(NotFoundError):
            _make(store, embedder, Pace(rests=False))


def drop_old(store: NamespaceStore, embedders: Sequence[Embedder]) -> int:
    """Drop the vectors of all models but these, a little at a time; gives of how many models. Broken off, the next call goes on."""
    used = [embedder.identity for embedder in embedders]
    dropped = store.change(lambda tx: tx.put_vectors_aside(used), anew=False)
    while store.change(WriteTransaction.drop_some_vectors, anew=False):
        sleep(_SHORTEST_REST)
    return dropped


def spaces_of(store: NamespaceStore, roles: Sequence[tuple[str, Embedder]]) -> tuple[VectorSpace, ...]:
    """How far the vectors of each model are made: of those in use, by their role, and of those whose vectors the file keeps."""
    used = {embedder.identity: role for role, embedder in roles}

    def read(tx: ReadTransaction) -> tuple[VectorSpace, ...]:
        texts, models = tx.count_texts(), {**used, **{model: OLD for model in tx.models() if model not in used}}
        return tuple(VectorSpace(model=model, texts=texts, missing=tx.lacking_vectors(model), role=role) for model, role in models.items())

    return store.look(read)


def missing_of(store: NamespaceStore, embedders: Sequence[Embedder]) -> int:
    """How many vectors the models lack in a namespace."""
    return store.look(lambda tx: sum(tx.lacking_vectors(embedder.identity) for embedder in embedders))


def _make_all(store: NamespaceStore, embedders: Sequence[Embedder], pace: Pace) -> str:
    """Why what is missing could not be made, or nothing."""
    reason = ""
    for embedder in embedders:
        try:
            _make(store, embedder, pace)
        except ModelError as error:
            reason = str(error)
        except NotFoundError:
            break
    return reason


def _make(store: NamespaceStore, embedder: Embedder, pace: Pace) -> None:
    """Go through what is missing, and again as long as that made some: what was said meanwhile is above where it began."""
    before = -1
    while before < pace.made and missing_of(store, [embedder]):
        before = pace.made
        _make_below(store, embedder, pace)


def _make_below(store: NamespaceStore, embedder: Embedder, pace: Pace) -> None:
    model, below = embedder.identity, None
    while size := pace.next_batch():
        texts, lowest = store.look(partial(_next_texts, model=model, size=size, below=below))
        if lowest is None:
            return
        below = lowest
        if texts:
            began = monotonic()
            vectors = dict(zip(texts, embedder.embed(list(texts.values())), strict=True))
            pace.made += store.change(partial(WriteTransaction.set_vectors, model=model, texts=texts, vectors=vectors), anew=False)
            took = monotonic() - began
            if pace.progress is not None:
                pace.progress(pace.made, missing_of(store, [embedder]))
            if pace.rests:
                sleep(min(max(took, _SHORTEST_REST), _LONGEST_REST))


def _next_texts(tx: ReadTransaction, *, model: ModelIdentity, size: int, below: int | None) -> tuple[dict[int, str], int | None]:
    """The next texts without a vector; once there are no more than are known to be missing, the rest is not looked through."""
    wanted = min(size, tx.lacking_vectors(model))
    return tx.texts_without_vector(model, wanted, below) if wanted else ({}, None)
