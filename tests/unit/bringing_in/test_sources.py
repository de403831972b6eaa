"""Sources that cannot be brought in: a sentence says why, and nothing was written."""

from __future__ import annotations

import datetime as dt
import json
import os
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from lean_memory import Memory
from lean_memory.errors import DamagedFileError, InvalidInputError, LeanMemoryError, NotFoundError
from support.exports import chatgpt_conversation, chatgpt_export, note

MANY = [chatgpt_conversation(f"c{number}", [("user", f"I like tea number {number}.")]) for number in range(100)]


def refused(memory: Memory, path: Path, kind: type[LeanMemoryError], sentence: str) -> None:
    for verb in (memory.bring_in, memory.preview_bring_in):
        with pytest.raises(kind, match=sentence):
            verb(path, namespace="ana")
    assert memory.namespaces() == []


def test_nothing_at_all(memory: Memory, tmp_path: Path) -> None:
    refused(memory, tmp_path / "none.zip", NotFoundError, "There is nothing at")


def test_an_empty_file_and_an_empty_folder(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    (tmp_path / "folder").mkdir()
    refused(memory, tmp_path / "empty.json", InvalidInputError, "is empty")
    refused(memory, tmp_path / "folder", InvalidInputError, "holds no file")


def test_something_else(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    refused(memory, tmp_path / "photo.png", InvalidInputError, "is nothing that can be brought in. What can be")
    refused(memory, tmp_path / "settings.json", InvalidInputError, "is nothing that can be brought in")


def test_an_unknown_kind_and_one_that_it_is_not(memory: Memory, tmp_path: Path) -> None:
    path = note(tmp_path / "note.md", "I like tea.")
    with pytest.raises(InvalidInputError, match="is no kind that can be brought in; it is one of lean-memory, chatgpt"):
        memory.bring_in(path, kind="diary")
    with pytest.raises(InvalidInputError, match="holds nothing of the kind chatgpt"):
        memory.bring_in(path, kind="chatgpt")


def test_a_zip_under_a_password(memory: Memory, tmp_path: Path) -> None:
    path = chatgpt_export(tmp_path / "export.zip", MANY)
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 4)
    path.write_bytes(data)
    refused(memory, path, InvalidInputError, "is under a password")


def test_a_zip_that_was_cut_off(memory: Memory, tmp_path: Path) -> None:
    path = chatgpt_export(tmp_path / "export.zip", MANY)
    path.write_bytes(path.read_bytes()[:-200])
    refused(memory, path, DamagedFileError, "is damaged or was cut off")


def test_of_a_file_that_breaks_off_what_came_before_is_kept_and_a_whole_one_brings_the_rest(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    whole = json.dumps(MANY)
    path.write_text(whole[: len(whole) // 2], encoding="utf-8")
    with pytest.raises(DamagedFileError, match="What came before is kept"):
        memory.bring_in(path, namespace="ana")
    [status] = memory.status("ana")
    assert 40 <= status.episodes < 60
    path.write_text(whole, encoding="utf-8")
    report = memory.bring_in(path, namespace="ana")
    assert (report.known, report.added) == (status.episodes, 100 - status.episodes)


def test_a_bundle_of_our_own_is_pointed_to_import(memory: Memory, tmp_path: Path) -> None:
    memory.add("bob", "I like tea.")
    memory.export("bob", tmp_path / "bob.leanmem")
    with pytest.raises(InvalidInputError, match="lean-memory import"):
        memory.bring_in(tmp_path / "bob.leanmem")


def test_half_characters_and_nul_are_taken_out(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chatgpt_conversation("a", [("user", "I like \ud800tea\x00.")])]), encoding="utf-8")
    assert memory.bring_in(path, namespace="ana").added == 1
    assert memory.search("ana", "tea")


def test_links_and_hidden_files_are_not_followed(memory: Memory, tmp_path: Path) -> None:
    note(tmp_path / "notes" / "a.md", "I like tea.")
    note(tmp_path / "notes" / ".hidden.md", "I like jazz.")
    note(tmp_path / "other.md", "I like chess.")
    (tmp_path / "notes" / "link.md").symlink_to(tmp_path / "other.md")
    assert memory.bring_in(tmp_path / "notes", namespace="ana").texts == 1


def test_the_file_of_this_memory_is_not_taken_for_an_older_one(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    with pytest.raises(InvalidInputError):
        memory.bring_in(memory.root / "ana.memory.db", namespace="bob")
    assert memory.older_files() == []


def test_a_file_that_is_nested_without_end_is_refused_and_one_of_nothing_but_brackets_is_read_at_once(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "deep.json").write_text("[" * 50_000, encoding="utf-8")
    with pytest.raises(DamagedFileError, match="nested deeper"):
        memory.bring_in(tmp_path / "deep.json", kind="mem0")
    note(tmp_path / "deep.md", "[" * 10_000)
    assert memory.preview_bring_in(tmp_path / "deep.md", kind="basic-memory").texts == 1


def test_a_zip_of_notes_is_read_as_its_folder_would_be_without_what_is_hidden_and_by_the_dates_of_its_files(
    memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("vault/tea.md", "vault/.trash/coffee.md", "vault/.obsidian/plugin.md"):
            archive.writestr(zipfile.ZipInfo(name, (2020, 3, 4, 12, 30, 0)), f"I like {PurePosixPath(name).stem}.\n")
        archive.writestr(zipfile.ZipInfo("vault/undated.md"), "I like rye bread.\n")
    os.utime(path, (2_000_000_000, 2_000_000_000))
    report = memory.preview_bring_in(path, namespace="ana")
    assert report.samples == ("I like tea.", "I like rye bread.")
    assert (report.since, report.until) == (round(dt.datetime(2020, 3, 4, 12, 30).timestamp() * 1000), 2_000_000_000_000)


def test_what_fails_elsewhere_is_not_told_of_the_file_that_is_brought_in(memory: Memory, tmp_path: Path) -> None:
    def tell(done: int, _: int) -> None:
        if done:
            raise BrokenPipeError("nobody listens")

    with pytest.raises(BrokenPipeError, match="nobody listens"):
        memory.bring_in(note(tmp_path / "note.md", "I like tea."), progress=tell)
