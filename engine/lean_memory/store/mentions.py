"""Finding a sentence or a name in other texts, whatever its case, spacing and Unicode form. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from lean_memory.domain import Span

_ALSO_WORDS = frozenset(
    [
        "april",
        "august",
        "art",
        "bill",
        "bob",
        "chance",
        "christian",
        "dawn",
        "drew",
        "faith",
        "frank",
        "grace",
        "grant",
        "guy",
        "hope",
        "iris",
        "ivy",
        "jack",
        "joy",
        "june",
        "june",
        "lily",
        "mark",
        "may",
        "miles",
        "nick",
        "norm",
        "olive",
        "pat",
        "penny",
        "ray",
        "rich",
        "rob",
        "rose",
        "ruby",
        "sandy",
        "sky",
        "star",
        "sue",
        "summer",
        "sunny",
        "violet",
        "ward",
        "will",
    ]
)
"""Names that are also words: of these only capitalised mentions are the name."""

_SHORT_WORDS = 2
_SHORT_CHARACTERS = 6
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Mentions:
    """Looks for a set of sentences and names in texts."""

    def __init__(self, *, sentences: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._sentences = _pattern({s.strip() for s in sentences if _is_telling(s)}, re.IGNORECASE)
        chosen = {n.strip() for n in names if n.strip()}
        self._cased = _pattern({form for n in chosen if _is_word(n) for form in (n, n.capitalize(), n.upper())} - _ALSO_WORDS, 0)
        self._names = _pattern({n for n in chosen if not _is_word(n)}, re.IGNORECASE)

    def said(self, text: str) -> Iterator[Span]:
        """Where one of the sentences stands in a text."""
        return _spans(self._sentences, text)

    def named(self, text: str) -> Iterator[Span]:
        """Where one of the names stands in a text."""
        yield from _spans(self._cased, text)
        yield from _spans(self._names, text)


def _is_telling(sentence: str) -> bool:
    """Whether finding the words elsewhere means that the same thing was said there."""
    return len(sentence.split()) > _SHORT_WORDS or (len(sentence.strip()) >= _SHORT_CHARACTERS and _UNSPACED.search(sentence) is not None)


def _is_word(name: str) -> bool:
    return name.casefold() in _ALSO_WORDS


def _spans(pattern: re.Pattern[str] | None, text: str) -> Iterator[Span]:
    if pattern is not None:
        for match in pattern.finditer(text):
            yield Span(start=match.start(), end=match.end())


def _pattern(phrases: set[str], flags: int) -> re.Pattern[str] | None:
    forms = {form for p in phrases for form in (unicodedata.normalize("NFC", p), unicodedata.normalize("NFD", p))}
    if not forms:
        return None
    return re.compile("|".join(_phrase(form) for form in sorted(forms, key=lambda f: (-len(f), f))), flags)


def _phrase(phrase: str) -> str:
    body = r"\s+".join(re.escape(word) for word in phrase.split())
    # Scripts written without spaces have no word edges.
    before = r"(?<!\w)" if phrase[0].isalnum() and not _UNSPACED.match(phrase[0]) else ""
    after = r"(?!\w)" if phrase[-1].isalnum() and not _UNSPACED.match(phrase[-1]) else ""
    return f"{before}{body}{after}"
