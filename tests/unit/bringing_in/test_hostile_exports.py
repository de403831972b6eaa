"""Exports that are nonsense or made to do harm: what can be read of them comes in, in little time and memory, and the rest is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.arguments import LATEST
from lean_memory.bringing_in import chatgpt, json_stream
from lean_memory.errors import DamagedFileError
from support.exports import chatgpt_conversation

TEA = '{"id": "1", "memory": "Likes tea", "created_at": "2025-01-03"}'


def texts(memory: Memory) -> list[str]:
    return sorted(fact.object for fact in memory.facts("ana"))


@pytest.mark.parametrize("last", [f'{{"id": {"1" * 5000}, "memory": "Likes olives"}}', "[" * 1000, '{"id": 1e999}', "NaN"])
def test_what_came_before_nonsense_is_kept(memory: Memory, tmp_path: Path, last: str) -> None:
    path = tmp_path / "mem.json"
    path.write_text(f"[{TEA}, {last}]", encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"mem\.json"):
        memory.bring_in(path, namespace="ana")
    assert texts(memory) == ["tea"]


def test_a_word_without_end_is_not_read_to_its_end(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_LONGEST", 1 << 20)
    path = tmp_path / "mem.json"
    path.write_text(f'[{TEA}, {{"memory": "{"a" * (2 << 20)}"}}]', encoding="utf-8")
    with pytest.raises(DamagedFileError, match="holds a value of more than 1 MB"):
        memory.bring_in(path, namespace="ana")
    assert texts(memory) == ["tea"]


def test_a_value_of_elements_without_end_is_not_read_to_its_end(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_LARGEST", 1 << 20)
    path = tmp_path / "mem.json"
    path.write_text(f'[{TEA}, {{"memory": [{"1," * 100_000} 1]}}]', encoding="utf-8")
    with pytest.raises(DamagedFileError, match="holds a value of more than 1 MB"):
        memory.bring_in(path, namespace="ana")
    assert texts(memory) == ["tea"]


def test_a_conversation_without_end_is_not_kept_in_memory(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chatgpt, "_MOST_NODES", 50)
    talks = [chatgpt_conversation("a", [("user", "I like tea.")]), chatgpt_conversation("b", [("user", "I like figs.")] * 60)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(talks), encoding="utf-8")
    with pytest.raises(DamagedFileError, match="longer than any"):
        memory.bring_in(path, namespace="ana")
    assert texts(memory) == ["tea"]


def test_values_of_other_types_than_an_export_has_are_passed_over(memory: Memory, tmp_path: Path) -> None:
    talk = chatgpt_conversation("a", [("user", "I like tea."), ("user", "I like figs."), ("user", "I like rye bread.")])
    mapping = talk["mapping"]
    assert isinstance(mapping, dict)
    mapping["a-1"]["message"]["content"] = {"content_type": ["text"], "parts": {"a": 1}}
    mapping["a-2"]["message"]["author"]["role"] = ["user"]
    talk.update(create_time={}, conversation_id=[1])
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([talk, None, 5, {"mapping": []}]), encoding="utf-8")
    assert memory.bring_in(path, namespace="ana").added == 1
    assert texts(memory) == ["tea"]


def test_a_front_that_doubles_itself_over_and_over_says_nothing(memory: Memory, tmp_path: Path) -> None:
    lines = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    note = tmp_path / "note.md"
    note.write_text("\n".join(["---", "a0: &a0 {x: 1}", *lines, "---", "I like tea."]), encoding="utf-8")
    assert memory.bring_in(note, namespace="ana").added == 1
    assert texts(memory) == ["tea"]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere every name is a text")
def test_a_name_that_is_no_text_can_be_told_all_the_same(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in ((b"\xff.md", b"---\npermalink: x\n---\n- [taste] I like tea\n- knows [[Ben]]\n"), (b"\xfe.png", b"x")):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(text)  # noqa: PTH118 - of bytes
    report = memory.bring_in(folder, namespace="ana")
    assert report.added == 2
    (left,) = report.left_out
    assert json.dumps(left.places).encode("utf-8")
    assert [place.encode("utf-8") for place in left.places]


def test_a_file_that_claims_to_be_from_another_age_counts_as_of_a_moment_that_can_be_told(memory: Memory, tmp_path: Path) -> None:
    for name, at in (("late.md", 10**12), ("early.md", -1_000_000)):
        path = tmp_path / name
        path.write_text(f"Last year I moved to {name.title()}.", encoding="utf-8")
        os.utime(path, (at, at))
    report = memory.bring_in(tmp_path, namespace="ana")
    assert report.since == 0
    assert report.until is not None
    assert report.until <= LATEST
    assert len(memory.facts("ana", as_of=report.until)) > 0
