"""Two scripts in one pack: writes the other spellings of its characters into the words and patterns of a parsed pack.

The pack's `variants` are groups of characters that stand for each other, e.g. "们們 说說説", the first being the one the pack
itself is written in. A pattern takes any of a group's characters; a word is listed in every spelling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import cast

_WORD_TABLES = frozenset(
    {"words", "kin", "kin_former", "verbs", "aux", "attributes", "months", "weekdays", "units", "numbers", "relative", "digits", "eras"}
)
_WORD_LISTS = frozenset({"words", "endings", "except"})
_PATTERN_TABLES = frozenset({"cues", "contractions", "person", "clauses", "cut", "before", "after"})
_PATTERN_KEYS = frozenset({"p", "pattern", "patterns", "range", "head_before"})
_MOST_SPELLINGS = 4


def spelled_out(data: Mapping[str, object]) -> Mapping[str, object]:
    """The parsed pack with every spelling in it; the pack itself when it names no variants."""
    groups = str(data.get("variants", "")).split()
    if not groups:
        return data
    others = {group[0]: group for group in groups}
    return {name: _table(name, value, others) for name, value in data.items()}


def _table(name: str, value: object, others: Mapping[str, str]) -> object:
    if name in _WORD_TABLES and isinstance(value, dict):
        return _words(cast("Mapping[str, object]", value), others, keyed=name not in {"words", "verbs", "aux"})
    if name in _PATTERN_TABLES and isinstance(value, dict):
        rows = cast("Mapping[str, object]", value)
        keyed = name in {"contractions", "person"}
        return {_pattern(key, others) if keyed else key: item if keyed else _patterns(item, others) for key, item in rows.items()}
    if name in _PATTERN_KEYS:
        return _patterns(value, others)
    if isinstance(value, dict):
        return {key: _entry(name, key, item, others) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [_row(item, others) for item in cast("Sequence[object]", value)]
    return value


def _entry(table: str, key: str, value: object, others: Mapping[str, str]) -> object:
    if table == "class":
        row = cast("Mapping[str, object]", value)
        return {name: _spellings(item, others) if name in _WORD_LISTS else _table(name, item, others) for name, item in row.items()}
    return _table(key, value, others)


def _row(row: object, others: Mapping[str, str]) -> object:
    if not isinstance(row, dict):
        return row
    rows = cast("Mapping[str, object]", row)
    return {
        key: _spellings(item, others) if key == "cues" else _patterns(item, others) if key in _PATTERN_KEYS else item
        for key, item in rows.items()
    }


def _words(table: Mapping[str, object], others: Mapping[str, str], *, keyed: bool) -> Mapping[str, object]:
    if keyed:
        return {spelling: value for word, value in table.items() for spelling in _spelling(word, others)}
    return {
        name: _words(cast("Mapping[str, object]", value), others, keyed=False) if isinstance(value, dict) else _spellings(value, others)
        for name, value in table.items()
    }


def _spellings(value: object, others: Mapping[str, str]) -> Sequence[str]:
    words = value.split() if isinstance(value, str) else [str(word) for word in cast("Sequence[object]", value)]
    return [spelling for word in words for spelling in _spelling(word, others)]


def _spelling(word: str, others: Mapping[str, str]) -> Sequence[str]:
    """Every spelling of a word, or the consistent ones only where there are too many."""
    choices = [others.get(character, character) for character in word]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count <= _MOST_SPELLINGS:
        return list(dict.fromkeys("".join(spelling) for spelling in product(*choices)))
    deepest = max(len(choice) for choice in choices)
    return list(dict.fromkeys("".join(choice[min(depth, len(choice) - 1)] for choice in choices) for depth in range(deepest)))


def _patterns(value: object, others: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _pattern(value, others)
    return [_pattern(str(source), others) for source in cast("Sequence[object]", value)]


def _pattern(source: str, others: Mapping[str, str]) -> str:
    """A regular expression that takes every spelling; inside a character class the characters just join it."""
    parts: list[str] = []
    in_class = escaped = False
    for character in source:
        group = others.get(character)
        parts.append(character if group is None else group if in_class else f"[{group}]")
        in_class = (in_class or character == "[") and not (character == "]" and not escaped) if not escaped else in_class
        escaped = character == "\\" and not escaped
    return "".join(parts)
