"""Secrets known by their looks: what the detector library finds, and patterns of our own beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from lean_memory.extraction.secret_values import Find, is_placeholder, lexicon

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

_WORTH_A_LOOK = re.compile(r"(?=[\w+]{0,15}\d)[\w+]{16}|(?=[\w-]{0,19}\d)[\w-]{20}|[A-Za-z0-9]{24}", re.ASCII)
"""No token of any service goes without such a run; where there is none, as in most addresses, the library is not even loaded."""
_STOP = re.compile(rb"[.,!?)\]}>](?=[\s\"')\]]|\Z)|[\x80-\xff\x00]")
_HELPERS = re.compile(r"(?:name|host|user|username|email|url|endpoint|region|domain|id)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """One pattern of `secrets.toml`; it is tried where one of `near` occurs in small letters."""

    kind: str
    near: tuple[str, ...]
    regex: re.Pattern[str]


def named_secrets(text: str, lowered: str) -> Iterator[Find]:
    """What our own patterns find. `lowered` is the text in small letters, at the same offsets."""
    for pattern in _patterns():
        if not any(word in lowered for word in pattern.near):
            continue
        for match in pattern.regex.finditer(text):
            group = "secret" if "secret" in pattern.regex.groupindex else 0
            if not is_placeholder(match[group]):
                yield Find(start=match.start(group), end=match.end(group), kind=pattern.kind)


def known_tokens(text: str) -> list[Find]:
    """What the detector library finds; the kind is the name of its rule."""
    if _WORTH_A_LOOK.search(text) is None:
        return []
    data = text.encode("utf-8")
    # Its rules want a blank or a quote behind a token, where prose has a full stop; and they know letters of ASCII only.
    readable = _STOP.sub(lambda found: b" " * len(found[0]), data)
    places = sorted(
        (finding.location["start_offset"], finding.location["end_offset"], _kind(finding.rule_id))
        for finding in _scanner().scan(readable)
        if (finding.visible or not _HELPERS.search(finding.rule_id)) and not is_placeholder(finding.secret)
    )
    return _at_characters(data, places)


def _at_characters(data: bytes, places: list[tuple[int, int, str]]) -> list[Find]:
    """Places in UTF-8 as places in the text."""
    if data.isascii():
        return [Find(start=start, end=end, kind=kind) for start, end, kind in places]
    found: list[Find] = []
    byte = character = 0
    for start, end, kind in places:
        character += len(data[byte:start].decode("utf-8", "ignore"))
        byte = start
        found.append(Find(start=character, end=character + len(data[start:end].decode("utf-8", "ignore")), kind=kind))
    return found


def _kind(rule: str) -> str:
    return re.split(r"[./]", rule)[-1].replace("-", " ").replace("_", " ")[:40]


@cache
def _scanner() -> Scanner:
    """Compiled once per process, from a cache of the library's; it only ever reads what it is given, and has no part in the network."""
    from kingfisher_sdk import Scanner  # noqa: PLC0415 - half a second, which a text without anything like a token need not pay

    return Scanner()


@cache
def _patterns() -> tuple[_Pattern, ...]:
    made: list[_Pattern] = []
    for section, flags in (("token", re.ASCII), ("context", re.ASCII | re.IGNORECASE)):
        for entry in cast("list[Mapping[str, object]]", lexicon()[section]):
            near = tuple(str(word) for word in cast("list[object]", entry["near"]))
            made.append(_Pattern(kind=str(entry["kind"]), near=near, regex=re.compile(str(entry["pattern"]), flags)))
    return tuple(made)
