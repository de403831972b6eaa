"""What the engine asks of its models, whoever runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity

Vectors = NDArray[np.float32]
"""Shape (n, dims), each row of unit length."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe; deterministic for one identity on one machine."""

    @property
    def identity(self) -> ModelIdentity: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for stored texts, in order; shape (len(texts), dims)."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector for a question; shape (dims,)."""
        ...
