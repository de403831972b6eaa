"""What a secret's value looks like: made up or random, and not a placeholder for one."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import cast

_WORD_PIECE = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}|\d+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{2,4}|v?\d+(?:\.\d+){1,3}$")
_FILE = re.compile(r"\.[A-Za-z]{1,5}$")
LONGEST_JUDGED = 400
"""What is longer and told as a secret is one, whatever it looks like; so no value is read at length only to be turned down."""
_SYMBOLS = frozenset("!$%#@^&*+=?~_-/\\|<>{}[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A secret: where it stands and of what kind it is."""

    start: int
    end: int
    kind: str


@cache
def lexicon() -> Mapping[str, object]:
    """All of `secrets.toml`."""
    return tomllib.loads(files("lean_memory.extraction").joinpath("secrets.toml").read_text("utf-8"))


@cache
def _placeholders() -> re.Pattern[str]:
    patterns = cast("Mapping[str, list[str]]", lexicon()["placeholder"])["patterns"]
    return re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Whether a value only stands where a secret would: `<YOUR_KEY>`, `xxxx`, a documented example."""
    return len(value) <= LONGEST_JUDGED and (_placeholders().search(value) is not None or len(set(value)) <= 2)


def looks_made_up(value: str) -> bool:
    """Whether nobody would write the value in prose: digits among letters, or signs among them."""
    if len(value) > LONGEST_JUDGED:
        return True
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    inner = value[1:-1]
    signs = any(c in _SYMBOLS and c != "-" for c in value[:-1]) or value[-1:] in _SYMBOLS - {"?", "!", "-"}
    return len(value) >= 4 and letters and (digits or signs or any(a.islower() and b.isupper() for a, b in pairwise(inner)))


def looks_random(value: str, *, shortest: int = 16) -> bool:
    """Whether a value was drawn from an alphabet by a machine, and is no date, version, path or name put together from words."""
    if len(value) > LONGEST_JUDGED:
        return True
    if len(value) < shortest or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    if _UUID.fullmatch(value) or _DATE.match(value) or (_FILE.search(value) and len(value) < 60):
        return False
    return entropy(value) >= 2.8 and not _is_readable(value)


def entropy(value: str) -> float:
    """Bits per character (Shannon, "A Mathematical Theory of Communication", 1948)."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def _is_readable(value: str) -> bool:
    """Whether it is mostly words with a number here and there: `payments-service-v2`, `TokenValidation2024`."""
    pieces = [piece for piece in _WORD_PIECE.findall(value) if not piece.isdigit()]
    letters = sum(1 for c in value if c.isalpha())
    return (
        bool(pieces)
        and letters >= 0.6 * len(value)
        and sum(map(len, pieces)) >= 0.8 * letters
        and sum(map(len, pieces)) / len(pieces) >= 4.5
    )
