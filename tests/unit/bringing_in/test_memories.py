"""What other memories kept: mem0's memories and the entities of the reference MCP memory server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.bringing_in import Kind, detect
from lean_memory.bringing_in.about import name_of, told_by_the_user, told_of
from support.exports import lines
from support.moments import day

MEMORIES = [
    {"id": "1", "memory": "Works at Initech", "user_id": "ana", "created_at": "2025-01-03T12:00:00+00:00", "updated_at": None},
    {"id": "2", "memory": "Likes pizza", "user_id": "ana", "created_at": "2025-01-04T04:00:00-08:00", "updated_at": "2025-01-08T12:00:00Z"},
    {"id": "3", "memory": "Name is Ana", "user_id": "ana", "created_at": "2025-01-05T12:00:00Z"},
]


@pytest.mark.parametrize("form", ["array", "results", "lines"])
def test_memories_of_mem0_are_facts_about_the_person_with_their_dates(memory: Memory, tmp_path: Path, form: str) -> None:
    path = tmp_path / "export.json"
    if form == "lines":
        lines(path, MEMORIES)
    else:
        path.write_text(json.dumps(MEMORIES if form == "array" else {"results": MEMORIES}), encoding="utf-8")
    assert detect(path) is Kind.MEM0
    assert memory.bring_in(path, namespace="ana").added == 3
    assert {(f.subject, f.predicate, f.object) for f in memory.facts("ana")} == {
        ("user", "works_at", "Initech"),
        ("user", "likes", "pizza"),
        ("user", "name", "Ana"),
    }
    assert {f.object for f in memory.facts("ana", as_of=day(6))} == {"Initech", "Ana"}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", ["alone", "array", "memories"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_an_export_of_mem0_may_be_one_memory_spread_over_lines_or_begin_with_a_mark(
    memory: Memory, tmp_path: Path, form: str, indent: int | None, encoding: str
) -> None:
    path = tmp_path / "export.json"
    # What else stands with a memory is no sign of another form.
    one = {**MEMORIES[1], "categories": ["food"], "metadata": {"a": [{"b": 1}]}}
    told = {"alone": one, "array": [one], "memories": {"count": 1, "memories": [one]}}[form]
    path.write_text(json.dumps(told, indent=indent) + "\n", encoding=encoding)
    assert detect(path) is Kind.MEM0
    report = memory.bring_in(path, namespace="ana")
    assert (report.added, report.left_out) == (1, ())
    assert [f.object for f in memory.facts("ana")] == ["pizza"]


def test_entries_without_a_memory_are_told_with_their_place(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([*MEMORIES, {"id": "4", "created_at": "2025-01-05"}]), encoding="utf-8")
    [left] = memory.bring_in(path, namespace="ana").left_out
    assert (left.reason, left.count, left.places) == ("An entry holds no memory.", 1, ("export.json, entry 4",))


def test_entities_of_the_mcp_server_are_told_of_by_their_names(memory: Memory, tmp_path: Path) -> None:
    nodes = [
        {
            "type": "entity",
            "name": "John_Smith",
            "entityType": "person",
            "observations": ["Speaks fluent Spanish", "Prefers morning meetings"],
        },
        {"type": "entity", "name": "default_user", "entityType": "person", "observations": ["Lives in Porto"]},
        {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
    ]
    path = lines(tmp_path / "memory.jsonl", nodes)
    path.write_text(path.read_text(encoding="utf-8") + "no json\n", encoding="utf-8")
    assert detect(path) is Kind.MCP_SERVER
    report = memory.bring_in(path, namespace="ana")
    assert {(f.subject, f.predicate, f.object) for f in memory.facts("ana")} == {
        ("John Smith", "speaks", "Spanish"),
        ("John Smith", "prefers", "morning meetings"),
        ("John Smith", "works_at", "Anthropic"),
        ("user", "lives_in", "Porto"),
    }
    assert [(one.reason, one.places) for one in report.left_out] == [("A line is no JSON.", ("memory.jsonl, line 4",))]
    assert any("no dates" in note for note in report.notes)


@pytest.mark.parametrize(
    ("name", "note", "sentence"),
    [
        ("Ana", "Works at Acme", "Ana works at Acme."),
        ("Ana", "Graduated in 2019", "Ana graduated in 2019."),
        ("Ana", "Is allergic to nuts", "Ana is allergic to nuts."),
        ("Ana", "Ana likes tea", "Ana likes tea."),
        ("Apollo", "Deadline is May 1", "Apollo's deadline is May 1."),
        ("Apollo", "Python 3.11, FastAPI", "Apollo – Python 3.11, FastAPI."),
        ("Apollo", "Cats are not allowed", "Apollo's cats are not allowed."),
        ("Ana", "She is tall", "Ana – She is tall."),
        ("Ana", "Boss of the team", "Ana – Boss of the team."),
    ],
)
def test_a_note_about_somebody_is_told_as_a_sentence(name: str, note: str, sentence: str) -> None:
    assert told_of(name, note) == sentence


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        ("User works at Acme and lives in Porto", "I work at Acme and live in Porto."),
        ("The user is allergic to nuts", "I am allergic to nuts."),
        ("User's name is Ana", "My name is Ana."),
        ("Favorite color is blue", "My favorite color is blue."),
        ("Studies physics", "I study physics."),
        ("Teaches maths", "I teach maths."),
        ("Graduated in 2019", "I graduated in 2019."),
        ("Ben is tall", "Ben is tall."),
        ("USB sticks are full", "USB sticks are full."),
    ],
)
def test_a_note_about_the_person_is_told_as_they_would(note: str, sentence: str) -> None:
    assert told_by_the_user(note) == sentence


def test_the_person_goes_by_many_names() -> None:
    assert {name_of(name) for name in ("user", "default_user", "Me", "The user")} == {"user"}
    assert name_of("John_Smith") == "John Smith"


def test_what_names_nobody_is_left_out_of_the_memory_of_the_mcp_server(memory: Memory, tmp_path: Path) -> None:
    told: list[object] = [
        {"type": "entity", "name": "Clara", "observations": ["collects stamps"]},
        {"type": "entity", "name": None, "observations": ["likes tea"]},
        {"type": "relation", "from": "Clara", "to": None, "relationType": "knows"},
        {"type": ["entity"], "name": "Clara"},
    ]
    report = memory.preview_bring_in(lines(tmp_path / "memory.jsonl", told), namespace="ana")
    assert report.samples == ("Clara collects stamps.",)
    assert [one.count for one in report.left_out] == [3]
