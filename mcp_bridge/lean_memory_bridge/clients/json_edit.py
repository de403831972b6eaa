"""One entry into a JSON text and out of it, leaving everything else where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lean_memory_bridge.clients.edits import Edit, applied
from lean_memory_bridge.clients.json_text import JsonText, JsonTextError, Member, Node, Object, read_json, value_of

Entry = Mapping[str, object]
Path = Sequence[str]

_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """The edits that add an entry, and which objects of its path did not exist before, the innermost first."""

    edits: Sequence[Edit]
    made: Sequence[Path]


class JsonEntries:
    """The entries under one path of objects, such as `mcpServers`, in a JSON text. Raises `JsonTextError` for what cannot be edited."""

    def __init__(self, path: Path) -> None:
        self._path = tuple(path)

    def find(self, text: str, name: str) -> object | None:
        """The entry called `name`, if there is one."""
        member = _member(_table(read_json(text, self._path), self._path), name)
        return None if member is None else value_of(member.value)

    def add(self, text: str, name: str, entry: Entry) -> Addition:
        """Add an entry that is not there, as the last of its table."""
        document = read_json(text, self._path)
        if document.root is None:
            return _new_document(document, self._path, name, entry)
        table = _object(document, document.root, ())
        for depth, key in enumerate(self._path):
            member = table.last(key)
            if member is None:
                made = [self._path[: end + 1] for end in range(depth, len(self._path))]
                value = _nested(self._path[depth + 1 :], name, entry)
                return Addition(edits=_appended(document, table, key, value), made=made[::-1])
            table = _object(document, member.value, self._path[: depth + 1])
        return Addition(edits=_appended(document, table, name, entry), made=())

    def replace(self, text: str, name: str, entry: Entry) -> Sequence[Edit]:
        """Put another value in the place of the entry called `name`, which is there."""
        document = read_json(text, self._path)
        member = _member(_table(document, self._path), name)
        if member is None:
            raise JsonTextError(f"there is no {name!r}")
        old = text[member.value.start : member.value.end]
        shown = _shown(entry, _line_indent(text, member.start) if "\n" in old else None, _Style.of(document))
        return [Edit(at=member.value.start, removed=old, inserted=shown)]

    def remove(self, text: str, name: str, made: Sequence[Path] = ()) -> str:
        """The text without the entry called `name`, and without those tables of `made` that are empty then."""
        while True:
            document = read_json(text, self._path)
            table = _table(document, self._path)
            if table is None or table.last(name) is None:
                break
            text = applied(text, _cut(document, table, name))
        for path in made:
            document = read_json(text, self._path)
            table = _table(document, path)
            around = _table(document, path[:-1])
            if table is not None and around is not None and not table.members and not _commented(document, table):
                text = applied(text, _cut(document, around, path[-1]))
        return text

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left in the text that anybody could miss."""
        document = read_json(text)
        bare = document.root is None or (isinstance(document.root, Object) and not document.root.members)
        return bare and not document.comments

    def plain(self, text: str) -> str | None:
        """Why a reader of plain JSON could not read this text; `None` if it could."""
        document = read_json(text)
        if document.comments:
            return f"a comment in line {document.line_of(document.comments[0][0])}"
        if document.trailing_comma is not None:
            return f"a comma too many in line {document.line_of(document.trailing_comma)}"
        return None

    def shown(self, name: str, entry: Entry) -> str:
        """A text that holds nothing but the entry, for a person to copy."""
        return json.dumps(_nested(self._path, name, entry), indent=2, ensure_ascii=False)

    def tree(self, text: str) -> object:
        """Everything in the text, as values; an empty text is an empty object."""
        root = read_json(text).root
        return {} if root is None else value_of(root)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How a text breaks its lines and indents them."""

    newline: str
    unit: str

    @classmethod
    def of(cls, document: JsonText) -> _Style:
        text, root = document.text, document.root
        broken = re.search(r"\r\n|\n|\r", text)
        first = root.members[0] if isinstance(root, Object) and root.members else None
        unit = _own_line_indent(text, first.start) if first is not None else None
        return cls(newline=broken.group() if broken else "\n", unit=unit or "  ")


def _table(document: JsonText, path: Path) -> Object | None:
    node = document.root
    if node is None:
        return None
    table = _object(document, node, ())
    for depth, key in enumerate(path):
        member = table.last(key)
        if member is None:
            return None
        table = _object(document, member.value, path[: depth + 1])
    return table


def _member(table: Object | None, name: str) -> Member | None:
    return None if table is None else table.last(name)


def _object(document: JsonText, node: Node, path: Path) -> Object:
    if isinstance(node, Object):
        return node
    where = ".".join(path) if path else "the whole file"
    raise JsonTextError(f"line {document.line_of(node.start)}: {where} is not an object in braces")


def _nested(path: Path, name: str, entry: Entry) -> Entry:
    value: Entry = {name: entry}
    for key in reversed(path):
        value = {key: value}
    return value


def _new_document(document: JsonText, path: Path, name: str, entry: Entry) -> Addition:
    style = _Style.of(document)
    text = document.text
    lead = style.newline if text and not text.endswith(("\n", "\r")) else ""
    made = [tuple(path[: end + 1]) for end in range(len(path))]
    inserted = lead + _shown(_nested(path, name, entry), "", style) + style.newline
    return Addition(edits=[Edit(at=len(text), inserted=inserted)], made=made[::-1])


def _appended(document: JsonText, table: Object, key: str, value: Entry) -> Sequence[Edit]:
    return _after_last(document, table, key, value) if table.members else _into_empty(document, table, key, value)


def _after_last(document: JsonText, table: Object, key: str, value: Entry) -> Sequence[Edit]:
    style, text, last = _Style.of(document), document.text, table.members[-1]
    indent = _own_line_indent(text, last.start)
    end = last.value.end
    comma = [] if last.comma is not None else [Edit(at=end, inserted=",")]
    after = end if last.comma is None else last.comma + 1
    tail = "," if last.comma is not None else ""
    if indent is None:
        lead = " " if text[last.start - 1] in _BLANK else ""
        return [_joined(comma, Edit(at=after, inserted=f"{lead}{_member_shown(key, value, None, style)}{tail}"))]
    after = document.gap_end(after)
    inserted = f"{style.newline}{indent}{_member_shown(key, value, indent, style)}{tail}"
    if after == end:
        return [_joined(comma, Edit(at=after, inserted=inserted))]
    return [*comma, Edit(at=after, inserted=inserted)]


def _joined(comma: Sequence[Edit], edit: Edit) -> Edit:
    return Edit(at=edit.at, inserted="".join(part.inserted for part in comma) + edit.inserted)


def _into_empty(document: JsonText, table: Object, key: str, value: Entry) -> Sequence[Edit]:
    style, text = _Style.of(document), document.text
    inside = [span for span in document.comments if table.start < span[0] < table.end]
    after = inside[-1][1] if inside else table.start + 1
    rest = text[after : table.end - 1]
    # A text of one line stays one, unless there is nothing in it yet.
    if "\n" not in text and "\r" not in text and table is not document.root:
        return [Edit(at=after, inserted=_member_shown(key, value, None, style))]
    base = _line_indent(text, table.start)
    indent = base + style.unit
    closing = "" if "\n" in rest or "\r" in rest else style.newline + base
    return [Edit(at=after, inserted=f"{style.newline}{indent}{_member_shown(key, value, indent, style)}{closing}")]


def _cut(document: JsonText, table: Object, key: str) -> Sequence[Edit]:
    """The edits that take the last member called `key` out of its table, with its own comma and the white space before it."""
    text = document.text
    number = max(number for number, member in enumerate(table.members) if member.key == key)
    member = table.members[number]
    start = member.start
    while text[start - 1] in _BLANK:
        start -= 1
    end = member.value.end if member.comma is None else member.comma + 1
    before = table.members[number - 1].comma if number else None
    if len(table.members) == 1 and text[start - 1] == "{" and not text[end : table.end - 1].strip(_BLANK):
        end = table.end - 1
    edits = [Edit(at=start, removed=text[start:end])]
    if member.comma is None and before is not None:
        # The member before is the last now. Where our own cut begins right after its comma, one edit takes both.
        if before + 1 == start:
            return [Edit(at=before, removed=text[before:end])]
        edits.insert(0, Edit(at=before, removed=","))
    return edits


def _commented(document: JsonText, table: Object) -> bool:
    return any(table.start < start < table.end for start, _ in document.comments)


def _own_line_indent(text: str, place: int) -> str | None:
    """The white space before `place` when nothing else stands before it on its line; `None` otherwise."""
    start = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
    before = text[start:place]
    return before if start > 0 and not before.strip(" \t") else None


def _line_indent(text: str, place: int) -> str:
    start = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
    line = text[start:place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _member_shown(key: str, value: Entry, indent: str | None, style: _Style) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: {_shown(value, indent, style)}"


def _shown(value: Entry, indent: str | None, style: _Style) -> str:
    """The value on lines that begin with `indent`, or on one line when that is `None`."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=style.unit).split("\n")
    return (style.newline + indent).join(lines)
