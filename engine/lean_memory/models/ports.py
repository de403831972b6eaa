"""What the engine asks of its models, whoever runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity

Vectors = NDArray[np.float32]
"""Shape (n, dims), each row of unit length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineThresholds:
    """From which cosine on two texts mean something to each other; it belongs to the embedder that made their vectors.

    A cosine finds candidates and decides nothing: numbers, names and negation must be compared as well.
    """

    duplicate: float
    """Sentences that may say the same thing."""
    conflict_candidate: float
    """Sentences that may be about the same matter, whether they agree or not."""
    object_match: float
    """Values, without a sentence around them, that may be two spellings of one thing."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe; deterministic for one identity on one machine."""

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def thresholds(self) -> CosineThresholds: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for stored texts, in order; shape (len(texts), dims)."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector for a question; shape (dims,)."""
        ...
