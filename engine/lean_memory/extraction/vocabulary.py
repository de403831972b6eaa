"""What the predicates mean: cardinality, weight, opposites and the types of their ends; one data file says it all."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from lean_memory.domain import Cardinality


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """One entry of the vocabulary; `object_type` is `None` for a literal."""

    cardinality: Cardinality
    salience: float
    object_type: str | None = None
    opposite: str | None = None
    takes_list: bool = False
    vital: bool = False
    passing: str | None = None
    """The predicate of what holds for a short while only: who stays in Rome for two weeks lives where they live."""


def predicate(name: str) -> Predicate:
    """The entry of a predicate; an open slot has the default one."""
    entries, default = _entries()
    return entries.get(name, default)


def cardinality(name: str) -> Cardinality:
    """How many values a slot of the predicate holds at one moment."""
    return predicate(name).cardinality


def opposite(name: str) -> str | None:
    """The predicate that says the contrary of the same value, e.g. `likes` for `dislikes`."""
    return predicate(name).opposite


def salience(name: str) -> float:
    """How much a fact of the predicate matters, 0 to 10."""
    return predicate(name).salience


def object_type(name: str) -> str | None:
    """The entity type of the object, or `None` for a literal."""
    return predicate(name).object_type


def takes_list(name: str) -> bool:
    """Whether an object "A, B and C" is three values."""
    return predicate(name).takes_list


def is_vital(name: str) -> bool:
    """Whether facts of the predicate are about identity, health or family."""
    return predicate(name).vital


def predicates() -> tuple[str, ...]:
    """Every predicate of the vocabulary."""
    return tuple(_entries()[0])


@cache
def _entries() -> tuple[Mapping[str, Predicate], Predicate]:
    data = tomllib.loads(files("lean_memory.extraction").joinpath("vocabulary.toml").read_text("utf-8"))
    entries = {name: _entry(cast("dict[str, object]", row)) for name, row in data["predicate"].items()}
    return entries, _entry(data["default"])


def _entry(row: Mapping[str, object]) -> Predicate:
    kind, contrary, passing = row.get("object"), row.get("opposite"), row.get("passing")
    return Predicate(
        cardinality=Cardinality(str(row["cardinality"])),
        salience=float(str(row["salience"])),
        object_type=str(kind) if kind else None,
        opposite=str(contrary) if contrary else None,
        takes_list=bool(row.get("list", False)),
        vital=bool(row.get("vital", False)),
        passing=str(passing) if passing else None,
    )
