"""The data export of Claude: `conversations.json`, an array of conversations.

Each has its `chat_messages` in order: `uuid`, `sender` (`human` or `assistant`), `created_at`, `text`, and in newer exports `content`, blocks of
which those of the type `text` are what was written; `attachments` and `files` stand beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lean_memory.bringing_in.json_stream import values_of
from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.texts import LONGEST, Found, Passed, Reading, Text, clean, elements_of, fields_of, moment_of

_OTHERS = "What the assistant wrote is not taken for something that you said."
_ATTACHED = "Attachments and files are not brought in, only what you wrote about them."
_LONG = f"A message is longer than {LONGEST:,} characters, as pasted documents are."
_EMPTY = "A message has no text."
_ODD = "A message is not of the form that Claude's export has."


def read_claude(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """The person's own messages, in the order of the export."""
    for entry in entries:
        with source.opened(entry) as file:
            for message in values_of(file, entry.name, ("item", "chat_messages", "item")):
                yield from _said(message, entry, zone)


def _said(message: object, entry: Entry, zone: str) -> Iterator[Found]:
    fields = fields_of(message)
    if not fields:
        yield Passed(reason=_ODD, place=entry.name)
        return
    if fields.get("sender") != "human":
        yield Passed(reason=_OTHERS)
        return
    attached = sum(len(elements_of(fields.get(name))) for name in ("attachments", "files"))
    if attached:
        yield Passed(reason=_ATTACHED, count=attached)
    text, uuid = _words(fields), str(fields.get("uuid") or "")
    place = f"{entry.name}: message {uuid}"
    if not text and attached:
        return
    if not text or len(text) > LONGEST:
        yield Passed(reason=_LONG if text else _EMPTY, place=place)
        return
    at = moment_of(fields.get("created_at"), zone) or moment_of(fields.get("updated_at"), zone)
    key = (uuid,) if uuid else (str(fields.get("created_at")), text)
    yield Text(text=text, t_ref=at or entry.modified, key=key)


def _words(message: Mapping[str, object]) -> str:
    words = [_of_block(fields_of(block)) for block in elements_of(message.get("content"))]
    written = "\n\n".join(word for word in words if word)
    whole = message.get("text")
    return clean(written or (whole if isinstance(whole, str) else ""))


def _of_block(block: Mapping[str, object]) -> str:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else ""
