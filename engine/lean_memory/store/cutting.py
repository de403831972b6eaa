"""Taking pieces out of a text, and where everything else is afterwards. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lean_memory.domain import Span

_ENDS = ".!?…。！？"
_TERMINATOR = re.compile(rf"[{_ENDS}]+(?=\s|$)|[。！？]+|\n")
_WORDLESS = re.compile(r"[\W_]*")
_QUOTES = {
    "“": "”",
    "”": "”",
    "„": "“”",
    "‘": "’",
    "‚": "‘’",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    '"': '"',
    "'": "'",
    "`": "`",
}
"""What closes a quotation that was opened with each mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text with pieces taken out: what is left, and the pieces in order, in the offsets of the old text."""

    text: str
    removed: tuple[Span, ...]

    def moved(self, span: Span) -> Span:
        """Where a stretch of the old text lies now; empty if nothing of it is left."""
        return Span(start=self._moved(span.start), end=self._moved(span.end))

    def _moved(self, position: int) -> int:
        return position - sum(min(r.end, position) - r.start for r in self.removed if r.start < position)


def cut(text: str, spans: Iterable[Span]) -> Cut:
    """Take the spans out of a text, with the punctuation and the space that closed them."""
    removed = _merged(_closed(text, span) for span in spans if span.start < span.end)
    kept: list[str] = []
    position = 0
    for span in removed:
        kept.append(text[position : span.start])
        position = span.end
    kept.append(text[position:])
    return Cut(text="".join(kept), removed=removed)


def sentence_around(text: str, span: Span) -> Span:
    """The sentence that a stretch of text lies in, ends included."""
    start = max((m.end() for m in _TERMINATOR.finditer(text, 0, span.start)), default=0)
    following = _TERMINATOR.search(text, span.end)
    end = len(text) if following is None else following.end()
    return Span(start=start + len(text[start:end]) - len(text[start:end].lstrip()), end=end)


def is_wordless(text: str) -> bool:
    """Whether nothing is left of a text but spaces and punctuation."""
    return _WORDLESS.fullmatch(text) is not None


def overlap(one: Span, other: Span) -> bool:
    """Whether two stretches share a character."""
    return one.start < other.end and other.start < one.end


def _closed(text: str, span: Span) -> Span:
    """The span with its final punctuation, the quotation marks around it, and the space that parted it from what follows."""
    start, end = span.start, _past_ends(text, span.end)
    if start > 0 and end < len(text) and text[end] in _QUOTES.get(text[start - 1], ""):
        start, end = start - 1, _past_ends(text, end + 1)
    if start == 0 or text[start - 1].isspace():
        while end < len(text) and text[end].isspace():
            end += 1
    return Span(start=start, end=end)


def _past_ends(text: str, position: int) -> int:
    while position < len(text) and text[position] in _ENDS:
        position += 1
    return position


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(start=merged[-1].start, end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
