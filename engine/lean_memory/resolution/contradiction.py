"""Which stored value a retraction or an opposite means: the ladder, cheapest rung first.

On a functional slot the slot itself decides. On a multi-valued slot a value is named when it is equal, when all words of
one occur in the other (token containment), or when it is the nearest by cosine, near enough for the embedder at hand, and
agrees in every number: near-identical is not identical.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lean_memory.resolution.timeline import names


class Rung(StrEnum):
    """How a value was recognised."""

    EQUAL = "equal"
    CONTAINMENT = "containment"
    COSINE = "cosine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The stored value that was meant, and the rung that found it."""

    key: str
    rung: Rung


def by_words(key: str, stored: Sequence[str]) -> Match | None:
    """The stored value that equals `key` or contains its words (or is contained in them), equality first."""
    if key in stored:
        return Match(key=key, rung=Rung.EQUAL)
    contained = next((other for other in stored if names(key, other)), None)
    return Match(key=contained, rung=Rung.CONTAINMENT) if contained is not None else None


def by_cosine(
    key: str, vector: NDArray[np.float32], stored: Sequence[str], vectors: NDArray[np.float32], *, threshold: float
) -> Match | None:
    """The stored value nearest to `key`, if its cosine reaches `threshold` and its numbers agree.

    `vector` has shape (dims,), `vectors` (len(stored), dims); all are of unit length.
    """
    if not stored:
        return None
    cosines = vectors @ vector
    best = int(np.argmax(cosines))
    if cosines[best] < threshold or _numbers(stored[best]) != _numbers(key):
        return None
    return Match(key=stored[best], rung=Rung.COSINE)


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,:]\d+)*", text))
