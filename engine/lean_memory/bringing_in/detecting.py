"""Of what kind something is, by what is in it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lean_memory.arguments import path_of_argument
from lean_memory.bringing_in import chatgpt, claude, mcp_server, mem0, notes
from lean_memory.bringing_in.json_stream import is_spread
from lean_memory.bringing_in.sources import Entry, Source, opened_source
from lean_memory.bringing_in.texts import Reading, fields_of
from lean_memory.bringing_in.values import Kind
from lean_memory.errors import InvalidInputError, quoted
from lean_memory.store.older_file import MAGIC

_CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_JSONS = frozenset({".json", ".jsonl", ".ndjson"})
_KNOWN = (
    "the older lean-memory's database, the data exports of ChatGPT and Claude (conversations.json), mem0 (JSON), basic-memory (Markdown), "
    "the MCP memory server (JSON lines), Markdown and plain text"
)
_SAFE_BYTES = 4_000_000
"""How far into a file of conversations its kind is looked for: the first may be long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What of a source is read, as what, and how; `read` is `None` for the older files, which are no texts."""

    kind: Kind
    entries: tuple[Entry, ...]
    read: Callable[[Source, tuple[Entry, ...], str], Reading] | None
    notes: tuple[str, ...] = ()


def detect(path: str | os.PathLike[str]) -> Kind:
    """Of what kind a file, folder or zip is. Raises `InvalidInputError` where it is none that is known, and as `bring_in` does."""
    with opened_source(path_of_argument(path, "path")) as source:
        return choose(source, None).kind


def kind_named(value: str | None) -> Kind | None:
    """A kind by its value. Raises `InvalidInputError`."""
    try:
        return None if value is None else Kind(value)
    except ValueError:
        raise InvalidInputError(f"“{quoted(str(value))}” is no kind that can be brought in; it is one of {', '.join(Kind)}.") from None


def choose(source: Source, kind: Kind | None) -> Chosen:
    """What of an opened source is to be read, as the kind that was named or that it is. Raises `InvalidInputError`."""
    if not any(entry.size for entry in source.entries):
        raise InvalidInputError(f"{source.path} holds no file with anything in it; nothing was brought in.")
    found = _detected(source) if kind is None else kind
    entries = _ENTRIES[found](source)
    if not entries:
        raise InvalidInputError(f"{source.path} holds nothing of the kind {found}; nothing was brought in.")
    told = {Kind.MCP_SERVER: (mcp_server.UNDATED,), Kind.BASIC_MEMORY: (notes.UNDATED,), Kind.PLAIN: (notes.UNDATED,)}
    return Chosen(kind=found, entries=entries, read=_READERS.get(found), notes=told.get(found, ()))


def _detected(source: Source) -> Kind:
    if any(entry.base in {"manifest.json", "records.jsonl"} for entry in source.entries) and source.path.suffix == ".leanmem":
        raise InvalidInputError(f"{source.path} is a bundle of this program: `lean-memory import` takes it in. Nothing was brought in.")
    if _databases(source):
        return Kind.OLDER
    conversations = _conversations(source)
    if conversations:
        kind = _kind_of_chats(conversations)
        if kind is not None:
            return kind
    for entry in _jsons(source):
        kind = _kind_of_json(entry)
        if kind is not None:
            return kind
    written = _notes(source)
    if written:
        return Kind.BASIC_MEMORY if any(map(notes.is_basic_memory, written)) else Kind.PLAIN
    raise _unknown(source)


def _unknown(source: Source) -> InvalidInputError:
    damaged_json = any(not _is_json(entry) for entry in _jsons(source))
    what = "is damaged, or " if damaged_json else ""
    return InvalidInputError(f"{source.path} {what}is nothing that can be brought in. What can be: {_KNOWN}. Nothing was brought in.")


def _kind_of_chats(entries: tuple[Entry, ...]) -> Kind | None:
    for entry in entries:
        text = entry.beginning(_SAFE_BYTES)
        marks = {Kind.CHATGPT: text.find(b'"mapping"'), Kind.CLAUDE: text.find(b'"chat_messages"')}
        found = sorted((at, kind) for kind, at in marks.items() if at >= 0)
        if found:
            return found[0][1]
    return None


def _kind_of_json(entry: Entry) -> Kind | None:
    first = _first_value(entry)
    if mcp_server.is_node(first):
        return Kind.MCP_SERVER
    if mem0.is_memory(first):
        return Kind.MEM0
    fields = fields_of(first)
    if isinstance(fields.get("mapping"), dict):
        return Kind.CHATGPT
    return Kind.CLAUDE if "chat_messages" in fields else None


def _first_value(entry: Entry) -> object:
    """The first line of JSON lines, the first element of an array, or a single object, as far as the beginning of the file holds it whole."""
    text = entry.beginning().decode("utf-8-sig", "replace").lstrip()
    line = text.split("\n", maxsplit=1)[0]
    whole = text if is_spread(text) else ""
    for part in (line, whole, text[text.find("[") + 1 :] if "[" in text else ""):
        try:
            value, _ = json.JSONDecoder().raw_decode(part.lstrip())
        except (ValueError, RecursionError):
            continue
        if fields_of(value) and not {"results", "memories"} & fields_of(value).keys():
            return fields_of(value)
    return None


def _is_json(entry: Entry) -> bool:
    return entry.beginning(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["}


def _databases(source: Source) -> tuple[Entry, ...]:
    named = [entry for entry in source.entries if entry.suffix in {".db", ".sqlite", ".sqlite3"} or len(source.entries) == 1]
    return tuple(entry for entry in named if "/" not in entry.name and entry.beginning(len(MAGIC)) == MAGIC)


def _conversations(source: Source) -> tuple[Entry, ...]:
    named = tuple(entry for entry in source.entries if _CONVERSATIONS.fullmatch(entry.name))
    return named or tuple(entry for entry in _jsons(source) if len(source.entries) == 1)


def _jsons(source: Source) -> tuple[Entry, ...]:
    return tuple(entry for entry in source.entries if entry.suffix in _JSONS and entry.size)


def _notes(source: Source) -> tuple[Entry, ...]:
    return tuple(entry for entry in source.entries if entry.suffix in notes.TEXTUAL)


def _of_kind(kind: Kind) -> Callable[[Source], tuple[Entry, ...]]:
    """The files of a kind among others; a single file is taken as what it is said to be."""

    def found(source: Source) -> tuple[Entry, ...]:
        jsons = _jsons(source)
        return jsons if len(jsons) < 2 else tuple(entry for entry in jsons if _kind_of_json(entry) is kind)

    return found


def _written(source: Source) -> tuple[Entry, ...]:
    """All files, since those that are no notes are told of, where there are notes among them or a single one is named."""
    return source.entries if _notes(source) or not source.is_folder else ()


_ENTRIES: Mapping[Kind, Callable[[Source], tuple[Entry, ...]]] = {
    Kind.OLDER: _databases,
    Kind.CHATGPT: _conversations,
    Kind.CLAUDE: _conversations,
    Kind.MEM0: _of_kind(Kind.MEM0),
    Kind.MCP_SERVER: _of_kind(Kind.MCP_SERVER),
    Kind.BASIC_MEMORY: _written,
    Kind.PLAIN: _written,
}
_READERS: Mapping[Kind, Callable[[Source, tuple[Entry, ...], str], Reading]] = {
    Kind.CHATGPT: chatgpt.read_chatgpt,
    Kind.CLAUDE: claude.read_claude,
    Kind.MEM0: mem0.read_mem0,
    Kind.MCP_SERVER: mcp_server.read_mcp_server,
    Kind.BASIC_MEMORY: notes.read_basic_memory,
    Kind.PLAIN: notes.read_plain,
}
