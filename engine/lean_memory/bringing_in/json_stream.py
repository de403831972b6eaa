"""JSON as a stream of events, so that an export of any size takes little memory."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

import ijson  # pyright: ignore[reportMissingTypeStubs] - there are none

from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.errors import DamagedFileError

Event = tuple[str, object]
"""What comes, such as `start_map`, `map_key`, `string`, and its value."""

_STARTS = frozenset({"start_map", "start_array"})
_ENDS = frozenset({"end_map", "end_array"})
_LONGEST_LINE = 10_000_000
_BUFFER = 65_536
_DEEPEST = 200
_LONGEST = 16 << 20
"""Bytes of one word or number; reading it takes time with the square of its length."""
_LARGEST = 64 << 20
"""Bytes of one value that has to be in memory as a whole; messages with all that belongs to them have a few thousand."""


_ELEMENT = 32
"""What each element of a value takes besides its characters, at least."""


def events_of(file: BinaryIO, name: str) -> Iterator[Event]:
    """The events of a file. Raises `DamagedFileError` where it is no JSON or breaks off; what came before has been given by then."""
    depth = 0
    try:
        text = _without_mark(file, name)
        for event, value in cast("Iterator[Event]", ijson.basic_parse(text, use_float=True, buf_size=_BUFFER)):
            depth += (event in _STARTS) - (event in _ENDS)
            if depth > _DEEPEST:
                raise DamagedFileError(f"{name} is nested deeper than any export is. What came before is kept.")
            text.at_once = 0
            yield event, value
    # Of a number with thousands of digits Python says that it is none.
    except (ijson.JSONError, ValueError) as error:
        raise DamagedFileError(damaged(name)) from error


class _After:
    """A file of which the first bytes were read, and `at_once` of it since somebody set that to nothing."""

    def __init__(self, first: bytes, file: BinaryIO, name: str) -> None:
        self._first, self._file, self._name = first, file, name
        self.at_once = 0

    def read(self, most: int = -1) -> bytes:
        """The first bytes, then the others. The parser asks for none of them first, to see that they are bytes."""
        if not self._first:
            self.at_once += max(0, most)
            if self.at_once > _LONGEST:
                raise _too_large(self._name, _LONGEST)
            return self._file.read(most)
        end = len(self._first) if most < 0 else most
        first, self._first = self._first[:end], self._first[end:]
        return first + self._file.read() if most < 0 else first


def _without_mark(file: BinaryIO, name: str) -> _After:
    """A file from behind the byte-order mark that some programs begin a text with, and that is no JSON."""
    first = file.read(len(BOM_UTF8))
    return _After(first.removeprefix(BOM_UTF8), file, name)


def _too_large(name: str, most: int) -> DamagedFileError:
    return DamagedFileError(f"{name} holds a value of more than {most >> 20} MB, which no export does. What came before is kept.")


def values_of(file: BinaryIO, name: str, way: Sequence[str]) -> Iterator[object]:
    """The values at the end of a way of keys, where `item` stands for the elements of an array, one after another. Raises `DamagedFileError`."""
    events = events_of(file, name)
    for first in events:
        yield from _at_end_of(way, first, events)


def _at_end_of(way: Sequence[str], first: Event, events: Iterator[Event]) -> Iterator[object]:
    if not way:
        yield built(first, events)
    elif first[0] == "start_array" and way[0] == "item":
        for event in events:
            if event[0] == "end_array":
                return
            yield from _at_end_of(way[1:], event, events)
    elif first[0] == "start_map" and way[0] != "item":
        for event, key in events:
            if event == "end_map":
                return
            if key == way[0]:
                yield from _at_end_of(way[1:], next(events), events)
            else:
                passed_over(next(events), events)
    else:
        passed_over(first, events)


def is_spread(beginning: str) -> bool:
    """Whether a text begins with an object that goes on over several lines, unlike a line of JSON lines."""
    line, is_more, _ = beginning.lstrip().partition("\n")
    return bool(is_more) and line.startswith("{") and _value(line.encode()) is ValueError


def damaged(name: str) -> str:
    """What a person is told of a file that cannot be read to its end."""
    return f"{name} is damaged or was cut off: it is no whole JSON. What came before is kept; fetch the export again and bring it in anew."


def built(first: Event, events: Iterator[Event]) -> object:
    """The value that begins with an event."""
    if first[0] not in _STARTS:
        return first[1]
    builder = cast("Any", ijson.ObjectBuilder())
    builder.event(*first)
    depth, size = 1, 0
    while depth:
        event, value = next(events)
        size += _ELEMENT + len(value) if isinstance(value, str) else _ELEMENT
        if size > _LARGEST:
            raise _too_large("The file", _LARGEST)
        builder.event(event, value)
        depth += (event in _STARTS) - (event in _ENDS)
    return cast("object", builder.value)


def passed_over(first: Event, events: Iterator[Event]) -> None:
    """Read on to the end of the value that begins with an event."""
    depth = 1 if first[0] in _STARTS else 0
    while depth:
        event, _ = next(events)
        depth += (event in _STARTS) - (event in _ENDS)


def lines_of(source: Source, entry: Entry) -> Iterator[tuple[int, object]]:
    """Each line of a file of JSON lines with its number from 1, empty ones left away; a line that is no JSON gives `ValueError` as its value."""
    with source.opened(entry) as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if not line.strip():
                continue
            yield number, _value(line)


def _value(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return ValueError
