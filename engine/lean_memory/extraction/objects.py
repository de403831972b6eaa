"""Cleans what a slot caught: cut where the value ends, articles and fillers off, lists taken apart, spelling kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import cast

from lean_memory.extraction.pack import Pack
from lean_memory.extraction.scene import is_name
from lean_memory.keys import bared

_EDGES = " \t,;:.!?…。，；：、！？\"'“”‘’«»「」()（）*_~-–—"
_EMOJI = re.compile(r"[\U0001F300-\U0001FAFF☀-➿️‍]+")
_KEEP_END = re.compile(r"(?:\b[A-Z]\.|\b(?:Inc|Ltd|Co|Corp|Jr|Sr|St)\.|\+\+|\))$")
_LONGEST_END = 8
_LONGEST = 120
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")


def clean(text: str, pack: Pack, kind: str = "any") -> str:
    """The value in the text of a slot, as it is spelled there; empty when nothing is left."""
    value = _EMOJI.sub(" ", text).strip()
    if kind == "verbatim":
        return _trim(value)[:_LONGEST]
    if kind == "count":
        return in_digits(_trim(value)[:_LONGEST], pack)
    value = _trim(_cut(value, pack, kind))
    tail, article = pack.cues.get("tail"), pack.cues.get("article")
    before = None
    while before != value:
        before = value
        if article and (found := article.match(value)) and found.end() < len(value):
            value = value[found.end() :]
        if tail and (
            found := next((f for f in tail.finditer(value, max(0, len(value) - 40)) if f.end() == len(value) and f.start()), None)
        ):
            value = value[: found.start()]
        value = _trim(value)
    return value[:_LONGEST]


def in_digits(value: str, pack: Pack) -> str:
    """A number as digits where it is a word or an ordinal ("three", "twenty-five", "third", "3rd"), so that one count is one value."""
    words = cast("Mapping[str, int]", pack.dates.get("numbers", {}))
    ordinals = pack.words.get("ordinals", ())
    lowered = value.casefold()
    if lowered in ordinals and not lowered[0].isdigit():
        return str(ordinals.index(lowered) + 1)
    if _ORDINAL.fullmatch(lowered):
        return lowered[:-2]
    parts = [words.get(lowered)] if lowered in words else [words.get(part) for part in re.split(r"[ -]", lowered)]
    return str(sum(part for part in parts if part)) if parts and all(parts) else value


def items(text: str, pack: Pack, kind: str = "any") -> tuple[str, ...]:
    """The values of a list "A, B and C", cleaned; one value when it is no list."""
    pattern = pack.cues.get("list")
    text = _cut(text, pack, kind)
    pieces = pattern.split(text) if pattern else [text]
    values = [clean(piece, pack, kind) for piece in pieces if piece]
    return tuple(dict.fromkeys(value for value in values if value))


def accepts(kind: str, value: str, pack: Pack) -> bool:
    """Whether a cleaned value belongs to a slot class; what the pack bans is no value anywhere.

    Classes of the pack come first, less what its cue `not_CLASS` finds; then `name` and `people` (proper names), `label` (a name that may be small),
    `number`, `short` (five words), `value` (what an attribute may have), `attribute` and `relation` (what may be one),
    `dated` (it has a digit), `email`, `phone`; any other class takes whatever is not too long.
    """
    if not value or value.casefold() in pack.word_sets.get("not_value", frozenset()):
        return False
    if kind != "verbatim" and pack.has_cue("not_object", value):
        return False
    if kind in pack.classes:
        return pack.classes[kind].accepts(value) and not (pack.has_cue("clause_like", value) or pack.has_cue(f"not_{kind}", value))
    test = _TESTS.get(kind)
    return test(value, pack) if test else len(value) <= _LONGEST


def _is_attribute_value(value: str, pack: Pack) -> bool:
    """A value an attribute may have: no clause, no feeling ("so nice", "getting worse")."""
    if len(value.split()) > 12 or pack.has_cue("not_attribute_value", value):
        return False
    return not pack.has_cue("clause_like", value)


def _is_attribute(value: str, pack: Pack) -> bool:
    return len(value.split()) <= 5 and len(value) <= 60 and not pack.has_cue("not_attribute", value)


def _is_number(value: str, pack: Pack) -> bool:
    return any(character.isdigit() for character in value) or value.casefold() in pack.word_sets.get("numbers", frozenset())


def _is_label(value: str, pack: Pack) -> bool:
    banned = pack.word_sets.get("not_subject", frozenset())
    return len(value.split()) <= 4 and len(value) <= 40 and value.split(maxsplit=1)[0].casefold() not in banned


_TESTS: Mapping[str, Callable[[str, Pack], bool]] = {
    "name": is_name,
    "people": lambda value, pack: is_name(value, pack) and not value.endswith(("'s", "’s")),
    "activity": lambda value, pack: len(value) <= 60 and not pack.has_cue("not_activity", value),
    "skill": lambda value, pack: len(value.split()) <= 6 and not pack.has_cue("clause_like", value) and not pack.has_cue("finite", value),
    "label": _is_label,
    "number": _is_number,
    "place": lambda value, pack: len(value) <= 60 and not pack.has_cue("not_place", value) and not pack.has_cue("duration", value),
    "org": lambda value, pack: (
        len(value) <= 80
        and value.casefold() not in pack.word_sets.get("not_org", frozenset())
        and not pack.has_cue("duration", value)
        and not pack.has_cue("not_org_like", value)
    ),
    "proper": lambda value, _: any(character.isupper() for character in value),
    "verbatim": lambda value, _: bool(value),
    "hard": lambda value, pack: _is_attribute_value(value, pack) and any(c.isdigit() or c.isupper() or c in "/@" for c in value),
    "short": lambda value, _: len(value.split()) <= 5 and len(value) <= 50,
    "value": _is_attribute_value,
    "attribute": _is_attribute,
    "relation": lambda value, _: len(value) <= 80,
    "dated": lambda value, _: any(character.isdigit() for character in value),
    "when": lambda value, pack: len(value) <= 40 and (any(c.isdigit() for c in value) or pack.has_cue("day", value) is not None),
    "email": lambda value, _: bool(re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", value)),
    "phone": lambda value, _: sum(character.isdigit() for character in value) >= 5,
}


def _cut(value: str, pack: Pack, kind: str) -> str:
    for name in ("any", kind):
        cut = pack.cut.get(name)
        found = cut.search(value) if cut else None
        if found and found.start() > 0:
            value = value[: found.start()]
    return value


def _trim(value: str) -> str:
    return bared(value, _opens, _ends)


def _opens(value: str, place: int) -> bool:
    return value[place] in _EDGES and not (value[place] == "(" and value.find(")", place) > 0)


def _ends(value: str, place: int) -> bool:
    return value[place] in _EDGES and _KEEP_END.search(value, max(0, place - _LONGEST_END), place + 1) is None
