"""Turns words into predicate names."""

from __future__ import annotations

import re
import unicodedata

_GAP = re.compile(r"[\W_]+")


def snake_case(words: str) -> str:
    """ "favorite color" as `favorite_color`; letters of every script stay."""
    return _GAP.sub("_", unicodedata.normalize("NFKC", words).casefold()).strip("_")[:64]
