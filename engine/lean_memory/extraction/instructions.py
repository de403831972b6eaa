"""Text that tries to steer an assistant: "ignore all previous instructions". It is data like any other text, and nothing is learned from it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from lean_memory.domain import Span

_WORDS_BEFORE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tongue:
    """How one language steers."""

    near: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    not_after: frozenset[str]
    spaced: bool


def steers(text: str) -> bool:
    """Whether a text holds words that try to steer an assistant."""
    return next(_matches(text), None) is not None


def steering(text: str) -> list[Span]:
    """Where a text tries to steer an assistant, in any of the languages, in order and apart; what merely tells of instructions is left out."""
    apart: list[Span] = []
    for span in sorted(_matches(text), key=lambda found: found.start):
        if apart and span.start <= apart[-1].end:
            apart[-1] = Span(start=apart[-1].start, end=max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart


def _matches(text: str) -> Iterator[Span]:
    lowered = text.casefold() if text.isascii() else text.lower()
    if len(lowered) != len(text):
        lowered = text
    for tongue in _tongues():
        if any(word in lowered for word in tongue.near):
            for pattern in tongue.patterns:
                for match in pattern.finditer(text):
                    if not _is_told_of(lowered[max(0, match.start() - _WORDS_BEFORE) : match.start()], tongue):
                        yield Span(start=match.start(), end=match.end())


def _is_told_of(before: str, tongue: _Tongue) -> bool:
    """Whether somebody is said to do it: "I ignore all previous instructions", "he told me to ignore …"; "I want you to …" steers."""
    if not tongue.spaced:
        return before.rstrip().endswith(tuple(tongue.not_after)) if tongue.not_after else False
    if before.endswith("\n"):
        return False
    words = before.replace("’", "'").split()
    if not words or words[-1] not in tongue.not_after:
        return False
    return not (words[-1] == "to" and len(words) > 1 and words[-2] == "you")


@cache
def _tongues() -> tuple[_Tongue, ...]:
    data = tomllib.loads(files("lean_memory.extraction").joinpath("instructions.toml").read_text("utf-8"))
    return tuple(_tongue(code, entry) for code, entry in data.items())


def _tongue(code: str, entry: Mapping[str, object]) -> _Tongue:
    near, patterns, not_after = (tuple(cast("list[str]", entry[key])) for key in ("near", "patterns", "not_after"))
    return _Tongue(
        near=near,
        patterns=tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns),
        not_after=frozenset(not_after),
        spaced=code not in {"zh", "ja"},
    )
