"""What the engine asks of its models, whoever runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    near_certain: float
    """Sentences that may say the same thing although a word of one has no counterpart known to be like it in the other."""
    conflict_candidate: float
    """Sentences that may be about the same matter, whether they agree or not."""
    object_match: float
    """Values, without a sentence around them, that may be two spellings of one thing."""


UNMEASURED = CosineThresholds(duplicate=0.95, near_certain=0.97, conflict_candidate=0.6, object_match=0.9)
"""For an embedder for which nobody has measured better ones: a cosine as high as this means something to most."""


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


class Reranker(Protocol):
    """Judges how well texts answer a question, reading both together. Thread-safe."""

    @property
    def identity(self) -> ModelIdentity:
        """Which model it is; its `dims` are 0, as it makes no vectors."""
        ...

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        """How well each text answers `query`, 0 to 1, in order; shape (len(texts),).

        Raises `ModelUnavailableError` where no answer can be had within `seconds`, and `ModelError` where the answer cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntity:
    """A stretch of a text that a model takes for a thing of some kind; offsets are characters, `end` is exclusive."""

    label: str
    start: int
    end: int
    score: float
    """How sure the model is, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelation:
    """Two stretches of a text that a model takes to stand in a relation: `head` does something to or with `tail`."""

    name: str
    head: tuple[int, int]
    tail: tuple[int, int]
    score: float
    """How sure the model is of the less sure end, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """What a model found in one text."""

    entities: tuple[FoundEntity, ...] = ()
    relations: tuple[FoundRelation, ...] = ()


class EntityRelationModel(Protocol):
    """Finds entities and relations of an open vocabulary, over-generating. Thread-safe."""

    def read(self, texts: Sequence[str], *, labels: Sequence[str], relations: Sequence[str], threshold: float) -> list[Markup]:
        """What is in each text, in order; everything that scores at least `threshold`. Raises `ModelError`."""
        ...


class TypingModel(Protocol):
    """A language model that answers in JSON of a given schema. Thread-safe."""

    def answer(self, instruction: str, question: str, schema: Mapping[str, object]) -> str:
        """The raw answer, which may be anything; who asks checks it. Raises `ModelError` when there is none in time."""
        ...
