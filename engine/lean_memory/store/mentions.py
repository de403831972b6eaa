"""Finding a sentence or a name in other texts, whatever its case, spacing and Unicode form. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from lean_memory.domain import Span
from lean_memory.store.lexical_text import is_unspaced, normalise

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


def sentence_pattern(sentence: str) -> re.Pattern[str] | None:
    """Finds a sentence; `None` for one too short to tell that the same thing was said where its words stand."""
    telling = len(sentence.split()) > _SHORT_WORDS or (
        len(sentence.strip()) >= _SHORT_CHARACTERS and _UNSPACED.search(sentence) is not None
    )
    return _pattern({sentence}, re.IGNORECASE) if telling else None


def name_pattern(name: str) -> re.Pattern[str] | None:
    """Finds a name; `None` if there is nothing to it."""
    if name.strip().casefold() in _ALSO_WORDS:
        return _pattern({name.capitalize(), name.upper()}, 0)
    return _pattern({name}, re.IGNORECASE)


def spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Where a text says it."""
    for match in pattern.finditer(text):
        yield Span(start=match.start(), end=match.end())


def phrase_query(phrase: str) -> str:
    """The FTS5 expression for every text that may say a phrase; a check of the text itself is still needed."""
    words = normalise(phrase).replace('"', " ").rstrip()
    while words and not words[-1].isalnum():
        words = words[:-1]
    if len(words) == 1 and is_unspaced(words):
        return f'"{words}" *'
    # A run in a script without spaces ends with its last character on its own; in a longer run that does not stand there.
    if words[-3:-2] == words[-1:] and words[-2:-1] == " " and is_unspaced(words[-1]):
        words = words[:-2]
    return f'"{words}"'


def _pattern(phrases: set[str], flags: int) -> re.Pattern[str] | None:
    forms = {form for p in phrases if p.strip() for form in (unicodedata.normalize("NFC", p), unicodedata.normalize("NFD", p))}
    if not forms:
        return None
    return re.compile("|".join(_phrase(form.strip()) for form in sorted(forms, key=lambda f: (-len(f), f))), flags)


def _phrase(phrase: str) -> str:
    body = r"\s+".join(re.escape(word) for word in phrase.split())
    # Scripts written without spaces have no word edges.
    before = r"(?<!\w)" if phrase[0].isalnum() and not _UNSPACED.match(phrase[0]) else ""
    after = r"(?!\w)" if phrase[-1].isalnum() and not _UNSPACED.match(phrase[-1]) else ""
    return f"{before}{body}{after}"
