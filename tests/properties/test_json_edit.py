"""Whatever a JSON text with comments looks like, an entry goes in and out of it without a trace."""

from __future__ import annotations

import json
from typing import cast

from hypothesis import given, strategies as st

from lean_memory_bridge.clients.edits import Edit, applied, inverted
from lean_memory_bridge.clients.json_edit import JsonEntries
from lean_memory_bridge.clients.json_text import read_json, value_of

ENTRY = {"command": "/bin/x", "args": ["-m"], "env": {"K": "v"}}
ENTRIES = JsonEntries(("servers", "inner"))

words = st.text(st.characters(codec="utf-8", exclude_characters="*/\r\n"), max_size=6)
gaps = st.lists(
    st.one_of(
        st.sampled_from(["", " ", "\t", "\n", "\r\n", "\n    "]),
        words.map(lambda word: f"//{word}\n"),
        words.map(lambda word: f"/*{word}*/"),
    ),
    max_size=3,
).map("".join)
keys = st.one_of(st.sampled_from(["a", "b", "servers", "inner"]), words)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), words).map(json.dumps)


@st.composite
def objects(draw: st.DrawFn, depth: int = 0) -> str:
    """An object with gaps everywhere that a gap may stand."""
    members: list[str] = []
    for key in draw(st.lists(keys, max_size=3)):
        must_be_object = key in ("servers", "inner")
        value = draw(objects(depth + 1)) if depth < 3 and (must_be_object or draw(st.booleans())) else draw(lists(depth))
        value = "{}" if must_be_object and not value.startswith("{") else value
        members.append(f"{draw(gaps)}{json.dumps(key)}{draw(gaps)}:{draw(gaps)}{value}{draw(gaps)}")
    trailing = "," if members and draw(st.booleans()) else ""
    return "{" + ",".join(members) + trailing + draw(gaps) + "}"


@st.composite
def lists(draw: st.DrawFn, depth: int) -> str:
    if depth > 2 or draw(st.booleans()):
        return draw(scalars)
    items = draw(st.lists(scalars, max_size=3))
    return "[" + ",".join(draw(gaps) + item for item in items) + ("," if items and draw(st.booleans()) else "") + draw(gaps) + "]"


documents = st.tuples(gaps, objects(), gaps).map("".join)


def tree_of(text: str) -> dict[str, object]:
    return cast("dict[str, object]", ENTRIES.tree(text))


@given(documents)
def test_an_added_entry_is_found_and_taking_the_edits_back_restores_every_byte(text: str) -> None:
    edits = ENTRIES.add(text, "ours", ENTRY).edits
    after = applied(text, edits)
    assert ENTRIES.find(after, "ours") == ENTRY
    assert all(edit.removed == "" for edit in edits)
    assert applied(after, inverted(edits)) == text


@given(documents)
def test_removing_an_entry_restores_the_meaning_and_keeps_every_comment(text: str) -> None:
    addition = ENTRIES.add(text, "ours", ENTRY)
    after = ENTRIES.remove(applied(text, addition.edits), "ours", addition.made)
    assert ENTRIES.tree(after) == ENTRIES.tree(text)

    def comments(of: str) -> list[str]:
        return [of[start:end] for start, end in read_json(of).comments]

    assert comments(after) == comments(text)


plain = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))


@given(st.one_of(plain, st.lists(plain, max_size=3), st.lists(st.dictionaries(st.text(max_size=3), plain, max_size=2), max_size=3)))
def test_plain_json_is_read_as_json_reads_it(value: object) -> None:
    text = json.dumps({"a": value})
    root = read_json(text, ("a",)).root
    assert root is not None
    assert value_of(root) == json.loads(text)


@given(st.text(alphabet='{}[]:,"/*\\ \n1atrue', max_size=20))
def test_what_json_reads_we_read_the_same_and_what_it_refuses_only_comments_and_commas_excuse(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    try:
        ours = ENTRIES.tree(text)
    except ValueError:
        assert expected is None
    else:
        assert ours == (expected if expected is not None else ours)


@given(st.text(max_size=30), st.data())
def test_edits_can_be_taken_back(text: str, data: st.DataObject) -> None:
    edits: list[Edit] = []
    place = 0
    while place <= len(text) and data.draw(st.booleans()):
        start = data.draw(st.integers(place, len(text)))
        end = data.draw(st.integers(start, len(text)))
        edits.append(Edit(at=start, removed=text[start:end], inserted=data.draw(st.text(max_size=5))))
        place = end + 1
    assert applied(applied(text, edits), inverted(edits)) == text
