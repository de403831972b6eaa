"""What callers may pass, checked: each function gives the value the engine works with, or says in a sentence what is wrong."""

from __future__ import annotations

import datetime as dt

from lean_memory.domain import Instant, Source
from lean_memory.errors import InvalidInputError, InvalidNamespaceError, InvalidTextError

MAX_TEXT = 4_000_000
"""Characters that one `add` takes at most."""


def text_of(value: object) -> str:
    """A text that can be kept whole. Raises `InvalidTextError`."""
    if not isinstance(value, str):
        raise InvalidTextError(f"The text must be a string, not {type(value).__name__}; nothing was stored.")
    if not value.strip():
        raise InvalidTextError("The text is empty; nothing was stored.")
    if len(value) > MAX_TEXT:
        raise InvalidTextError(f"The text has {len(value):,} characters; one add takes at most {MAX_TEXT:,}. Nothing was stored: split it.")
    if "\x00" in value:
        raise InvalidTextError("The text holds a NUL character; nothing was stored: take it out and add it again.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidTextError(
            "The text holds half a character (a lone surrogate); nothing was stored: re-encode it and add it again."
        ) from None
    return value


def name_of(value: object) -> str:
    """A namespace's name, as far as its type goes. Raises `InvalidNamespaceError`."""
    if not isinstance(value, str):
        raise InvalidNamespaceError(f"A namespace is named by a string, not {type(value).__name__}.")
    return value


def query_of(value: object) -> str:
    """A query with what no stored text can hold replaced by spaces."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError("The query is empty; ask with at least one word.")
    return "".join(" " if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in value)


def check_count(value: object, name: str, most: int = 10**9) -> None:
    """Refuse what is not a whole number from 1 to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidInputError(f"{name} must lie between 1 and {most:,}, not {value!r}.")


def check_one(*choices: str | None) -> None:
    """Refuse anything but exactly one choice of what to forget."""
    if sum(x is not None for x in choices) != 1:
        raise InvalidInputError("Say what to forget: exactly one of fact_id, episode_id and entity.")


def source_of(value: object) -> Source:
    """One of the sources. Raises `InvalidInputError`."""
    try:
        return Source(str(value))
    except ValueError:
        raise InvalidInputError(f"{value!r} is not a source; use one of {', '.join(Source)}.") from None


_EARLIEST = int(dt.datetime(1, 1, 2, tzinfo=dt.UTC).timestamp() * 1000)
_LATEST = int(dt.datetime(9999, 12, 30, tzinfo=dt.UTC).timestamp() * 1000)


def instant_of(value: object, name: str) -> Instant:
    """A moment from epoch milliseconds or an aware datetime. Raises `InvalidInputError`."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise InvalidInputError(f"{name} has no time zone; give an aware datetime or epoch milliseconds.")
        value = round(value.timestamp() * 1000)
    if not isinstance(value, int) or isinstance(value, bool) or not _EARLIEST <= value <= _LATEST:
        raise InvalidInputError(f"{name} must be epoch milliseconds or an aware datetime, not {value!r}.")
    return Instant(value)
