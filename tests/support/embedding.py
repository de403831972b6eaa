"""An embedder for tests that are not about meaning: words that are the same point the same way."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.models.ports import CosineThresholds


class WordEmbedder:
    """Adds up one fixed pseudo-random direction for each word; loads nothing and is fast."""

    def __init__(self, dims: int = 64, revision: str = "1") -> None:
        self.identity = ModelIdentity(model_id="words", revision=revision, dims=dims)
        self.thresholds = CosineThresholds(duplicate=0.95, conflict_candidate=0.6, object_match=0.9)
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
