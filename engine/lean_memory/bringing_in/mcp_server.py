"""The file of the reference MCP memory server: one JSON object a line.

`{"type": "entity", "name", "entityType", "observations": [...]}` and `{"type": "relation", "from", "to", "relationType"}`. It holds no dates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lean_memory.bringing_in.about import USER, name_of, told_of
from lean_memory.bringing_in.json_stream import lines_of
from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.texts import LONGEST, Found, Passed, Reading, Text, clean, elements_of, fields_of

UNDATED = "The file holds no dates; what it says counts as said when the file was last changed."

_NO_JSON = "A line is no JSON."
_ODD = "A line is neither an entity nor a relation."
_LONG = f"An observation is longer than {LONGEST:,} characters."


def read_mcp_server(source: Source, entries: tuple[Entry, ...], zone: str) -> Reading:
    """The observations and relations in the order of the file."""
    del zone
    for entry in entries:
        for number, value in lines_of(source, entry):
            yield from _told(value, entry, f"{entry.name}, line {number}")


def is_node(value: object) -> bool:
    """Whether a value is a line of such a file."""
    fields = fields_of(value)
    kind = fields.get("type")
    names = {"entity": ("name",), "relation": ("from", "to")}.get(kind if isinstance(kind, str) else "", ())
    return bool(names) and all(isinstance(fields.get(name), str) for name in names)


def _told(value: object, entry: Entry, place: str) -> Iterator[Found]:
    if value is ValueError or not is_node(value):
        yield Passed(reason=_NO_JSON if value is ValueError else _ODD, place=place)
        return
    fields = fields_of(value)
    if fields["type"] == "relation":
        yield _relation(fields, entry)
        return
    name = clean(str(fields["name"]))
    for observation in elements_of(fields.get("observations")):
        yield _observation(name, observation, entry, place)


def _observation(name: str, observation: object, entry: Entry, place: str) -> Found:
    # Some servers keep an observation with its date or its source around it.
    said = observation if isinstance(observation, str) else fields_of(observation).get("content")
    text = clean(said) if isinstance(said, str) else ""
    if not text or not name or len(text) > LONGEST:
        return Passed(reason=_LONG if text and name else _ODD, place=place)
    return Text(text=told_of(name_of(name), text), t_ref=entry.modified, key=("entity", name, text))


def _relation(fields: Mapping[str, object], entry: Entry) -> Text:
    one, other = clean(str(fields["from"])), clean(str(fields["to"]))
    subject, target = name_of(one), name_of(other)
    between = clean(str(fields.get("relationType") or "is related to"))
    words = " ".join(between.replace("_", " ").split())
    told = told_of(subject, f"{words} {target}.") if subject == USER else f"{subject} {words} {target}."
    return Text(text=told, t_ref=entry.modified, key=("relation", one, between, other))
