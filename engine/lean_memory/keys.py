"""The keys by which names and values are one, however they are typed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable


def name_key(text: str) -> str:
    """The key by which entities are one: NFC, full Unicode case fold, white space collapsed.

    Punctuation and diacritics stay: `Café` and `CAFÉ` are one, `Café` and `Cafe` are two.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(folded.split())


def value_key(text: str) -> str:
    """The key by which values and sentences are one: the name key without punctuation at either edge that tells nothing.

    Quotation marks, apostrophes, dashes and full-width letters, which keyboards choose for their writers, are written in one way.
    """
    key = _SPACED_SIGN.sub(r"\1\2", name_key(text).translate(_TYPED_ALIKE))
    return bared(key, _is_edge, _is_edge) or key


def bared(value: str, opens: _At, ends: _At) -> str:
    """The value without its quotation marks and without what `opens(value, place)` and `ends(value, place)` tell at its edges, but for signs of it."""
    value = unwrapped(value)
    # By places, as a text of a hundred thousand dashes would be copied as often.
    start, end = 0, len(value)
    while end and ends(value, end - 1) and not ends_with_a_sign(value, end):
        end -= 1
    while start < end and opens(value, start) and not opens_with_a_sign(value, start):
        start += 1
    return value[start:end]


def unwrapped(value: str) -> str:
    """The value without the quotation marks around it and the dots that lead to it."""
    value = _DOTS_BEFORE.sub("", value.strip())
    start, end = 0, len(value)
    while end - start > 1 and value[start] in _QUOTES and value[end - 1] in _QUOTES:
        start, end = start + 1, end - 1
    return value[start:end].strip()


def opens_with_a_sign(value: str, start: int = 0) -> bool:
    """Whether the punctuation that a value opens with, from `start` on, is a part of it: -5, .5."""
    return _SIGN_BEFORE.match(value, start) is not None


def ends_with_a_sign(value: str, end: int | None = None) -> bool:
    """Whether the punctuation that a value ends with, at `end`, is a part of it: 50%, 6" (where that closes no quotation), C#, AB-, A*."""
    end = len(value) if end is None else end
    if _SIGN_AFTER.search(value, max(0, end - 4), end) is None:
        return False
    return value[end - 1] not in _QUOTES or value.find(value[end - 1], 0, end - 1) < 0


def _is_edge(value: str, place: int) -> bool:
    return value[place].isspace() or unicodedata.category(value[place]) in _EDGE_CATEGORIES


_At = Callable[[str, int], bool]
_QUOTES = "'\"‘’“”«»"
_DOTS_BEFORE = re.compile(r"^(?:\.\.+|…)\s*")
_SIGN_BEFORE = re.compile(r"[-−]?\.?\d")
_SPACED_SIGN = re.compile(r"(\d)\s+([%‰])")
_SIGN_AFTER = re.compile(r"""(?:\d ?[%‰]|\d['"]|[^\W\d_]\#|(?<![^\s(])(?:[a-go]|ab)[*-])$""", re.IGNORECASE)


_TYPED_ALIKE = (
    dict.fromkeys(map(ord, "‘’‛ʼ＇"), "'")
    | dict.fromkeys(map(ord, "“”„‟＂"), '"')
    | dict.fromkeys(map(ord, "‐‑‒–—―−－"), "-")
    | {wide: chr(wide - 0xFEE0) for wide in (*map(ord, "＃％＊＋"), *range(0xFF10, 0xFF1A), *range(0xFF41, 0xFF5B))}
)
_EDGE_CATEGORIES = frozenset({"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"})
