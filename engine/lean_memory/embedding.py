"""The vectors of what is being read: of many texts they are made by a thread of their own while the rest is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lean_memory.models.ports import Embedder, Vectors

_SLICE = 64
"""Texts that are worth a call of the model beside the reading, some .2 s of the built-in one; fewer are left for the end."""


class Embedding:
    """Collects texts and gives their vectors, each made once. For `with`, at the end of which nothing of it goes on.

    No thread is begun before `_SLICE` texts have come.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: set[str] = set()
        self._waiting: list[str] = []
        self._begun: list[tuple[list[str], Future[Vectors]]] = []
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def ask(self, texts: Iterable[str]) -> None:
        """Have the vectors of these made, if they are not being made already."""
        for text in texts:
            if text not in self._asked:
                self._asked.add(text)
                self._waiting.append(text)
                if len(self._waiting) == _SLICE:
                    self._begin()

    def vectors(self) -> Mapping[str, NDArray[np.float32]]:
        """The vector of every text that was asked for, once all are made. Raises `ModelError`."""
        made: dict[str, NDArray[np.float32]] = {}
        if self._waiting:
            made.update(zip(self._waiting, self._embedder.embed(self._waiting), strict=True))
        for texts, vectors in self._begun:
            made.update(zip(texts, vectors.result(), strict=True))
        return made

    def _begin(self) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        try:
            begun = self._pool.submit(self._embedder.embed, self._waiting)
        except RuntimeError:
            return  # The program is ending, and no thread begins any more: they are made at the end, by this one.
        self._begun.append((self._waiting, begun))
        self._waiting = []
