"""What matters too much to be moved out of sight without asking: identity, health, safety, family, and what was said to be important."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TypedDict, cast

from lean_memory.domain import Fact, name_key


class _Data(TypedDict):
    predicates: list[str]
    words: list[str]
    stretches: list[str]


def is_vital(fact: Fact) -> bool:
    """Whether a fact is of a vital predicate, or its text speaks of what is vital."""
    return fact.predicate in _predicates() or _spoken().search(name_key(fact.fact_text).replace("’", "'")) is not None


@cache
def _data() -> _Data:
    return cast("_Data", tomllib.loads(files("lean_memory.maintenance").joinpath("vital.toml").read_text("utf-8")))


@cache
def _predicates() -> frozenset[str]:
    return frozenset(_data()["predicates"])


@cache
def _spoken() -> re.Pattern[str]:
    words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in _data()["words"])
    return re.compile(rf"\b(?:{words})|{'|'.join(map(re.escape, _data()['stretches']))}")
