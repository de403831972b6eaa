"""Moments as clients give them."""

from __future__ import annotations

import pytest

from lean_memory.errors import InvalidInputError
from lean_memory_bridge.moments import moment_of


@pytest.mark.parametrize("given", ["--1717000000000", "9" * 5000, "-", "soon"])
def test_what_is_no_moment_is_refused_in_a_sentence(given: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^as_of "):
        moment_of(given, "as_of")


@pytest.mark.parametrize("given", [1_717_000_000_000, "1717000000000", " 1717000000000 "])
def test_milliseconds_are_taken_as_they_are(given: int | str) -> None:
    assert moment_of(given, "as_of") == 1_717_000_000_000
