"""Takes secrets out of a text before anything is written: keys, tokens, private keys, passwords.

Pure: nothing is sent anywhere, nothing is kept. Costs grow with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lean_memory.extraction.secret_blocks import private_keys
from lean_memory.extraction.secret_labels import labelled
from lean_memory.extraction.secret_tokens import known_tokens, named_secrets
from lean_memory.extraction.secret_values import Find, looks_made_up

_MARKER = re.compile(r"\[redacted: [\w .,/+-]{1,60}\]")
_MOST_ROUNDS = 8
_WORD = re.compile(r"[^\s\"'`<>()\[\]{},;|]+")
_EDGE = ".!?:，。！？；：、」』”’"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without its secrets, and of what kind each was, in the order of the text."""

    text: str
    kinds: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """The text with a marker such as `[redacted: AWS access key]` in the place of every secret; doing it again changes nothing.

    Documented example keys and placeholders stay.
    """
    kinds: list[tuple[int, str]] = []
    for _ in range(_MOST_ROUNDS):
        finds = _found(text)
        if not finds:
            break
        text, kinds = _marked(text, finds, kinds)
    return Redacted(text=text, kinds=tuple(kind for _, kind in sorted(kinds)))


def has_marker(text: str) -> bool:
    """Whether a secret was taken out of the text."""
    return "[redacted: " in text and _MARKER.search(text) is not None


def _found(text: str) -> list[Find]:
    """The secrets of a text, in order, none overlapping another. What was taken out already is not looked at."""
    seen = _MARKER.sub(lambda marker: "\0" * len(marker[0]), text) if "[redacted: " in text else text
    lowered = _lowered(seen)
    named = [*private_keys(seen), *named_secrets(seen, lowered), *labelled(seen, lowered)]
    finds = _apart([*named, *known_tokens(seen)])
    return _apart([*finds, *_again(seen, finds)]) if finds else []


def _lowered(text: str) -> str:
    """Small letters, at the same offsets."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _apart(finds: Iterable[Find]) -> list[Find]:
    """Overlapping finds made one, under the name of the one that was found first."""
    kept: list[Find] = []
    for find in sorted(finds, key=lambda f: (f.start, -f.end)):
        if kept and find.start < kept[-1].end:
            before = kept[-1]
            kept[-1] = Find(start=before.start, end=max(before.end, find.end), kind=before.kind)
        else:
            kept.append(find)
    return kept


def _again(text: str, finds: Sequence[Find]) -> list[Find]:
    """The same secrets where they stand once more by themselves."""
    values = {text[f.start : f.end]: f.kind for f in finds if f.end - f.start <= 200}
    known = {value: kind for value, kind in values.items() if looks_made_up(value)}
    if not known:
        return []
    found: list[Find] = []
    for word in _WORD.finditer(text):
        bare = word[0].strip(_EDGE)
        kind = known.get(bare)
        if kind is not None:
            start = word.start() + word[0].index(bare)
            found.append(Find(start=start, end=start + len(bare), kind=kind))
    return found


def _marked(text: str, finds: Sequence[Find], before: Sequence[tuple[int, str]]) -> tuple[str, list[tuple[int, str]]]:
    """The text with the finds replaced, and where each marker stands; `before` are those of earlier rounds."""
    pieces: list[str] = []
    kinds: list[tuple[int, str]] = []
    shifts: list[tuple[int, int]] = []
    last = length = 0
    for find in finds:
        pieces.append(text[last : find.start])
        length += find.start - last
        kinds.append((length, find.kind))
        marker = f"[redacted: {find.kind}]"
        pieces.append(marker)
        length += len(marker)
        last = find.end
        shifts.append((find.end, length - find.end))
    pieces.append(text[last:])
    return "".join(pieces), [*_moved(before, shifts), *kinds]


def _moved(kinds: Iterable[tuple[int, str]], shifts: Sequence[tuple[int, int]]) -> Iterable[tuple[int, str]]:
    """Earlier markers at their new places; both are in order."""
    moved: list[tuple[int, str]] = []
    number, shift = 0, 0
    for place, kind in sorted(kinds):
        while number < len(shifts) and shifts[number][0] <= place:
            shift = shifts[number][1]
            number += 1
        moved.append((place + shift, kind))
    return moved
