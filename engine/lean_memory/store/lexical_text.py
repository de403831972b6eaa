"""How text becomes the words of the lexical index, the same way for what is stored and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import cast

import apsw

TOKENIZER = ("porter", ("unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc"))
"""The FTS5 tokenizer of `index_text`, as the schema declares it. Mn and Mc keep the vowel signs of Indic scripts inside their words."""

UNSPACED = (
    r"\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u3041-\u30ff\u31f0-\u31ff"  # Kana
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul
    r"\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
)
_RUN = re.compile(f"[{UNSPACED}]+")
_LONG_WORD = re.compile(r"\w{256}")
_SENTENCE = re.compile(r"[^.!?。！？…]*(?:[.!?。！？…]+|$)", re.DOTALL)
_ASKS = ("?", "？")
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def normalise(text: str) -> str:
    """The text as it is fed to FTS5: NFKC, case-folded, runs of scripts written without spaces cut into overlapping pairs.

    A run also gives its last character on its own, so that every character starts some token and a question of one
    character is answered by a prefix. Control characters and lone surrogates become spaces. Works on any string.
    """
    folded = _folded(text)
    return folded if folded.isascii() else _RUN.sub(lambda run: _pairs(run.group(), len(run.group())), folded)


def tokens(con: apsw.Connection, text: str) -> list[str]:
    """The stemmed tokens of a text, in order, exactly as the index holds them."""
    found = _tokenizer(con)(normalise(text).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    return cast("list[str]", found)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWord:
    """A word to look for: as the index holds it, and as FTS5 wants it in an expression, where it would stem the stem again."""

    token: str
    typed: str
    prefix: bool
    """Whether it stands for every token that begins with it: a run of one character of a script that is indexed in pairs."""

    @property
    def expression(self) -> str:
        """The word in FTS5's query language; quoted, it can be anything."""
        quoted = self.typed.replace('"', '""')
        return f'"{quoted}" *' if self.prefix else f'"{quoted}"'


def question_words(con: apsw.Connection, text: str) -> list[QuestionWord]:
    """The different words of a question, in order; as `tokens`, but without those that are empty and without the last character of a longer run:
    its pair says it.
    """
    normalised = _RUN.sub(lambda run: _pairs(run.group(), max(1, len(run.group()) - 1)), _folded(text)).encode()
    found = _tokenizer(con)(normalised, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
    words: dict[str, QuestionWord] = {}
    for start, end, token in cast("list[tuple[int, int, str]]", found):
        if not token:
            # An accent on its own: the tokenizer takes it for a word and then takes it off.
            continue
        prefix = len(token) == 1 and _RUN.match(token) is not None
        words.setdefault(token, QuestionWord(token=token, typed=normalised[start:end].decode(), prefix=prefix))
    return list(words.values())


def asking_share(text: str) -> float:
    """The share of a text, by characters, that stands in sentences that end with a question mark; 0..1."""
    if not any(mark in text for mark in _ASKS):
        return 0.0
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    return sum(len(s) for s in sentences if s.endswith(_ASKS)) / max(1, sum(len(s) for s in sentences))


def is_unspaced(character: str) -> bool:
    """Whether the character belongs to a script that is indexed in pairs."""
    return _RUN.match(character) is not None


def _folded(text: str) -> str:
    clean = _NOT_TEXT.sub(" ", text)
    folded = clean.lower() if clean.isascii() else unicodedata.normalize("NFKC", clean).casefold()
    # FTS5 keeps the first 32,768 bytes of a token only; cut long before, what is asked for is cut the same way.
    return _LONG_WORD.sub(r"\g<0> ", folded)


def _pairs(run: str, count: int) -> str:
    return f" {' '.join(run[i : i + 2] for i in range(count))} "


def _tokenizer(con: apsw.Connection) -> apsw.FTS5Tokenizer:
    return con.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1]))
