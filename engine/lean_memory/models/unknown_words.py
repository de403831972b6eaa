"""A direction for words that a model has no token for, so that two different ones never look the same.

The built-in model's vocabulary holds no Thai words, few Chinese characters and no emoji: each becomes the same "unknown" token,
and "I like 猫" would mean exactly what "I like 狗" does. Pairs of neighbouring characters, hashed, keep them apart, and
let words that share most of their characters stay near each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def direction(words: Sequence[str], dims: int) -> NDArray[np.float32]:
    """A unit vector of shape (dims,): the sum of a fixed pseudo-random direction for each pair of characters, edges included.

    The directions are taken from SHAKE-256, so they are the same on every machine and with every version.
    """
    pairs = Counter(pair for word in words for pair in _pairs(word.casefold()))
    total = np.zeros(dims, np.float32)
    for pair, count in pairs.items():
        noise = np.frombuffer(hashlib.shake_256(pair.encode("utf-8", "replace")).digest(dims), np.uint8)
        total += np.float32(count) * (noise.astype(np.float32) - np.float32(127.5))
    return total / np.float32(np.linalg.norm(total))


def _pairs(word: str) -> list[str]:
    edged = f"\0{word}\0"
    return [edged[place : place + 2] for place in range(len(edged) - 1)]
