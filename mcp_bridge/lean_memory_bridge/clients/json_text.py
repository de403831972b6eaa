"""JSON as people keep it in configuration files: with comments, trailing commas and places, so that it can be edited where it stands.

`json` and every other parser we know of gives values without places, or rewrites the whole text; an edit needs to know where a value
begins and ends, and where its comma is. The grammar is RFC 8259 with `//` and `/* */` comments and one trailing comma in an object or array.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

DEEPEST = 200
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<comment>//[^\r\n]*|/\*.*?\*/)
      | (?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.]))
      | (?P<word>(?:true|false|null)(?![0-9A-Za-z_]))
      | (?P<mark>[{}\[\]:,])""",
    re.VERBOSE | re.DOTALL,
)


class JsonTextError(ValueError):
    """The text is not JSON, not even with comments; the message says in which line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A value of which only the ends matter, from `start` up to but not including `end`."""

    start: int
    end: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A key, which begins at `start`, and its value; `comma` is where the comma after it stands, if there is one."""

    key: str
    start: int
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """An object with its braces. A key may stand twice; readers take the last."""

    start: int
    end: int
    members: tuple[Member, ...]

    def last(self, key: str) -> Member | None:
        """The member that counts for `key`."""
        return next((member for member in reversed(self.members) if member.key == key), None)


Node = Whole | Object


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonText:
    """A text with its root value (`None` when it holds only white space and comments) and where its comments are."""

    text: str
    root: Node | None
    comments: tuple[tuple[int, int], ...]
    trailing_comma: int | None

    def gap_end(self, start: int) -> int:
        """Where the comments that stand on the same line after `start` end; `start` itself when there are none."""
        place = end = start
        while place < len(self.text):
            comment = next((span for span in self.comments if span[0] == place), None)
            if comment is not None:
                place = end = comment[1]
            elif self.text[place] in " \t":
                place += 1
            else:
                break
        return end

    def line_of(self, place: int) -> int:
        """The number of the line at offset `place`, from 1."""
        return self.text.count("\n", 0, place) + 1


def read_json(text: str, path: Sequence[str] = ()) -> JsonText:
    """The structure of a text: its root, and the objects under the keys of `path` one in the other. Raises `JsonTextError`."""
    reader = _Reader(text)
    root = reader.document(path)
    return JsonText(text=text, root=root, comments=tuple(reader.comments), trailing_comma=reader.trailing_comma)


def value_of(node: Node) -> object:
    """What a reader of the JSON gets."""
    return node.value if isinstance(node, Whole) else {member.key: value_of(member.value) for member in node.members}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


_PLAIN = json.JSONDecoder(parse_constant=_refuse_constant)


class _Reader:
    """Reads tokens one ahead. Plain values that no edit goes into are left to `json`, which is a hundred times as fast."""

    def __init__(self, text: str) -> None:
        self.comments: list[tuple[int, int]] = []
        self.trailing_comma: int | None = None
        self._text = text
        self._next = self._token(0)

    def document(self, path: Sequence[str]) -> Node | None:
        root = None if self._next.kind == "end" else self._expanded(path, 0)
        if self._next.kind != "end":
            raise self._error("nothing may stand after the first value")
        return root

    def _token(self, place: int) -> _Token:
        while place < len(self._text):
            found = _TOKEN.match(self._text, place)
            if found is None or found.lastgroup is None:
                raise self._error("this is no JSON", place)
            if found.lastgroup == "comment":
                self.comments.append(found.span())
            elif found.lastgroup != "space":
                return _Token(found.group() if found.lastgroup == "mark" else found.lastgroup, *found.span())
            place = found.end()
        return _Token("end", place, place)

    def _at(self, kind: str) -> bool:
        return self._next.kind == kind

    def _take(self) -> _Token:
        token = self._next
        self._next = self._token(token.end)
        return token

    def _expanded(self, path: Sequence[str], depth: int) -> Node:
        """A value with its members where it is an object, and with those of the object under the first key of `path`."""
        if not self._at("{"):
            return self._whole(depth)
        start = self._take().start
        members: list[Member] = []
        while not self._at("}"):
            key_start, key = self._key()
            value = self._expanded(path[1:], depth + 1) if path and path[0] == key else self._whole(depth + 1)
            members.append(Member(key=key, start=key_start, value=value, comma=self._comma("}")))
        return Object(start=start, end=self._take().end, members=tuple(members))

    def _whole(self, depth: int) -> Whole:
        start = self._next.start
        try:
            value, end = _PLAIN.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            value, end = self._slow_value(depth)
        else:
            self._next = self._token(end)
        return Whole(start=start, end=end, value=value)

    def _slow_value(self, depth: int) -> tuple[object, int]:
        """A value that has comments or a trailing comma in it, or that is not JSON at all."""
        if depth > DEEPEST:
            raise self._error(f"it is nested more than {DEEPEST} deep")
        token = self._take()
        match token.kind:
            case "{":
                held: dict[str, object] = {}
                while not self._at("}"):
                    _, key = self._key()
                    held[key] = self._slow_value(depth + 1)[0]
                    self._comma("}")
                return held, self._take().end
            case "[":
                items: list[object] = []
                while not self._at("]"):
                    items.append(self._slow_value(depth + 1)[0])
                    self._comma("]")
                return items, self._take().end
            case "string" | "number" | "word":
                return self._scalar(token), token.end
            case _:
                raise self._error("a value is missing", token.start)

    def _key(self) -> tuple[int, str]:
        key = self._take()
        if key.kind != "string":
            raise self._error("a key in quotation marks is missing", key.start)
        colon = self._take()
        if colon.kind != ":":
            raise self._error("a colon is missing", colon.start)
        return key.start, str(self._scalar(key))

    def _comma(self, closing: str) -> int | None:
        if self._at(closing):
            return None
        token = self._take()
        if token.kind != ",":
            raise self._error("a comma is missing" if token.kind != "end" else f"it ends before its {closing}", token.start)
        if self._at(closing) and self.trailing_comma is None:
            self.trailing_comma = token.start
        return token.start

    def _scalar(self, token: _Token) -> object:
        try:
            return json.loads(self._text[token.start : token.end])
        except ValueError as error:  # a number of more digits than Python converts
            raise self._error("this number is too long", token.start) from error

    def _error(self, problem: str, place: int | None = None) -> JsonTextError:
        at = self._next.start if place is None else place
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return JsonTextError(f"line {line}, column {column}: {problem}")
