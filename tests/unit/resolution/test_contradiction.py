"""Each rung of the ladder that finds which stored value a retraction means."""

from __future__ import annotations

import numpy as np

from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.resolution.contradiction import Match, Rung, by_cosine, by_words


def test_the_equal_value_is_meant_before_one_that_contains_it() -> None:
    assert by_words("redis", ["redis for caching", "redis"]) == Match(key="redis", rung=Rung.EQUAL)


def test_a_value_that_contains_the_words_is_meant() -> None:
    assert by_words("redis", ["kafka", "redis for caching"]) == Match(key="redis for caching", rung=Rung.CONTAINMENT)


def test_a_value_that_differs_in_its_endings_is_meant() -> None:
    assert by_words("strawberry", ["shellfish", "strawberries"]) == Match(key="strawberries", rung=Rung.INFLECTION)
    assert by_words("port 8090", ["port 8091"]) is None


def test_no_word_in_common_means_nothing() -> None:
    assert by_words("redis", ["kafka", "valkey"]) is None


def nearest(key: str, stored: list[str]) -> Match | None:
    embedder = BuiltinEmbedder()
    vectors = embedder.embed([key, *stored])
    return by_cosine(key, vectors[0], stored, vectors[1:], threshold=embedder.thresholds.object_match)


def test_another_spelling_of_the_same_value_is_meant() -> None:
    assert nearest("nyc", ["boston", "new york city"]) == Match(key="new york city", rung=Rung.COSINE)


def test_near_identical_is_not_identical() -> None:
    assert nearest("port 8090", ["port 8091"]) is None
    assert nearest("left knee", ["right knee"]) is None
    assert nearest("north dakota", ["south dakota"]) is None


def test_a_different_value_is_not_meant() -> None:
    assert nearest("latex", ["penicillin", "pollen"]) is None
    assert by_cosine("x", np.ones(2, np.float32), [], np.zeros((0, 2), np.float32), threshold=0.5) is None
