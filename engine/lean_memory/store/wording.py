"""The words of a text as a person counts them: the form in which two writings are the same sentence. Pure.

Two writings are the same where they have the same words in the same order: case, Unicode form, white space, quotation marks, commas,
dashes and full stops do not count. What changes the meaning does: numbers with their points and signs, currencies, `C++`, emoji.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from lean_memory.domain import Span
from lean_memory.store.cutting import sentence_around
from lean_memory.store.lexical_text import UNSPACED, is_unspaced

_TELLING_WORDS = 2
_APOSTROPHES = "'’‘ʼ`´＇"
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_MARKS_END = 0x11000
_PART = re.compile(r"[^\w \t\xa0\u3000-]|(?<=\s)-")
_HIRAGANA = re.compile("[\u3041-\u309f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a text in their normal form, with where each stands in it."""

    keys: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, first: int, count: int) -> Span:
        """Where `count` words from number `first` on stand."""
        return Span(start=self.starts[first], end=self.ends[first + count - 1])


class Phrases:
    """Sequences of words that are looked for all at once, at the same cost however many they are."""

    def __init__(self, phrases: Iterable[tuple[str, ...]]) -> None:
        self._wanted = frozenset(phrase for phrase in phrases if phrase)
        self._lengths: dict[str, set[int]] = {}
        for phrase in self._wanted:
            self._lengths.setdefault(phrase[0], set()).add(len(phrase))

    def find(self, words: Words) -> Iterator[tuple[int, int]]:
        """Where one of them stands: the number of its first word, and how many it has."""
        keys = words.keys
        for first, key in enumerate(keys):
            for length in self._lengths.get(key, ()):
                # What is left of the words may be less, and be a shorter one of the phrases.
                if first + length <= len(keys) and keys[first : first + length] in self._wanted:
                    yield first, length


def words_of(text: str) -> Words:
    """The words of a text. Scripts written without spaces give a word for every character."""
    composed, places = _composed(text)
    found = list(_pattern().finditer(composed))
    return Words(
        keys=tuple(_key(match.group()) for match in found),
        starts=tuple(places[match.start()][0] if places else match.start() for match in found),
        ends=tuple(places[match.end() - 1][1] if places else match.end() for match in found),
    )


def is_telling(phrase: Sequence[str]) -> bool:
    """Whether a phrase is long enough to tell, wherever its words stand, that the same thing was said."""
    unspaced = sum(is_unspaced(key[0]) for key in phrase)
    return len(phrase) - unspaced + unspaced / 2 > _TELLING_WORDS


def is_said(text: str, words: Words, first: int, count: int) -> bool:
    """Whether a stretch of a text's words is said there as a sentence, and is not the beginning of another one.

    It ends with punctuation, a line or the text ("I like tea" is not said in "I like tea shops"); what leads up to it may be anything
    ("I told Bob: …"). One that is too short to tell is a sentence by itself.
    """
    last = first + count
    if last < len(words.keys) and not _ends(text[words.ends[last - 1] : words.starts[last]], words.keys[last]):
        return False
    if is_telling(words.keys[first:last]):
        return True
    sentence = sentence_around(text, words.span(first, count))
    return (first == 0 or words.ends[first - 1] <= sentence.start) and (last == len(words.keys) or words.starts[last] >= sentence.end)


def _ends(between: str, following: str) -> bool:
    """Whether what stands between two words parts them; Japanese endings (住む, 住むのです) change nothing of what was said before them."""
    return following != "'" and (_PART.search(between) is not None or (not between and _HIRAGANA.match(following) is not None))


def _key(word: str) -> str:
    if word in _APOSTROPHES:
        return "'"
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())


def _composed(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text in NFC without the characters that nobody sees, and where each of its characters began and ended; empty if none moved."""
    if text.isascii() or (unicodedata.is_normalized("NFC", text) and _UNSEEN.search(text) is None):
        return text, []
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _continues(text[end]):
            end += 1
        piece = unicodedata.normalize("NFC", _UNSEEN.sub("", text[start:end]))
        pieces.append(piece)
        places += [(start, end)] * len(piece)
        start = end
    return "".join(pieces), places


def _continues(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a later part of a Hangul syllable, or one that nobody sees."""
    return unicodedata.combining(character) > 0 or "\u1160" <= character <= "\u11ff" or _UNSEEN.match(character) is not None


@cache
def _pattern() -> re.Pattern[str]:
    marks = "".join(f"{first}-{last}" for first, last in _marks())
    letter = rf"[^\W_ʼ{UNSPACED}]"
    return re.compile(
        rf"(?:(?<![^\s(\[])[-−])?\d+(?:[.,:]\d+)++|(?<![^\s(\[])[-−]\d++"  # 3.5, 12:30, -5
        rf"|{letter}(?:{letter}++|[{marks}]++)*+"
        rf"|(?!・)[{UNSPACED}][{marks}]*+"
        rf"|(?<=\w)[{_APOSTROPHES}](?=\w)"
        r"|(?<=[\w+])[+#]|[$€£¥₽₹₩%‰&@=°]|[\u2190-\u2bff\U0001f000-\U0001faff]"
    )


def _marks() -> Iterator[tuple[str, str]]:
    """The runs of characters that belong to the letter before them, such as the vowel signs of Indic scripts."""
    codes = (code for code in range(0x300, _MARKS_END) if unicodedata.category(chr(code))[0] == "M")
    for _, run in groupby(enumerate(codes), key=lambda numbered: numbered[1] - numbered[0]):
        listed = [chr(code) for _, code in run]
        yield listed[0], listed[-1]
