"""Cuts a sentence into clauses and readies each for the rules: contractions opened, fillers off the edges, dates set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lean_memory.domain import Span
from lean_memory.extraction.dates import Anchor, Found, find_dates, without
from lean_memory.extraction.pack import Pack

LONGEST_CLAUSE = 320
_MOST_CLAUSES = 16
_LONGEST_VERB = 80
"""How far back from the end of words without a verb one may begin that ends behind them."""

_EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__)(?=\S)([^*_\n]{1,80}?)(?<=\S)(?:\*\*|__)(?!\w)")
"""Words that Markdown makes bold; they are read as they are."""
_ABBREVIATED = re.compile(r"(?:\b[A-Z]\.[A-Z]\.|\b(?:Inc|Ltd|Corp|Jr|Sr|Co|Bros|a\.m|p\.m)\.)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause; `span` lies in the text it came from."""

    span: Span
    raw: str
    """As it was said."""
    full: str
    """Contractions opened, fillers off the edges."""
    bare: str
    """The same without its dates."""
    dates: tuple[Found, ...] = ()
    whole: str = ""
    """Contractions opened, fillers still there: cues such as "anymore" stand at the edges."""
    is_relative: bool = False
    """It began with a relative pronoun: its subject is what was named last."""
    is_alone: bool = True
    """It is the whole sentence."""
    additive: bool = False
    corrects: bool = False


def clauses(sentence: str, offset: int, pack: Pack, anchor: Anchor) -> tuple[Clause, ...]:
    """The clauses of a sentence that starts at `offset` of the text, in order."""
    head = sentence[: LONGEST_CLAUSE * 2]
    pieces = [(0, len(head), False)] if pack.has_cue("whole", head) else list(_pieces(head, pack))
    made: list[Clause] = []
    for start, end, relative in pieces:
        clause = _clause(sentence[start:end], offset + start, pack, anchor, relative=relative, alone=len(pieces) == 1)
        if clause is not None:
            made.append(clause)
    return tuple(made)


@lru_cache(maxsize=64)
def opened(text: str, pack: Pack) -> str:
    """The text with its contractions opened: "I'm" is "I am". Kept for a while: sentence and only clause are often the same text."""
    for pattern, replacement in pack.contractions:
        if pattern.search(text):
            text = pattern.sub(replacement, text)
    return text


def closed(text: str, pack: Pack) -> str:
    """An opened text as it is written: "je habite" is "j'habite"."""
    for pattern, replacement in pack.closings:
        text = pattern.sub(replacement, text)
    return text


def _pieces(sentence: str, pack: Pack) -> Iterator[tuple[int, int, bool]]:
    start, relative, made, verbless = 0, False, 1, 0
    for joint in pack.joints.finditer(sentence):
        left = sentence[start : joint.start()]
        if joint.start() <= start:
            continue
        if not pack.verb_like.search(left, max(0, verbless - _LONGEST_VERB)):
            verbless = len(left)
            if not pack.has_cue("correction_alone", left.strip()):
                continue
        elif not _is_clause(left, joint[0], pack):
            continue
        if made == _MOST_CLAUSES:
            break
        made += 1
        yield start, joint.start(), relative
        start, relative, verbless = joint.end(), pack.has_cue("relative", joint[0]) is not None, 0
    yield start, len(sentence), relative


def _is_clause(left: str, joint: str, pack: Pack) -> bool:
    """Whether words with a verb left of a joint are a clause: more than an auxiliary, and no "My parents, Hedda and Rune" before a comma."""
    words = left.strip()
    if pack.has_cue("correction_alone", words):
        return True
    return bool(words) and words.casefold() not in pack.aux and not (joint.strip() == "," and pack.has_cue("aside", words))


def _clause(raw: str, start: int, pack: Pack, anchor: Anchor, *, relative: bool, alone: bool) -> Clause | None:
    stripped = raw.strip()
    if not stripped:
        return None
    start += raw.index(stripped[0])
    whole = _EMPHASIS.sub(r"\1", opened(stripped, pack))[:LONGEST_CLAUSE]
    full = _edges(whole, pack)
    lead = stripped[:40]
    found = find_dates(full, pack, Anchor(t_ref=anchor.t_ref, tz=anchor.tz, ahead=pack.has_cue("ahead", full) is not None))
    bare = _edges(without(full, found), pack) if found else full
    return Clause(
        span=Span(start=start, end=start + len(stripped)),
        raw=stripped,
        full=full,
        whole=whole,
        bare=bare,
        dates=found,
        is_relative=relative,
        is_alone=alone,
        additive=pack.has_cue("additive", whole) is not None or pack.has_cue("additive_lead", lead) is not None,
        corrects=pack.has_cue("correction", lead) is not None,
    )


def _edges(text: str, pack: Pack) -> str:
    """Fillers off both ends, as often as there are any."""
    lead, tail = pack.cues.get("lead"), pack.cues.get("tail")
    before = None
    text = unstopped(text)
    while before != text:
        before = text
        if lead and (found := lead.match(text)) and found.end() < len(text):
            text = text[found.end() :]
        if tail and (found := _last(tail, text)):
            text = text[:found]
        text = text.strip().rstrip(",;，；、-–— ").lstrip(",;，；、-–—: ")
    return text


def unstopped(text: str) -> str:
    """The text without its full stop; the one of an abbreviation stays."""
    trimmed = text.rstrip(" !…。！~\t")
    if trimmed.endswith(".") and not _ABBREVIATED.search(trimmed):
        trimmed = trimmed.rstrip(". ")
    return trimmed or text


def _last(tail: re.Pattern[str], text: str) -> int | None:
    """Where a filler at the very end begins; looks at the last 40 characters only."""
    base = max(0, len(text) - 40)
    for found in tail.finditer(text, base):
        if found.end() == len(text) and found.start() > 0:
            return found.start()
    return None
