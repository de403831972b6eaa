"""Which value a retraction, an opposite or a correction means: the ladder, cheapest rung first.

On a functional slot the slot itself decides. On a multi-valued slot a value is named when it is equal, when it differs in
the ends of its words only, when all words of one occur in the other (token containment; in scripts without spaces, when one
is part of the other), or when it is the nearest by cosine, near enough for the embedder at hand. Near-identical is not
identical: numbers must agree, and two values that share a word and differ in another ("left knee", "right knee") are two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

_SHORTEST_STEM = 4
_LONGEST_ENDING = 3
_BUCKET = 3
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")


class Rung(StrEnum):
    """How a value was recognised, surest first."""

    EQUAL = "equal"
    INFLECTION = "inflection"
    CONTAINMENT = "containment"
    COSINE = "cosine"


def rung_of(key: str, other: str) -> Rung | None:
    """By which of the rungs that need no model the value `other` is meant by `key`; `None` if it is not."""
    if key == other:
        return Rung.EQUAL
    if _inflected(key, other):
        return Rung.INFLECTION
    return Rung.CONTAINMENT if _contained(key, other) else None


def names(key: str, other: str) -> bool:
    """Whether `key` means the value `other` by words."""
    return rung_of(key, other) is not None


def by_words(key: str, values: Iterable[str]) -> list[str]:
    """Those of the values that `key` means by the surest rung that finds any."""
    found: dict[Rung, list[str]] = {}
    for value in values:
        rung = rung_of(key, value)
        if rung is not None:
            found.setdefault(rung, []).append(value)
    surest = next((rung for rung in Rung if rung in found), None)
    return [] if surest is None else found[surest]


def by_cosine(
    key: str, vector: NDArray[np.float32], values: Sequence[str], vectors: NDArray[np.float32], *, threshold: float
) -> str | None:
    """The value nearest to `key`, if its cosine reaches `threshold` and no word or number speaks against it.

    `vector` has shape (dims,), `vectors` (len(values), dims); all are of unit length.
    """
    if not values:
        return None
    cosines = vectors @ vector
    best = int(np.argmax(cosines))
    return values[best] if cosines[best] >= threshold and not _differ(key, values[best]) else None


def buckets(key: str) -> set[str]:
    """Marks of a value: two values of which one means the other by words have a mark in common."""
    marks: set[str] = set()
    for word in key.split():
        if _UNSPACED.search(word):
            marks.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            # A word with anything but letters in it has no endings: only the same word is the same.
            marks.add(word[:_BUCKET] if word.isalpha() else word)
    return marks


def _inflected(key: str, other: str) -> bool:
    """Whether each word equals its counterpart up to an ending: "strawberry" and "strawberries", not "8090" and "8091"."""
    mine, theirs = key.split(), other.split()
    return len(mine) == len(theirs) and all(map(_same_stem, mine, theirs))


def _same_stem(one: str, other: str) -> bool:
    if one == other:
        return True
    if not (one.isalpha() and other.isalpha()) or min(len(one), len(other)) < _BUCKET or _UNSPACED.search(one):
        return False
    if one + "s" == other or other + "s" == one:
        return True
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return shared >= _SHORTEST_STEM and max(len(one), len(other)) - shared <= _LONGEST_ENDING


def _contained(key: str, other: str) -> bool:
    mine, theirs = set(key.split()), set(other.split())
    if not mine or not theirs:
        return False
    if mine <= theirs or theirs <= mine:
        return True
    shorter, longer = sorted((key, other), key=len)
    return len(shorter) > 1 and _UNSPACED.search(shorter) is not None and shorter in longer


def _differ(key: str, other: str) -> bool:
    mine, theirs = set(key.split()), set(other.split())
    one_for_another = bool(mine & theirs) and bool(mine - theirs) and bool(theirs - mine)
    return one_for_another or _numbers(key) != _numbers(other)


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,:]\d+)*", text))
