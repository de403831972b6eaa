"""The data export of ChatGPT: `conversations.json`, an array of conversations.

Each conversation has a `mapping` of nodes by id, a tree: a node has its `parent`, its `children` and perhaps a `message`, with the `role` of
its `author`, `create_time` in seconds, and a `content` of `parts`. `current_node` is the last node of what is shown; what was edited or asked
anew branches off from that. Newer exports part the array over several files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from lean_memory.bringing_in.json_stream import Event, built, events_of, passed_over
from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.texts import LONGEST, Found, Passed, Reading, Text, clean, elements_of, fields_of, moment_of
from lean_memory.errors import DamagedFileError

_OTHERS = "What the assistant and its tools wrote is not taken for something that you said."
_EDITED = "An earlier wording of a message that was edited afterwards, or a branch that was left."
_HIDDEN = "Custom instructions and other messages that the program sends in your name."
_MEDIA = "Pictures, recordings and files cannot be brought in, only what you wrote or said about them."
_LONG = f"A message is longer than {LONGEST:,} characters, as pasted documents are."
_EMPTY = "A message has no text."

_MOST_NODES = 500_000
_MOST_WORDS = 100_000_000
"""Characters of the person's own messages in one conversation."""

# Looked through one by one, as what a file holds there may be anything.
_TEXTUAL = ("text", "multimodal_text")
_NOT_THEIRS = ("assistant", "tool")
_WANTED = frozenset({"id", "conversation_id", "create_time", "update_time", "current_node"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node:
    """What is kept of a node; of messages that are not the person's own, only where they stand."""

    parent: str | None
    text: str | None = None
    at: object = None
    left: tuple[str, ...] = ()
    """Why something of it is left out."""


@dataclass(slots=True)
class _Conversation:
    fields: dict[str, object] = field(default_factory=dict[str, object])
    nodes: dict[str, _Node] = field(default_factory=dict[str, _Node])

    def keep(self, nodes: Iterable[tuple[str, _Node]]) -> None:
        """Keep its nodes. Raises `DamagedFileError` for more than any conversation has, as all of one are in memory together."""
        size = 0
        for key, node in nodes:
            self.nodes[key] = node
            size += len(node.text or "")
            if len(self.nodes) > _MOST_NODES or size > _MOST_WORDS:
                raise DamagedFileError("A conversation is longer than any in an export of ChatGPT is. What came before it is kept.")


def read_chatgpt(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """The person's own messages, conversation by conversation, each in the order in which it is shown."""
    for entry in entries:
        with source.opened(entry) as file:
            events = events_of(file, entry.name)
            for conversation in _conversations(events):
                yield from _said(conversation, entry, zone)


def _conversations(events: Iterator[Event]) -> Iterator[_Conversation]:
    for event, _ in events:
        # Of an array of conversations, or of one that stands alone.
        if event == "start_map":
            yield _conversation(events)


def _conversation(events: Iterator[Event]) -> _Conversation:
    found = _Conversation()
    for event, value in events:
        if event == "end_map":
            break
        key, first = cast("str", value), next(events)
        if key == "mapping" and first[0] == "start_map":
            found.keep(_nodes(events))
        elif key in _WANTED:
            found.fields[key] = built(first, events)
        else:
            passed_over(first, events)
    return found


def _nodes(events: Iterator[Event]) -> Iterator[tuple[str, _Node]]:
    for event, key in events:
        if event == "end_map":
            return
        # Of one node after another, so that what is not kept of a long conversation is never there at once.
        node = built(next(events), events)
        yield cast("str", key), _node(fields_of(node))


def _node(node: Mapping[str, object]) -> _Node:
    parent = node.get("parent")
    above = parent if isinstance(parent, str) else None
    said = fields_of(node.get("message"))
    if not said:
        return _Node(parent=above)
    if _part(said, "author").get("role") != "user":
        is_said = _part(said, "author").get("role") in _NOT_THEIRS
        return _Node(parent=above, left=(_OTHERS,) if is_said else ())
    content = _part(said, "content")
    hidden = _part(said, "metadata").get("is_visually_hidden_from_conversation") is True
    if hidden or content.get("content_type", "text") not in _TEXTUAL:
        return _Node(parent=above, left=(_HIDDEN,))
    text, has_media = _words(content.get("parts"))
    return _Node(parent=above, text=text, at=said.get("create_time"), left=(_MEDIA,) if has_media else ())


def _words(parts: object) -> tuple[str, bool]:
    """The words of a message, and whether there is something else in it."""
    words: list[str] = []
    has_media = False
    for part in elements_of(parts):
        spoken = part if isinstance(part, str) else fields_of(part).get("text")
        if isinstance(spoken, str):
            words.append(spoken)
        else:
            has_media = True
    return clean("\n\n".join(words)), has_media


def _said(conversation: _Conversation, entry: Entry, zone: str) -> Iterator[Found]:
    nodes, fields = conversation.nodes, conversation.fields
    shown = _shown(nodes, fields.get("current_node"))
    name = str(fields.get("conversation_id") or fields.get("id") or "")
    begun = moment_of(fields.get("create_time"), zone) or moment_of(fields.get("update_time"), zone) or entry.modified
    on_the_way = frozenset(shown)
    left_behind = sum(node.text is not None for key, node in nodes.items() if key not in on_the_way)
    if left_behind:
        yield Passed(reason=_EDITED, count=left_behind)
    for key in shown:
        node = nodes[key]
        for reason in node.left:
            yield Passed(reason=reason)
        if node.text is None:
            continue
        if not node.text or len(node.text) > LONGEST:
            if _MEDIA not in node.left:
                yield Passed(reason=_LONG if node.text else _EMPTY, place=f"{entry.name}: message {key}")
            continue
        begun = moment_of(node.at, zone) or begun
        # Of a conversation without a name, messages are told apart by their words too.
        yield Text(text=node.text, t_ref=begun, key=(name, key) if name else (key, node.text))


def _shown(nodes: Mapping[str, _Node], current: object) -> list[str]:
    """The ids of the nodes on the way to what is shown last, the first first."""
    at = current if isinstance(current, str) and current in nodes else _last(nodes)
    way: dict[str, None] = {}
    while at is not None and at in nodes and at not in way:
        way[at] = None
        at = nodes[at].parent
    return list(way)[::-1]


def _last(nodes: Mapping[str, _Node]) -> str | None:
    """Where nothing says what is shown: the last message that no other follows."""
    followed = {node.parent for node in nodes.values()}
    ends = [key for key in nodes if key not in followed]
    return ends[-1] if ends else None


def _part(of: Mapping[str, object], name: str) -> Mapping[str, object]:
    return fields_of(of.get(name))
