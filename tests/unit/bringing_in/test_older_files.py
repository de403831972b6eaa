"""The older lean-memory's files, of all three schema versions: the same facts, the same answers about the past, not a byte of theirs changed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.bringing_in import Kind, detect
from lean_memory.errors import DamagedFileError, InvalidInputError
from lean_memory.store.older_file import read_older
from support.moments import day
from support.older_files import SAID, older_file

VERSIONS = (1, 2, 3)

AS_OF = """
    SELECT fact_text FROM fact WHERE namespace = 'ana' AND valid_at <= ?1 AND (valid_to IS NULL OR valid_to > ?1) ORDER BY fact_text
"""
CURRENT = "SELECT fact_text FROM fact WHERE namespace = 'ana' AND is_latest = 1 AND tier = 'hot' ORDER BY fact_text"


def asked(path: Path, query: str, *arguments: int) -> list[str]:
    """What the older program would answer."""
    con = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        return [row[0] for row in con.execute(query, arguments)]
    finally:
        con.close()


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}
    yield
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("version", VERSIONS)
def test_current_facts_and_answers_about_the_past_are_what_they_were(memory: Memory, tmp_path: Path, version: int) -> None:
    (tmp_path / "there").mkdir()
    path = older_file(tmp_path / "there" / "ana.db", version)
    with untouched(tmp_path / "there"):
        assert detect(path) is Kind.OLDER
        report = memory.bring_in(path)
    assert (report.namespaces, report.texts, report.added) == (("ana",), len(SAID), len(SAID))
    assert sorted(f.fact_text for f in memory.facts("ana")) == asked(path, CURRENT)
    for number in range(1, 22):
        moment = round(day(number).timestamp() * 1000)
        assert sorted(f.fact_text for f in memory.facts("ana", as_of=moment)) == asked(path, AS_OF, moment), number
    assert memory.check("ana") == []


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_told_afterwards_goes_on_from_it_and_changes_no_answer_about_the_past(memory: Memory, tmp_path: Path, version: int) -> None:
    path = older_file(tmp_path / "ana.db", version)
    memory.bring_in(path)
    memory.add("ana", "I now work at Initech.", t_ref=day(30))
    memory.add("ana", "I like tea.", t_ref=day(31))
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Initech"]
    chain = memory.history("ana", memory.facts("ana", predicate="works_at")[0].id)
    assert [entry.fact.object for entry in chain] == ["Acme", "Globex", "Initech"]
    for number in range(1, 22):
        moment = round(day(number).timestamp() * 1000)
        # What was said twice there is one fact once it is said again here.
        assert {f.fact_text.rstrip(".!") for f in memory.facts("ana", as_of=moment)} == {t.rstrip(".!") for t in asked(path, AS_OF, moment)}
    assert memory.check("ana") == []


def test_a_second_time_nothing_comes_and_nothing_changes(memory: Memory, tmp_path: Path) -> None:
    path = older_file(tmp_path / "ana.db", 3)
    memory.bring_in(path)
    before = memory.facts("ana", include_history=True, include_cold=True)
    again = memory.bring_in(path)
    assert (again.added, again.known) == (0, len(SAID))
    assert memory.facts("ana", include_history=True, include_cold=True) == before


def test_a_preview_says_what_would_come_and_makes_no_namespace(memory: Memory, tmp_path: Path) -> None:
    report = memory.preview_bring_in(older_file(tmp_path / "ana.db", 2))
    assert (report.state, report.added, report.facts) == ("preview", len(SAID), 8)
    assert len(report.samples) == 5
    assert memory.namespaces() == []


def test_files_in_the_data_root_are_found_and_stay_where_they_are(memory: Memory) -> None:
    memory.add("ana", "I like rowing.", t_ref=day(1))
    path = older_file(memory.root / "ana.db", 1)
    assert memory.older_files() == [path]
    before = path.read_bytes()
    memory.bring_in(path, namespace="earlier")
    assert path.read_bytes() == before
    assert memory.namespaces() == ["ana", "earlier"]


def test_where_something_is_known_already_both_take_their_place_by_their_dates(memory: Memory, tmp_path: Path) -> None:
    memory.add("ana", "I work at Hooli.", t_ref=day(40))
    memory.add("ana", "I like rowing.", t_ref=day(4))
    path = older_file(tmp_path / "ana.db", 3)
    previewed = memory.preview_bring_in(path)
    for _ in range(2):
        report = memory.bring_in(path)
        assert [(p.subject, p.predicate) for p in report.conflicts] == [(p.subject, p.predicate) for p in previewed.conflicts]
        assert {(part.subject, part.predicate) for part in report.conflicts} == {("user", "works_at"), ("user", "likes")}
        assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Hooli"]
        assert {f.object for f in memory.facts("ana", predicate="works_at", as_of=day(20))} == {"Globex"}
        assert {f.object for f in memory.facts("ana", predicate="works_at", as_of=day(5))} == {"Acme"}
        assert {f.object for f in memory.facts("ana", predicate="likes")} == {"tea", "jazz", "rowing"}
        assert {f.object for f in memory.facts("ana", predicate="lives_in")} == {"Porto"}
        assert [one.count for one in report.left_out] == [1]
        assert memory.check("ana") == []
    [worked] = memory.facts("ana", predicate="works_at")
    assert [entry.fact.object for entry in memory.history("ana", worked.id)] == ["Acme", "Globex", "Hooli"]
    assert len(memory.facts("ana", include_history=True, include_cold=True)) == len(
        {f.id for f in memory.facts("ana", include_history=True)}
    )


def test_what_was_forgotten_here_finds_no_place_beside_what_is_known(memory: Memory, tmp_path: Path) -> None:
    path = older_file(tmp_path / "ana.db", 3)
    memory.add("ana", "I like tea.", t_ref=day(2))
    memory.add("ana", "I like rowing.", t_ref=day(4))
    memory.forget("ana", fact_id=next(f.id for f in memory.facts("ana") if f.object == "tea"))
    memory.bring_in(path)
    assert {f.object for f in memory.facts("ana", predicate="likes", include_history=True)} == {"jazz", "rowing"}


def test_what_stands_only_in_the_log_beside_a_file_comes_too(memory: Memory, tmp_path: Path) -> None:
    own, there = tmp_path / "own", tmp_path / "there"
    own.mkdir()
    there.mkdir()
    con = sqlite3.connect(older_file(own / "ana.db", 3))
    con.execute("PRAGMA journal_mode = WAL")
    con.execute("UPDATE fact SET fact_text = 'I like green tea.' WHERE id = 'ana-f2'")
    con.commit()
    for name in ("ana.db", "ana.db-wal"):
        shutil.copy(own / name, there / name)
    con.close()
    with untouched(there):
        memory.bring_in(there / "ana.db")
    assert "I like green tea." in [f.fact_text for f in memory.facts("ana")]


def test_an_older_file_is_known_as_one_also_while_all_of_it_stands_in_the_log_beside_it(memory: Memory, tmp_path: Path) -> None:
    path = memory.root / "ana.db"
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(older_file(tmp_path / "made.db", 3))) as made, closing(sqlite3.connect(path)) as con:
        con.execute("PRAGMA journal_mode = WAL")
        con.execute("PRAGMA wal_autocheckpoint = 0")
        con.executescript("\n".join(made.iterdump()))
        with untouched(memory.root):
            assert memory.older_files() == [path]


def test_a_secret_in_an_older_file_is_taken_out(memory: Memory, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    report = memory.bring_in(older_file(tmp_path / "ana.db", 3, secret=f"My token is {key}."))
    assert report.redacted
    assert not any(key.encode() in file.read_bytes() for file in memory.root.rglob("*") if file.is_file())


def test_what_was_forgotten_here_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    path = older_file(tmp_path / "ana.db", 3)
    memory.bring_in(path)
    memory.forget_all("ana", sentence="My sister lives in Porto.")
    memory.bring_in(path)
    assert "My sister lives in Porto." not in [f.fact_text for f in memory.facts("ana", include_history=True, include_cold=True)]
    assert memory.check("ana") == []


def test_several_namespaces_of_a_folder_each_go_into_their_own(memory: Memory, tmp_path: Path) -> None:
    older_file(tmp_path / "ana.db", 1)
    older_file(tmp_path / "bob.db", 3, namespace="bob")
    report = memory.bring_in(tmp_path)
    assert report.namespaces == ("ana", "bob")
    assert memory.namespaces() == ["ana", "bob"]


def test_other_databases_newer_ones_and_damaged_ones_are_refused_untouched(memory: Memory, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    con = sqlite3.connect(other)
    con.execute("CREATE TABLE t (x)")
    con.commit()
    con.close()
    with pytest.raises(InvalidInputError, match="not one of the older lean-memory"):
        memory.bring_in(other)
    with pytest.raises(InvalidInputError, match="schema version 4"):
        memory.bring_in(older_file(tmp_path / "new.db", 4))
    broken = older_file(tmp_path / "broken.db", 3)
    data = bytearray(broken.read_bytes())
    data[4096 * 2 : 4096 * 8] = b"\xa5" * (4096 * 6)
    broken.write_bytes(data)
    with untouched(tmp_path), pytest.raises(DamagedFileError, match="damaged"):
        memory.bring_in(broken)
    assert memory.namespaces() == []


ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, 'ana' AS namespace, 'I like tea.' AS raw, 1 AS t_ref FROM c"


def hostile(path: Path, *statements: str) -> Path:
    """An older file in which something was changed."""
    with closing(sqlite3.connect(older_file(path, 2))) as con:
        for statement in ("PRAGMA foreign_keys = OFF", *statements):
            con.execute(statement)
        con.commit()
    return path


@pytest.mark.parametrize(
    "made", [f"CREATE VIEW episode AS {ENDLESS}", "CREATE TABLE episode (id, namespace, t_ref, raw AS (zeroblob(100000)))"]
)
def test_what_gives_more_than_is_stored_is_no_table_of_an_older_file(memory: Memory, tmp_path: Path, made: str) -> None:
    path = hostile(tmp_path / "old.db", "DROP TABLE episode", made)
    with pytest.raises(InvalidInputError):
        memory.bring_in(path)
    assert memory.namespaces() == []


def test_a_file_whose_rows_all_have_one_long_value_that_is_stored_once_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = hostile(
        tmp_path / "old.db",
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100) "
        "INSERT INTO episode SELECT 'x' || x, 'ana', 'I like tea.', 'user', 1600000000000, 1 FROM c",
        f"ALTER TABLE episode ADD COLUMN more TEXT DEFAULT '{'x' * 100_000}'",
    )
    with pytest.raises(DamagedFileError):
        memory.bring_in(path)


def test_reading_an_older_file_hears_that_it_was_cancelled(tmp_path: Path) -> None:
    many = (
        "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5000) "
        "INSERT INTO episode SELECT 'x' || x, 'ana', 'I like tea.', 'user', 1600000000000, 1 FROM c"
    )
    path = hostile(tmp_path / "old.db", many)
    assert read_older(path, tmp_path, lambda: True) is None
    assert read_older(path, tmp_path, lambda: False) is not None
