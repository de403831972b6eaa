"""Whether a summary says only what its sources say: each number, name and denial must be found in a source that speaks of the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lean_memory.maintenance.difference import is_counterpart
from lean_memory.maintenance.wording import Kind, Word, Wording, wording

_CLAUSE = re.compile(r"(?<=[.!?;。！？；])\s*|,\s+|，|、|\s+(?:and|but|y|und|et|e|и|но|aber|mais|pero)\s+")
_STRICT = frozenset({Kind.NAME, Kind.NUMBER})
_TOLD = frozenset({Kind.NAME, Kind.NUMBER, Kind.WORD, Kind.CRITICAL})
_DENIALS = frozenset({"not!", "ended!"})
_UNSURE = frozenset({"maybe!", "will!", "wants!", "if!"})


def untraceable(text: str, sources: Sequence[str]) -> str:
    """The first stretch of a text that cannot be traced to a source, as it stands in the text; empty where everything can.

    A clause is traced to one source: that which has all of its numbers and names, denies or doubts where it does, and shares most words.
    Its other words must be found in some source.
    """
    read = [wording(source) for source in sources]
    subject = _everywhere(read)
    for part in _CLAUSE.split(text):
        clause = wording(part)
        if clause.words and not _is_traced(clause, read, subject):
            return part.strip()
    return ""


def says_still(text: str, source: str) -> bool:
    """Whether a text still says what a source says: every number, name, sign and ordinary word of it."""
    told, said = wording(text), wording(source)
    return all(_in(word, told) for word in said.words if word.kind not in {Kind.LIGHT, Kind.RELATION, Kind.JOINT})


def _is_traced(clause: Wording, sources: Sequence[Wording], subject: frozenset[str]) -> bool:
    strict = [word for word in clause.words if word.kind in _STRICT or word.key in _UNSURE]
    plain = [word for word in clause.words if word.kind in {Kind.WORD, Kind.CRITICAL}]
    for source in sources:
        about = [word for word in (*strict, *plain) if word.key not in subject]
        shared = sum(_in(word, source) for word in about)
        if not (shared or not about) or not _are_in(strict, source):
            continue
        if _denials(clause) == _denials(source) and shared * 2 >= len(about):
            return all(any(_in(word, each) for each in sources) for word in plain)
    return False


def _everywhere(sources: Sequence[Wording]) -> frozenset[str]:
    """What every source says, such as whom they are about: it tells no source from another."""
    keys = [{word.key for word in source.words} for source in sources]
    return frozenset(key for key in keys[0] if all(key in each for each in keys)) if keys else frozenset()


def _in(word: Word, said: Wording) -> bool:
    return any(is_counterpart(word, other) for other in said.words)


def _are_in(words: Sequence[Word], said: Wording) -> bool:
    """Whether each of the words has a counterpart of its own: the five of a weekday is not the five of a distance."""
    left = list(said.words)
    for word in words:
        at = next((at for at, other in enumerate(left) if is_counterpart(word, other)), None)
        if at is None:
            return False
        del left[at]
    return True


def _denials(said: Wording) -> bool:
    return any(word.key in _DENIALS for word in said.words)
