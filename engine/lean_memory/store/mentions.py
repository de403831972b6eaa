"""Finding a sentence or a name in other texts, however they are written. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from lean_memory.domain import Span
from lean_memory.store.lexical_text import is_unspaced, normalise
from lean_memory.store.wording import Phrases, Words, is_said, words_of


class Sentences:
    """Sentences that are looked for in texts, all at once."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self._phrases = Phrases(words_of(sentence).keys for sentence in sentences)

    def spans(self, text: str, words: Words | None = None) -> Iterator[Span]:
        """Where a text, whose words may be given, says one of them."""
        words = words_of(text) if words is None else words
        for first, count in self._phrases.find(words):
            if is_said(text, words, first, count):
                yield words.span(first, count)


class Names:
    """Names that are looked for in texts, all at once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._phrases = Phrases(words_of(name).keys for name in names)

    def spans(self, text: str, words: Words | None = None) -> Iterator[Span]:
        """Where a text, whose words may be given, has one of them; of names that are also words only what begins with a capital."""
        words = words_of(text) if words is None else words
        for first, count in self._phrases.find(words):
            span = words.span(first, count)
            if count > 1 or words.keys[first] not in _also_words() or text[span.start].isupper():
                yield span


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


@cache
def _also_words() -> frozenset[str]:
    """Names that only a capital tells from words."""
    data = tomllib.loads(files("lean_memory.store").joinpath("names.toml").read_text("utf-8"))
    return frozenset(str(word) for name in ("also_words", "months") for word in data[name])
