"""Memories of mem0, as its interface gives them and as its exports hold them.

An array of objects, or an object that has it as `results` or `memories`, or one object a line or alone: `memory` (also `text`, `data`, `content`) says
what is remembered, of the person whose `user_id` stands beside; `id`, `created_at`, `updated_at`.
"""

from __future__ import annotations

from collections.abc import Iterator

from lean_memory.bringing_in.about import told_by_the_user
from lean_memory.bringing_in.json_stream import is_spread, lines_of, values_of
from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.texts import LONGEST, Found, Passed, Reading, Text, clean, fields_of, moment_of

_SAID = ("memory", "text", "data", "content")
_NO_MEMORY = "An entry holds no memory."
_NO_JSON = "A line is no JSON."
_LONG = f"A memory is longer than {LONGEST:,} characters."


def read_mem0(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """The memories in the order of the export."""
    for entry in entries:
        for place, memory in _memories(source, entry):
            yield from _remembered(memory, entry, place, zone)


def is_memory(value: object) -> bool:
    """Whether a value looks like a memory of mem0."""
    fields = fields_of(value)
    return isinstance(fields.get("memory"), str) or ("id" in fields and "created_at" in fields and any(name in fields for name in _SAID))


def _memories(source: Source, entry: Entry) -> Iterator[tuple[str, object]]:
    way = _way_to(entry)
    if way is None:
        for line, value in lines_of(source, entry):
            yield f"{entry.name}, line {line}", value
        return
    with source.opened(entry) as file:
        for number, value in enumerate(values_of(file, entry.name, way), start=1):
            yield f"{entry.name}, entry {number}", value


def _way_to(entry: Entry) -> tuple[str, ...] | None:
    """Where the memories stand in a document; `None` for JSON lines."""
    beginning = entry.beginning().decode("utf-8-sig", "replace").lstrip()
    if beginning.startswith("["):
        return ("item",)
    for name in ("results", "memories"):
        if f'"{name}"' in beginning.split("[", maxsplit=1)[0]:
            return (name, "item")
    # An object over several lines is one memory; one that ends with its line may be followed by others.
    return () if is_spread(beginning) else None


def _remembered(memory: object, entry: Entry, place: str, zone: str) -> Iterator[Found]:
    if memory is ValueError:
        yield Passed(reason=_NO_JSON, place=place)
        return
    fields = fields_of(memory)
    said = clean(next((value for name in _SAID if isinstance(value := fields.get(name), str)), ""))
    if not said or len(said) > LONGEST:
        yield Passed(reason=_LONG if said else _NO_MEMORY, place=place)
        return
    # What it says was put into these words when it was last changed.
    at = moment_of(fields.get("updated_at"), zone) or moment_of(fields.get("created_at"), zone) or entry.modified
    yield Text(text=told_by_the_user(said), t_ref=at, key=(str(fields.get("id") or ""), said))
