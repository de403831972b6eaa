"""Cuts text into sentences and passages; every piece is a `Span` of the text, and every piece is bounded."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lean_memory.domain import Span
from lean_memory.extraction.naming import naming

LONGEST_SENTENCE = 600
_SHORT_TURN = 600
_PASSAGE = 500

_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|cf|approx|No|Nr|Inc|Ltd|Co|Corp|Mt|Ave|Blvd|Dept|Univ|Gen|Col|Lt|Sgt|Rev|Hon|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?"
    r"|Oct|Nov|Dec|Sra|Srta|Dra|bzw|z\.B|d\.h|usw|ca|M|Mme|Mlle|ул|г|т\.е|т\.д|т\.п|им)|\b[A-Z]|\b(?:[A-Za-z]\.)+[A-Za-z]|^\s*\d{1,3})$"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}$")
_AFTER_ORDINAL = re.compile(r"\s+(?:Jan|Feb|Mär|Mar|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|FC\b|SC\b|SV\b|[a-zäöü])")
_BREAK = re.compile(
    r"(?P<stop>(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|[。！？!?][」』”’）]*+(?=.)|[。！？]|(?<=\s)[•·▪]\s"
    r"|(?<![\U0001F300-\U0001FAFF☀-➿])[\U0001F300-\U0001FAFF☀-➿]++[️]?\s(?=\s{0,3}\S))",
    re.DOTALL,
)
_BULLET = re.compile(r"^\s*(?:[-*•·▪–—]|\d{1,3}[.)]|\(\d{1,3}\)|#{1,6}|\[[ xX]\]|[-*]\s\[[ xX]\])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_SPEAKER = re.compile(r"^\s*(?P<name>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})\s?[:：]\s+(?=\S)")
_PAIRS = {"“": "”", "«": "»", "「": "」", "『": "』", "‘": "’", "„": "“"}
_QUOTE = re.compile(f'["{"".join(_PAIRS)}]')
_LONGEST_QUOTE = 300
_PIECE = re.compile(r"\S(?:.*\S)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: its span in the text (no bullet, no blank edges), its words, and who says it where a prefix names somebody."""

    span: Span
    text: str
    speaker: str | None = None
    is_heading: bool = False
    is_item: bool = False


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in order; none is longer than `LONGEST_SENTENCE`."""
    for line_start, line_end in _lines(text):
        line = text[line_start:line_end]
        bullet = _BULLET.match(line)
        offset = bullet.end() if bullet else 0
        heading = bool(_HEADING.match(line))
        speaker = None if bullet else _SPEAKER.match(line)
        name = speaker["name"] if speaker and _is_name(speaker["name"]) else None
        if speaker and (name or speaker["name"] in naming("roles")):
            offset = speaker.end()
        for start, end in _pieces(line, offset):
            span = Span(start=line_start + start, end=line_start + end)
            yield Sentence(span=span, text=text[span.start : span.end], speaker=name, is_heading=heading, is_item=bool(bullet))


def passages(text: str) -> tuple[Span, ...]:
    """Pieces to index: the whole turn when it is short, else runs of whole sentences; together they cover every non-blank character."""
    whole = _PIECE.search(text)
    if whole is None:
        return ()
    if len(whole[0]) <= _SHORT_TURN:
        return (Span(start=whole.start(), end=whole.end()),)
    spans: list[Span] = []
    start = whole.start()
    end = start
    for stop in _stops(text, whole.start(), whole.end()):
        if stop - start > _PASSAGE and end > start:
            spans.append(_trimmed(text, start, end))
            start = end
        end = stop
        while end - start > _SHORT_TURN:
            cut = _soft_cut(text, start, start + _PASSAGE)
            spans.append(_trimmed(text, start, cut))
            start = cut
    spans.append(_trimmed(text, start, end))
    return tuple(span for span in spans if span.end > span.start)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end > start and not text[start:end].isspace():
            yield start, end
        start = end + 1


def _pieces(line: str, offset: int) -> Iterator[tuple[int, int]]:
    """Sentence bounds in one line."""
    start = offset
    for stop in _sentence_stops(line, offset):
        yield from _bounded(line, start, stop)
        start = stop


def _sentence_stops(line: str, offset: int) -> Iterator[int]:
    start = offset
    quotes = _quoted(line)
    for found in _BREAK.finditer(line, offset):
        if found.end() < len(line) and (_is_inside(quotes, found.start()) or _is_abbreviation(line, start, found)):
            continue
        start = found.end()
        yield start
    if start < len(line):
        yield len(line)


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    for line_start, line_end in _lines(text):
        if line_end <= start or line_start >= end:
            continue
        for stop in _sentence_stops(text[line_start:line_end], 0):
            yield line_start + stop
    yield end


def _bounded(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST_SENTENCE:
        cut = _soft_cut(line, start, start + LONGEST_SENTENCE)
        yield from _stripped(line, start, cut)
        start = cut
    yield from _stripped(line, start, end)


def _stripped(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    span = _trimmed(line, start, end)
    if span.end > span.start:
        yield span.start, span.end


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start=start, end=end)


def _soft_cut(text: str, start: int, limit: int) -> int:
    """The last blank before the limit, else the limit itself."""
    cut = text.rfind(" ", start + 1, limit)
    return cut + 1 if cut > start + (limit - start) // 2 else limit


def _is_abbreviation(line: str, start: int, found: re.Match[str]) -> bool:
    if found["stop"] != ".":
        return False
    if line[found.start() - 1 : found.start()] == " ":
        return True
    before = line[max(start, found.start() - 12) : found.start()]
    if _ORDINAL.search(before):
        return bool(_AFTER_ORDINAL.match(line, found.end()))
    if not _ABBREVIATION.search(before):
        return False
    after = line[found.end() : found.end() + 2].lstrip()
    return not (before[-1:].isupper() and len(before.strip()) > 1 and before[-2:-1] != " " and before[-2:-1] != "." and after[:1].isupper())


def _quoted(line: str) -> tuple[list[int], list[int]]:
    """Where quoted stretches begin and end, in order and apart; a straight quote pairs with the next one, and only within 300 characters."""
    spans: list[tuple[int, int]] = []
    straight: int | None = None
    position = 0
    while found := _QUOTE.search(line, position):
        position = found.start()
        if found[0] == '"':
            if straight is None:
                straight = position
            else:
                spans.append((straight, position))
                straight = None
        elif not (found[0] == "‘" and position and line[position - 1].isalnum()):
            close = line.find(_PAIRS[found[0]], position + 1, position + _LONGEST_QUOTE)
            if close > 0:
                spans.append((position, close))
                position = close
        position += 1
    return _apart(sorted(span for span in spans if span[1] - span[0] <= _LONGEST_QUOTE))


def _apart(spans: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Overlapping spans made one."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in spans:
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _is_inside(quotes: tuple[list[int], list[int]], position: int) -> bool:
    starts, ends = quotes
    number = bisect_left(starts, position) - 1
    return number >= 0 and position < ends[number]


def _is_name(text: str) -> bool:
    words = text.split()
    if text.casefold() in naming("labels") or words[0].casefold() in naming("possessives"):
        return False
    return all(word[:1].isupper() or not word[:1].islower() for word in words) and len(words) <= 2
