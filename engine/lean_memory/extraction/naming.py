"""Words about names that hold before the language of a line is known; one data file lists them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def naming(name: str) -> frozenset[str]:
    """A list of `naming.toml`: `labels`, `roles`, `possessives`, `particles` or `no_last_name`; raises `KeyError` for any other."""
    data = tomllib.loads(files("lean_memory.extraction").joinpath("naming.toml").read_text("utf-8"))
    return frozenset(str(word) for word in data[name])
