"""Each rung of the ladder that finds which stored value a retraction means."""

from __future__ import annotations

import numpy as np

from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.resolution.contradiction import Rung, buckets, by_cosine, by_words, rung_of


def test_the_equal_value_is_meant_before_one_that_contains_it() -> None:
    assert by_words("redis", ["redis for caching", "redis"]) == ["redis"]


def test_a_value_that_contains_the_words_is_meant() -> None:
    assert by_words("redis", ["kafka", "redis for caching"]) == ["redis for caching"]


def test_a_value_that_differs_in_its_endings_is_meant() -> None:
    assert by_words("strawberry", ["shellfish", "strawberries"]) == ["strawberries"]
    assert by_words("port 8090", ["port 8091"]) == []


def test_no_word_in_common_means_nothing() -> None:
    assert by_words("redis", ["kafka", "valkey"]) == []


def nearest(key: str, stored: list[str]) -> str | None:
    embedder = BuiltinEmbedder()
    vectors = embedder.embed([key, *stored])
    return by_cosine(key, vectors[0], stored, vectors[1:], threshold=embedder.thresholds.object_match)


def test_another_spelling_of_the_same_value_is_meant() -> None:
    assert nearest("nyc", ["boston", "new york city"]) == "new york city"


def test_near_identical_is_not_identical() -> None:
    assert nearest("port 8090", ["port 8091"]) is None
    assert nearest("left knee", ["right knee"]) is None
    assert nearest("north dakota", ["south dakota"]) is None


def test_a_different_value_is_not_meant() -> None:
    assert nearest("latex", ["penicillin", "pollen"]) is None
    assert by_cosine("x", np.ones(2, np.float32), [], np.zeros((0, 2), np.float32), threshold=0.5) is None


def test_in_scripts_without_spaces_a_part_is_contained() -> None:
    assert rung_of("合唱团", "校合唱团") is Rung.CONTAINMENT
    assert rung_of("茶", "奶茶") is None


def test_a_number_has_no_bucket_but_its_own() -> None:
    assert not buckets("port8090") & buckets("port8091")


def test_values_that_mean_each_other_have_a_mark_in_common() -> None:
    pairs = [
        ("strawberry", "strawberries"),
        ("redis", "redis for caching"),
        ("合唱团", "校合唱团"),
        ("cat", "cats"),
        ("port 80", "80 port"),
    ]
    for one, other in pairs:
        assert rung_of(one, other) is not None
        assert buckets(one) & buckets(other)
