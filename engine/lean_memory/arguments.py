"""What callers may pass, checked: each function gives the value the engine works with, or says in a sentence what is wrong."""

from __future__ import annotations

import datetime as dt
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lean_memory.domain import Instant, Source
from lean_memory.errors import InvalidInputError, InvalidNamespaceError, InvalidTextError

MAX_TEXT = 4_000_000
"""Characters that one `add` takes at most."""

_SHOWN_BELOW = 10**30
_MOST_SECONDS = 10**9


def text_of(value: object) -> str:
    """A text that can be kept whole. Raises `InvalidTextError`."""
    if not isinstance(value, str):
        raise InvalidTextError(f"The text must be a string, not {_type(value)}; nothing was stored.")
    if not value.strip():
        raise InvalidTextError("The text is empty; nothing was stored.")
    if len(value) > MAX_TEXT:
        raise InvalidTextError(f"The text has {len(value):,} characters; one add takes at most {MAX_TEXT:,}. Nothing was stored: split it.")
    if "\x00" in value:
        raise InvalidTextError("The text holds a NUL character; nothing was stored: take it out and add it again.")
    if not _is_whole(value):
        raise InvalidTextError("The text holds half a character (a lone surrogate); nothing was stored: re-encode it and add it again.")
    return value


def batches_of(items: object, size: int) -> Iterator[list[object]]:
    """Things to add, `size` at a time. Raises `InvalidInputError` where they are no series of things."""
    if not isinstance(items, Iterable) or isinstance(items, (str, bytes, bytearray, Mapping)):
        raise InvalidInputError(f"The items to add must come as a list or another series of texts, not {_type(cast('object', items))}.")
    left = iter(cast("Iterable[object]", items))
    while batch := list(islice(left, size)):
        yield batch


def item_of(value: object, fields: frozenset[str]) -> Mapping[str, object]:
    """One of many things to add: a text, or a mapping of some of `fields`. Raises `InvalidInputError`."""
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise InvalidTextError(f"An item to add must be a string or a mapping, not {_type(value)}; nothing of its batch was stored.")
    item = cast("Mapping[str, object]", value)
    for name in item:
        if name not in fields:
            raise InvalidInputError(f"An item to add has no field {_shown(name)}.")
    return item


def root_of(value: str | os.PathLike[str] | None) -> str | None:
    """A data root that can be used, or `None` for the configured one. Raises `InvalidInputError`."""
    try:
        path: object = None if value is None else os.fspath(value)
        if isinstance(path, str) and path.strip() and "\x00" not in path:
            Path(path).expanduser()
            return path
    except TypeError:
        raise InvalidInputError(f"The data root must be a path, not {_type(value)}.") from None
    except RuntimeError:
        raise InvalidInputError(f"The data root {_shown(value)} begins with the home of nobody known here; name a folder.") from None
    if path is None:
        return None
    raise InvalidInputError(
        f"The data root cannot be {_shown(path)}; name a folder, or leave it out for the configured one. Nothing was opened."
    )


def path_of_argument(value: object, name: str) -> Path:
    """A path that can be used. Raises `InvalidInputError`."""
    try:
        path: object = os.fspath(cast("os.PathLike[str] | os.PathLike[bytes]", value))
        if isinstance(path, str) and path.strip() and "\x00" not in path and _is_whole(path) and Path(path).name not in {"", ".."}:
            return Path(path).expanduser()
    except (TypeError, RuntimeError):
        raise InvalidInputError(f"{name} must be a path, not {_shown(value)}.") from None
    raise InvalidInputError(f"{name} cannot be {_shown(path)}; name a file or a folder.")


def encodable(root: Path) -> None:
    """Raise `InvalidInputError` for a data root that SQLite cannot be told of."""
    try:
        str(root).encode()
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"The path of the data root, {str(root)!a}, is not UTF-8, and SQLite takes no other; rename the folder or choose another one. Nothing was opened."
        ) from None


def name_of(value: object) -> str:
    """A namespace's name, as far as its type goes. Raises `InvalidNamespaceError`."""
    if not isinstance(value, str):
        raise InvalidNamespaceError(f"A namespace is named by a string, not {_type(value)}.")
    return value


def word_of(value: object, name: str) -> str:
    """A short text such as an id or a name. Raises `InvalidInputError`."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a string, not {_type(value)}.")
    if "\x00" in value or not _is_whole(value):
        raise InvalidInputError(f"{name} holds a NUL character or half a character (a lone surrogate); re-encode it and try again.")
    return value


def word_or_none(value: object, name: str) -> str | None:
    """A short text, or `None` where none is given. Raises `InvalidInputError`."""
    return None if value is None else word_of(value, name)


def client_of(value: object) -> str | None:
    """The program that passes something on. Raises `InvalidInputError`."""
    client = word_or_none(value, "client")
    if client is not None and not client.strip():
        raise InvalidInputError("client is empty; name the program, or leave it out.")
    return client


def flag_of(value: object, name: str) -> bool:
    """Yes or no. Raises `InvalidInputError`."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{name} must be True or False, not {_shown(value)}.")
    return value


def check_callable(value: object, name: str) -> None:
    """Refuse what cannot be called."""
    if value is not None and not callable(value):
        raise InvalidInputError(f"{name} must be a function, not {_type(value)}.")


def query_of(value: object) -> str:
    """A query with what no stored text can hold replaced by spaces."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError("The query is empty; ask with at least one word.")
    return "".join(" " if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in value)


def check_count(value: object, name: str, most: int = 10**9, least: int = 1) -> None:
    """Refuse what is not a whole number from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInputError(f"{name} must lie between {least} and {most:,}, not {_shown(value)}.")


def check_seconds(value: object, name: str) -> None:
    """Refuse what is no number of seconds; a time that is over is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -_MOST_SECONDS < value < _MOST_SECONDS:
        raise InvalidInputError(f"{name} must be a number of seconds, not {_shown(value)}.")


def check_target(fact_id: object, episode_id: object, entity: object) -> None:
    """Refuse anything but exactly one choice of what to forget."""
    choices = {"fact_id": fact_id, "episode_id": episode_id, "entity": entity}
    for name, value in choices.items():
        word_or_none(value, name)
    if sum(value is not None for value in choices.values()) != 1:
        raise InvalidInputError("Say what to forget: exactly one of fact_id, episode_id and entity.")


def timezone_of(value: object) -> str:
    """The name of a time zone that is known here. Raises `InvalidInputError`."""
    name = word_of(value, "tz")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInputError(f"{_shown(name)} is not a time zone; use an IANA name such as 'Europe/Lisbon'.") from None
    return name


def source_of(value: object) -> Source:
    """One of the sources. Raises `InvalidInputError`."""
    try:
        return Source(word_of(value, "source"))
    except ValueError:
        raise InvalidInputError(f"{_shown(value)} is not a source; use one of {', '.join(Source)}.") from None


EARLIEST = int(dt.datetime(1, 1, 2, tzinfo=dt.UTC).timestamp() * 1000)
LATEST = int(dt.datetime(9999, 12, 30, tzinfo=dt.UTC).timestamp() * 1000)
"""Between these lies every moment that can be told as a date, a day's time zone away from either end; in epoch milliseconds."""


def instant_of(value: object, name: str) -> Instant:
    """A moment from epoch milliseconds or an aware datetime. Raises `InvalidInputError`."""
    moment = _milliseconds(value, name) if isinstance(value, dt.datetime) else value
    if not isinstance(moment, int) or isinstance(moment, bool) or not EARLIEST <= moment <= LATEST:
        raise InvalidInputError(
            f"{name} must be epoch milliseconds or an aware datetime, between the years 1 and 9999, not {_shown(value)}."
        )
    return Instant(moment)


def _milliseconds(value: dt.datetime, name: str) -> int | None:
    """Epoch milliseconds; `None` beyond what can be counted."""
    if value.utcoffset() is None:
        raise InvalidInputError(f"{name} has no time zone; give an aware datetime or epoch milliseconds.")
    try:
        return round(value.timestamp() * 1000)
    except OverflowError:
        return None


def _is_whole(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _type(value: object) -> str:
    return type(value).__name__


def _shown(value: object) -> str:
    if isinstance(value, int) and not -_SHOWN_BELOW < value < _SHOWN_BELOW:
        return "a number of so many digits"
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return reprlib.repr(value)
