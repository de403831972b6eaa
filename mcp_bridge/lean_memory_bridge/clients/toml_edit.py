"""One entry into a TOML text and out of it: a table of its own at the end, so that nothing before it moves.

`tomllib` says what a text means, before and after; the edit itself is of the text, as tomlkit would give other line ends and drops a
byte order mark.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from lean_memory_bridge.clients.edits import Edit
from lean_memory_bridge.clients.json_edit import Addition, Entry, Path

_HEADER = re.compile(r"^[ \t]*\[\[?(?P<name>[^\]\r\n]+)\]\]?[ \t]*(?:#[^\r\n]*)?\r?$", re.MULTILINE)


class TomlTextError(ValueError):
    """The text is not TOML, or holds our table in a form that cannot be edited."""


class TomlEntries:
    """The entries under one table, such as `mcp_servers`, in a TOML text. Raises `TomlTextError` for what cannot be edited."""

    def __init__(self, path: Path) -> None:
        self._path = tuple(path)

    def find(self, text: str, name: str) -> object | None:
        """The entry called `name`, if there is one."""
        table: object = self.tree(text)
        for key in self._path:
            table = cast("Mapping[str, object]", table).get(key, {})
            if not isinstance(table, dict):
                raise TomlTextError(f"{key} is not a table")
        return cast("Mapping[str, object]", table).get(name)

    def add(self, text: str, name: str, entry: Entry) -> Addition:
        """Add an entry that is not there, at the end of the text."""
        self.find(text, name)
        newline = "\r\n" if "\r\n" in text else "\n"
        lead = "" if not text else newline if text.endswith("\n") else newline * 2
        edit = Edit(at=len(text), inserted=lead + self._shown(name, entry).replace("\n", newline) + newline)
        try:
            tomllib.loads(text + edit.inserted)
        except tomllib.TOMLDecodeError as error:
            raise TomlTextError(f"{'.'.join(self._path)} is written in one line there, so that no table can be added to it") from error
        return Addition(edits=[edit], made=())

    def replace(self, text: str, name: str, entry: Entry) -> Sequence[Edit]:
        """Put another table in the place of the entry called `name`, which is there."""
        start, end = self._span(text, name)
        newline = "\r\n" if "\r\n" in text else "\n"
        kept = text[start:end].rstrip("\r\n")
        return [Edit(at=start, removed=kept, inserted=self._shown(name, entry).replace("\n", newline))]

    def remove(self, text: str, name: str, made: Sequence[Path] = ()) -> str:
        """The text without the entry called `name`; a table above it needs no header of its own, so none is `made`."""
        del made
        start, end = self._span(text, name)
        before, rest = text[:start], text[end:]
        if not rest and before.endswith(("\n\n", "\r\n\r\n")):
            before = before[: -2 if before.endswith("\r\n") else -1]
        return before + rest

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left in the text that anybody could miss."""
        return not text.strip()

    def plain(self, text: str) -> str | None:
        """TOML has one form only, so every reader can read it."""
        del text

    def shown(self, name: str, entry: Entry) -> str:
        """A text that holds nothing but the entry, for a person to copy."""
        return self._shown(name, entry)

    def tree(self, text: str) -> object:
        """Everything in the text, as values."""
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise TomlTextError(str(error)) from error

    def _shown(self, name: str, entry: Entry) -> str:
        header = ".".join(_key(part) for part in (*self._path, name))
        return "\n".join([f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())])

    def _span(self, text: str, name: str) -> tuple[int, int]:
        """From the header of the entry's table to the next header that is not a part of it."""
        own = (*self._path, name)
        headers = [(header.start(), _path_of(header.group("name"))) for header in _HEADER.finditer(text)]
        for number, (start, path) in enumerate(headers):
            if path == own:
                others = (place for place, other in headers[number + 1 :] if other is not None and other[: len(own)] != own)
                end = next((_back_over_comments(text, start, place) for place in others), len(text))
                # What only looks like a header, within a string of many lines, does not stand alone.
                if self._stands_alone(text[start:end], name):
                    return start, end
        raise TomlTextError(f"{'.'.join(own)} has no table of its own there, so it cannot be taken out without touching the rest")

    def _stands_alone(self, part: str, name: str) -> bool:
        try:
            return self.find(part, name) is not None
        except TomlTextError:
            return False


def _back_over_comments(text: str, start: int, end: int) -> int:
    """Comments and blank lines right before the next header belong to that header."""
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    return end


def _path_of(header: str) -> tuple[str, ...] | None:
    """The keys of a header; `None` for a line that only looks like one."""
    try:
        node: object = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(node, dict) and node:
        key, node = next(iter(cast("dict[str, object]", node).items()))
        path.append(key)
    return tuple(path)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: object) -> str:
    match value:
        case str():
            # A JSON string is a TOML string, save that TOML wants DEL escaped too.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool() | int():
            return json.dumps(value)
        case list():
            return f"[{', '.join(_value(item) for item in cast('list[object]', value))}]"
        case dict():
            inner = ", ".join(f"{_key(key)} = {_value(held)}" for key, held in cast("dict[str, object]", value).items())
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            raise TypeError(f"{type(value).__name__} has no form in an entry")
