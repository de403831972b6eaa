"""Folders and files that cannot be written: read where that is possible, and said clearly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lean_memory import Memory
from support.children import finished, start
from support.embedding import WordEmbedder
from support.powers import WITHOUT_POWER
from support.statements import day, open_store, say, works_at

READER = """
from pathlib import Path
from lean_memory.errors import StorageError
from support.statements import current, day, objects, open_store, record

try:
    store = open_store(Path(sys.argv[1]))
except StorageError as error:
    print("REFUSED", error)
else:
    print(store.writable, objects(current(store)))
    try:
        record(store, "x", day(2))
    except StorageError as error:
        print(error)
    store.close()
"""

LISTER = """
from lean_memory import Memory
from lean_memory.errors import StorageError
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    try:
        print(memory.namespaces())
    except StorageError as error:
        print("REFUSED", error)
    else:
        for status in memory.status():
            print(status.name, status.facts, *status.problems)
        print(memory.search("ana", "tea")[0].fact.fact_text)
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are made read-only in another way on Windows")


def run_without_power(root: Path, script: str = READER) -> list[str]:
    """Run a script as somebody that permissions hold for."""
    return finished(start(WITHOUT_POWER + script, root))


def say_tea(root: Path, *names: str) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        for name in names:
            memory.add(name, "I like tea.")


def test_a_namespace_in_a_read_only_folder_can_be_read(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    (root / "ana.memory.db").chmod(0o444)
    root.chmod(0o555)
    before = (root / "ana.memory.db").read_bytes()
    shown, refused = run_without_power(root)
    root.chmod(0o755)
    assert shown == "False ['Acme']"
    assert "can be read, but not written" in refused
    assert [f.name for f in root.iterdir()] == ["ana.memory.db"]
    assert (root / "ana.memory.db").read_bytes() == before


def test_a_namespace_cannot_be_made_in_a_read_only_folder(root: Path) -> None:
    root.mkdir(mode=0o555)
    (root / "other.txt").write_text("in the way of making it private")
    root.chmod(0o555)
    [said] = run_without_power(root)
    root.chmod(0o755)
    assert said.startswith("REFUSED")
    assert "Nothing was changed" in said


def test_a_read_only_folder_is_listed_and_searched(root: Path) -> None:
    say_tea(root, "ana")
    (root / "ana.memory.db").chmod(0o444)
    root.chmod(0o555)
    listed, status, found = run_without_power(root, LISTER)
    root.chmod(0o755)
    assert listed == "['ana']"
    assert status.startswith("ana 1 ")
    assert "can be read, but not written" in status
    assert found == "I like tea."


def test_a_file_that_may_not_be_read_hides_no_other_and_is_told_of(root: Path) -> None:
    say_tea(root, "ana", "Bo b")
    [locked] = [file for file in root.iterdir() if not file.name.startswith("ana")]
    locked.chmod(0)
    listed, problem, status, found = run_without_power(root, LISTER)
    assert listed == "['ana']"
    assert problem.startswith("Bo b 0 ")
    assert "cannot be opened" in problem
    assert status == "ana 1"
    assert found == "I like tea."


def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(root: Path) -> None:
    say_tea(root, "ana")
    root.chmod(0)
    [said] = run_without_power(root, LISTER)
    root.chmod(0o700)
    assert said.startswith("REFUSED")
