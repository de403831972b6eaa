"""An embedder for tests that are not about meaning: words that are the same point the same way."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.errors import ModelUnavailableError
from lean_memory.models.ports import CosineThresholds


class WordEmbedder:
    """Adds up one fixed pseudo-random direction for each word; loads nothing and is fast."""

    def __init__(self, dims: int = 64, revision: str = "1") -> None:
        self.identity = ModelIdentity(model_id="words", revision=revision, dims=dims)
        self.thresholds = CosineThresholds(duplicate=0.95, near_certain=0.97, conflict_candidate=0.6, object_match=0.9)
        self._directions: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._one(text) for text in texts]) if texts else np.zeros((0, self.identity.dims), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._one(text)

    def _one(self, text: str) -> NDArray[np.float32]:
        total = np.full(self.identity.dims, 1e-3, np.float32)
        for word in re.findall(r"\w+", text.casefold()):
            total = total + self._direction(word)
        return total / np.float32(np.linalg.norm(total))

    def _direction(self, word: str) -> NDArray[np.float32]:
        if word not in self._directions:
            seed = zlib.crc32(word.encode("utf-8", "replace"))
            self._directions[word] = np.random.default_rng(seed).standard_normal(self.identity.dims).astype(np.float32)
        return self._directions[word]


class RotatedEmbedder(WordEmbedder):
    """The same meanings in a space that is turned: equal width, every cosine as before, and nothing in common with the vectors of before.

    A search that held its vectors against those of `WordEmbedder` would find at random. Counts how often it made each text's vector.
    """

    def __init__(self, dims: int = 64, revision: str = "1", *, model_id: str = "words turned") -> None:
        super().__init__(dims, revision)
        self.identity = ModelIdentity(model_id=model_id, revision=revision, dims=dims)
        seed = zlib.crc32(f"{model_id} {revision}".encode())
        self._turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((dims, dims)))[0].astype(np.float32)
        self.made: Counter[str] = Counter()
        self.is_there = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.is_there:
            raise ModelUnavailableError("The second embedder is being loaded.")
        self.made.update(texts)
        return super().embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if not self.is_there:
            raise ModelUnavailableError("The second embedder is being loaded.")
        return super().embed_query(text)

    def _one(self, text: str) -> NDArray[np.float32]:
        return np.asarray(super()._one(text) @ self._turn, np.float32)


class WordReranker:
    """A cross-encoder that marks a text by the share of the question's words in it, and needs a given time."""

    def __init__(self, *, needs: float = 0.0) -> None:
        self.identity = ModelIdentity(model_id="marks", revision="1", dims=0)
        self.needs = needs
        self.read: list[tuple[str, ...]] = []

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        if seconds < self.needs:
            raise ModelUnavailableError("The cross-encoder was not done in time.")
        self.read.append(tuple(texts))
        wanted = set(re.findall(r"\w+", query.casefold()))
        return np.array([len(wanted & set(re.findall(r"\w+", text.casefold()))) / len(wanted) for text in texts], np.float32)
