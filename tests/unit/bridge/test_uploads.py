"""What a page sends to be brought in: kept under its own names, as a folder of this computer would be read, and not for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.bringing_in.sources import opened_source
from lean_memory.errors import LeanMemoryError, StorageError
from lean_memory_bridge import uploads
from lean_memory_bridge.uploads import Uploads


def test_files_keep_their_names_so_that_no_two_become_one_and_hidden_ones_stay_hidden(tmp_path: Path) -> None:
    held = Uploads(tmp_path)
    upload = held.begin().id
    names = ("vault/📝 note.md", "vault/📌 note.md", "vault/Mum's birthday.md", "vault/C++ & Rust.md", "vault/.trash/gone.md")
    for name in names:
        held.put(upload, name, 0, b"I like tea.")
    with opened_source(held.path(upload)) as source:
        assert {entry.name for entry in source.entries} == {"📝 note.md", "📌 note.md", "Mum's birthday.md", "C++ & Rust.md"}


def test_a_name_too_long_for_a_file_keeps_its_end(tmp_path: Path) -> None:
    held = Uploads(tmp_path)
    upload = held.begin().id
    held.put(upload, "記" * 120 + ".md", 0, b"I like tea.")
    assert held.path(upload).name.endswith("記.md")


def test_a_file_that_cannot_be_where_another_is_gets_a_sentence(tmp_path: Path) -> None:
    held = Uploads(tmp_path)
    upload = held.begin().id
    held.put(upload, "note", 0, b"I like tea.")
    with pytest.raises(StorageError, match="'note/more' cannot be kept"):
        held.put(upload, "note/more", 0, b"I like rye bread.")


def test_what_nobody_asks_for_goes_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Uploads(tmp_path)
    upload = held.begin().id
    held.put(upload, "note.md", 0, b"I like tea.")
    held.drop_old()
    assert held.path(upload).is_file()
    monkeypatch.setattr(uploads, "KEPT_SECONDS", -60)
    held.drop_old()
    assert list((tmp_path / "uploads").iterdir()) == []
    with pytest.raises(LeanMemoryError, match="no such upload"):
        held.look(upload)
