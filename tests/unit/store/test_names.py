"""Namespaces and their files: every name has its own, none leaves the data root."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from hypothesis import given, strategies as st

from lean_memory.errors import InvalidNamespaceError
from lean_memory.store.namespaces import BACKUPS, SUFFIX, copies_of, file_name, listing
from support.statements import day, open_store, say, works_at

NAMES = [
    "ana", "Ana", "ANA", "client/a", "client_a", "Client_A", "client\\a", "仕事", "私事", "CON", "con", "Con", "con.txt", "com1", "COM1.memory", "aux",
    "..", ".", "../x", "/etc/passwd", "a" * 300, "A" * 300, "a" * 299 + "b", "a b", " a", "a ", "a\n", "é", "e\u0301", "ß", "ss", "=41", "==", "-rf", "~",
    "C:\\x", "nul", "lpt9", "🙂", "\u202eabc",
]  # fmt: skip


def test_different_names_have_different_files_also_where_case_does_not_count() -> None:
    files = [file_name(name) for name in NAMES]
    assert len({f.lower() for f in files}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_is_safe_on_every_system(name: str) -> None:
    file = file_name(name)
    assert file.isascii()
    assert set(file) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_=.")
    assert len(file) < 150
    assert file.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9", ""}
    assert file.endswith(SUFFIX)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), st.text(min_size=1, alphabet="aA=-4._/ é"))
def test_no_two_names_share_a_file(one: str, other: str) -> None:
    assert (file_name(one).lower() == file_name(other).lower()) == (one == other)


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_a_name_that_cannot_be_one_is_refused_before_anything_is_written(root: Path, name: str) -> None:
    with pytest.raises(InvalidNamespaceError, match="Nothing was written"):
        open_store(root, name)
    assert not root.exists()


def test_a_listing_shows_the_exact_names_and_the_files_of_others(root: Path) -> None:
    for name in NAMES:
        open_store(root, name).close()
    foreign = root / "old.db"
    apsw.Connection(str(foreign)).execute("CREATE TABLE t (x)")
    (root / "notes.txt").write_text("not a database")
    found = listing(root)
    assert [n.name for n in found.namespaces] == sorted(NAMES)
    assert [(o.path.name, o.reason) for o in found.others] == [("old.db", "It was not made by Lean Memory.")]


def test_a_file_moved_under_another_name_is_listed_as_such_and_not_opened(root: Path) -> None:
    open_store(root, "ana").close()
    (root / file_name("ana")).rename(root / file_name("bob"))
    [other] = listing(root).others
    assert "holds the namespace “ana”" in other.reason


def test_the_listing_of_a_root_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert listing(tmp_path / "nowhere").namespaces == ()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_root_and_every_file_in_it_are_for_their_owner_alone(root: Path) -> None:
    root.mkdir(mode=0o755)
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    assert root.stat().st_mode & 0o777 == 0o700
    files = list(root.iterdir())
    assert {f.name.removeprefix("ana.memory.db") for f in files} == {"", "-wal", "-shm"}
    assert {f.stat().st_mode & 0o777 for f in files} == {0o600}
    store.close()
    [file] = root.iterdir()
    file.chmod(0o644)
    open_store(root).close()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_copy_that_gets_its_name_while_copies_are_looked_for_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft, made = tmp_path / BACKUPS / ".lean-memory-making-1-ab", tmp_path / BACKUPS / "20260101T000000Z-asked-ab"
    draft.mkdir(parents=True)
    (draft / "ana.memory.db").touch()
    scan = os.scandir

    def scan_late(path: str | os.PathLike[str]) -> object:
        if Path(path) == draft and draft.exists():
            draft.rename(made)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_late)
    assert copies_of(tmp_path / "ana.memory.db") == (str(made / "ana.memory.db"),)
