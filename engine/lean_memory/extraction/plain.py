"""Puts what people write in note form into plain sentences: headed lists, profile lines, "34, nurse, based in Hull"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lean_memory.extraction.clauses import opened
from lean_memory.extraction.objects import accepts
from lean_memory.extraction.pack import Pack

_LONGEST_HEADING = 60
_PART = re.compile(r"\s*,\s+")


def is_heading(text: str) -> bool:
    """Whether a line only announces what follows it: "Things I avoid:"."""
    return text.rstrip().endswith((":", "：")) and len(text) <= _LONGEST_HEADING


def plain(text: str, pack: Pack, *, profile: bool) -> str:
    """The sentence in plain words, or as it is when it is plain already; `profile`: it is a line of what the speaker tells of themselves."""
    if not pack.rewrites:
        return text
    words = opened(text, pack)
    changed = _rewritten(words, [*pack.profile, *pack.rewrites] if profile else pack.rewrites)
    changed = _self_described(changed, pack)
    return text if changed == words else changed


def _rewritten(text: str, rewrites: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in rewrites:
        if pattern.search(text):
            text = pattern.sub(replacement, text, count=1)
    return text


def _self_described(text: str, pack: Pack) -> str:
    """ "I am Ana, 34, a nurse from Cork" as "I am Ana, I am 34, I am a nurse, I am from Cork"."""
    described = pack.has_cue("described", text)
    if described is None:
        return text
    parts = _PART.split(text[described.end() :].rstrip(" .!"))
    told: list[str] = []
    for number, part in enumerate(parts):
        lead = _lead(part, pack, first=number == 0)
        if lead is None:
            return ", ".join([*told, *parts[number:]])
        told.extend(_split(lead + part, pack))
    return ", ".join(told)


def _split(part: str, pack: Pack) -> Sequence[str]:
    joint = pack.cues.get("participle")
    pieces = joint.split(part) if joint else [part]
    return [pieces[0], *(f"{pack.self_leads[0]}{piece}" for piece in pieces[1:] if piece)]


def _lead(part: str, pack: Pack, *, first: bool) -> str | None:
    """What makes a sentence of a part: "I am " for "34", "I have " for "two kids"; `None` when it is something else."""
    for pattern, lead in pack.self_parts:
        if pattern.match(part):
            return lead
    if accepts("job", part, pack):
        return pack.self_leads[1]
    return pack.self_leads[0] if first else None
