"""Which stored value a retraction or an opposite means: the ladder, cheapest rung first.

On a functional slot the slot itself decides. On a multi-valued slot a value is named when it is equal, when it differs in
the ends of its words only, when all words of one occur in the other (token containment), or when it is the nearest by
cosine, near enough for the embedder at hand. Near-identical is not identical: numbers must agree, and two values that share
a word and differ in another ("left knee", "right knee") are two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from lean_memory.resolution.timeline import names

_SHORTEST_STEM = 4
_LONGEST_ENDING = 3


class Rung(StrEnum):
    """How a value was recognised."""

    EQUAL = "equal"
    INFLECTION = "inflection"
    CONTAINMENT = "containment"
    COSINE = "cosine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The stored value that was meant, and the rung that found it."""

    key: str
    rung: Rung


def by_words(key: str, stored: Sequence[str]) -> Match | None:
    """The stored value that equals `key`, is an inflection of it, or contains its words (or is contained in them), in this order."""
    if key in stored:
        return Match(key=key, rung=Rung.EQUAL)
    inflected = next((other for other in stored if _inflected(key, other)), None)
    if inflected is not None:
        return Match(key=inflected, rung=Rung.INFLECTION)
    contained = next((other for other in stored if names(key, other)), None)
    return Match(key=contained, rung=Rung.CONTAINMENT) if contained is not None else None


def by_cosine(
    key: str, vector: NDArray[np.float32], stored: Sequence[str], vectors: NDArray[np.float32], *, threshold: float
) -> Match | None:
    """The stored value nearest to `key`, if its cosine reaches `threshold` and no word or number speaks against it.

    `vector` has shape (dims,), `vectors` (len(stored), dims); all are of unit length.
    """
    if not stored:
        return None
    cosines = vectors @ vector
    best = int(np.argmax(cosines))
    if cosines[best] < threshold or _differ(key, stored[best]):
        return None
    return Match(key=stored[best], rung=Rung.COSINE)


def _inflected(key: str, other: str) -> bool:
    """Whether each word equals its counterpart up to an ending: "strawberry" and "strawberries", not "8090" and "8091"."""
    mine, theirs = key.split(), other.split()
    return len(mine) == len(theirs) and all(map(_same_stem, mine, theirs))


def _same_stem(one: str, other: str) -> bool:
    if one in {other, other + "s"} or other == one + "s":
        return True
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    ends_only = max(len(one), len(other)) - shared <= _LONGEST_ENDING
    return one.isalpha() and other.isalpha() and shared >= _SHORTEST_STEM and ends_only


def _differ(key: str, other: str) -> bool:
    mine, theirs = set(key.split()), set(other.split())
    one_for_another = bool(mine & theirs) and bool(mine - theirs) and bool(theirs - mine)
    return one_for_another or _numbers(key) != _numbers(other)


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,:]\d+)*", text))
