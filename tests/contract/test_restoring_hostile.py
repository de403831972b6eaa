"""Copies that somebody has changed: what this program would not have made or written is refused, and nothing is changed by it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw
import pytest

from lean_memory import Memory
from lean_memory.errors import DamagedFileError, InvalidInputError
from support.embedding import WordEmbedder


@pytest.fixture
def copy(memory: Memory, tmp_path: Path) -> Path:
    """A copy of a namespace that holds something, with its vectors."""
    memory.add("ana", "I live in Rome. My cat is called Zebulon.")
    backup = memory.backup()
    path = tmp_path / "copy.db"
    path.write_bytes((backup.path / backup.namespaces[0].file).read_bytes())
    return path


def change(path: Path, *statements: str) -> None:
    with contextlib.closing(apsw.Connection(str(path))) as con:
        for statement in statements:
            con.execute(statement)
        con.execute("PRAGMA journal_mode = DELETE")


MADE = (
    "CREATE TABLE taken (x)",
    "CREATE TRIGGER taken AFTER INSERT ON episode BEGIN DELETE FROM fact; END",
    "CREATE VIEW taken AS SELECT text FROM episode",
    "CREATE TABLE code_77 (id INTEGER PRIMARY KEY, rows BLOB NOT NULL)",
    "CREATE INDEX taken ON episode (text)",
    "ALTER TABLE episode ADD COLUMN taken TEXT",
    "DROP TABLE code_1",
    "INSERT INTO embedding_model VALUES (-1, 'x', 'y', 1, 1)",
)


def test_a_copy_that_is_made_of_more_or_less_than_ours_is_refused(memory: Memory, copy: Path) -> None:
    sound = copy.read_bytes()
    for made in MADE:
        copy.write_bytes(sound)
        change(copy, made)
        assert memory.verify_backup(copy).problem, made
        with pytest.raises(DamagedFileError):
            memory.restore(copy)
    assert [fact.object for fact in memory.facts("ana")] == ["Zebulon", "Rome"]


def test_a_copy_that_somebody_had_analysed_comes_back(memory: Memory, copy: Path) -> None:
    change(copy, "ANALYZE")
    assert memory.verify_backup(copy).problem == ""
    memory.restore(copy)
    assert memory.check("ana") == []


def test_nothing_in_a_file_acts_by_itself(memory: Memory, root: Path) -> None:
    memory.add("ana", "I live in Rome.")
    memory.close()
    (path,) = root.glob("*.memory.db")
    change(path, "CREATE TRIGGER taken AFTER INSERT ON episode BEGIN DELETE FROM fact; END")
    with Memory(root=root, embedder=WordEmbedder()) as again:
        again.add("ana", "I like tea.")
        assert {fact.object for fact in again.facts("ana")} == {"Rome", "tea"}
        assert any("taken" in problem for problem in again.check("ana"))


WRITTEN = (
    "UPDATE fact SET polarity = '?'",
    "UPDATE fact SET fact_text = x'fffe'",
    "UPDATE fact SET fact_text = CAST(x'fffe' AS TEXT) WHERE id = 1",
    "UPDATE fact SET valid_at = 9007199254740992000",
    "UPDATE fact SET reasons = '{'",
    "UPDATE fact SET confidence = 9e999",
    "UPDATE fact SET span_end = 0.5 WHERE id = 1",
    "UPDATE fact SET span_start = 'x' WHERE id = 2",
    "UPDATE fact SET object = x'00' WHERE id = 1",
    "UPDATE episode SET state = 'lost'",
    "UPDATE episode SET tz = '../../etc/zone'",
    "UPDATE setting SET value = 9007199254740992000 WHERE key = 'next_moment'",
)


def test_a_copy_with_values_that_a_bundle_could_not_bring_in_is_refused(memory: Memory, copy: Path) -> None:
    sound = copy.read_bytes()
    for written in WRITTEN:
        copy.write_bytes(sound)
        change(copy, written)
        assert "does not write" in memory.verify_backup(copy).problem, written
        for restore in (memory.would_restore, memory.restore):
            with pytest.raises(DamagedFileError, match="does not write"):
                restore(copy)
    assert [fact.object for fact in memory.facts("ana")] == ["Zebulon", "Rome"]


def test_a_copy_of_the_far_future_is_refused(memory: Memory, copy: Path) -> None:
    change(copy, "UPDATE setting SET value = value + 367 * 24 * 60 * 60 * 1000 WHERE key = 'next_moment'")
    with pytest.raises(InvalidInputError, match="still to come"):
        memory.restore(copy)
    change(copy, "UPDATE setting SET value = value - 2 * 24 * 60 * 60 * 1000 WHERE key = 'next_moment'")
    memory.restore(copy)


def test_a_name_that_looks_like_bytes_and_a_zone_of_another_computer_come_back(memory: Memory, tmp_path: Path) -> None:
    memory.add("hex:notes", "I live in Rome.")
    backup = memory.backup()
    path = tmp_path / "copy.db"
    path.write_bytes((backup.path / backup.namespaces[0].file).read_bytes())
    change(path, "UPDATE episode SET tz = 'Moon/Tycho'")
    memory.restore(path)
    assert [fact.object for fact in memory.facts("hex:notes")] == ["Rome"]
