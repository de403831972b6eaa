"""Files that are not ours, are newer, older or damaged: refused, read, brought up to date, never harmed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from lean_memory import Memory
from lean_memory.domain import Visibility
from lean_memory.errors import ClosedError, DamagedFileError, ForeignFileError, InvalidInputError, NewerSchemaError, StorageError
from lean_memory.settings import Settings
from lean_memory.store.connection import APPLICATION_ID
from lean_memory.store.migrate import Migration, builtin_migrations
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import listing, path_of
from support.statements import SteadyClock, current, day, objects, open_store, record, say, works_at


def foreign_database(path: Path) -> None:
    con = sqlite3.connect(path)
    con.execute("CREATE TABLE memories (id TEXT, content TEXT)")
    con.execute("INSERT INTO memories VALUES ('1', 'kept by the older program')")
    con.commit()
    con.close()


def foreign_wal_database(path: Path) -> None:
    """One whose last writer died: opening it through SQLite would already change it."""
    origin = path.with_suffix(".origin")
    con = sqlite3.connect(origin)
    con.execute("PRAGMA journal_mode = WAL")
    con.execute("CREATE TABLE memories (id TEXT, content TEXT)")
    con.commit()
    for end in ("", "-wal"):
        path.with_name(path.name + end).write_bytes(origin.with_name(origin.name + end).read_bytes())
    con.close()
    origin.unlink()


CONTENTS = {
    "the older program's database": foreign_database,
    "a database with a log": foreign_wal_database,
    "an empty file": lambda p: p.write_bytes(b""),
    "a short file": lambda p: p.write_bytes(b"SQLite format 3\0"),
    "a text": lambda p: p.write_text("dear diary\n" * 1000),
    "a folder": lambda p: p.mkdir(),
}


@pytest.mark.parametrize("content", CONTENTS)
def test_a_file_that_is_not_ours_is_refused_and_not_touched(root: Path, content: str) -> None:
    root.mkdir()
    path = path_of(root, "ana")
    CONTENTS[content](path)
    before = {p.name: (p.stat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in root.iterdir()}
    for use in (
        lambda: open_store(root),
        lambda: open_store(root, create=False),
        lambda: NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1))),
    ):
        with pytest.raises(ForeignFileError, match="was not made by Lean Memory, so it was not touched"):
            use()
    assert {p.name: (p.stat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in root.iterdir()} == before


def test_a_file_of_another_namespace_in_our_place_is_refused(root: Path) -> None:
    open_store(root, "bob").close()
    path_of(root, "bob").rename(path_of(root, "ana"))
    with pytest.raises(ForeignFileError, match="holds the namespace “bob”, not “ana”"):
        open_store(root)


def test_a_file_of_another_namespace_in_our_place_is_not_cleared(root: Path) -> None:
    store = open_store(root, "bob")
    say(store, works_at("Acme"), at=day(1))
    store.close()
    path_of(root, "bob").rename(path_of(root, "ana"))
    with pytest.raises(ForeignFileError, match="holds the namespace “bob”, not “ana”"):
        NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)))
    path_of(root, "ana").rename(path_of(root, "bob"))
    store = open_store(root, "bob", create=False)
    assert objects(current(store)) == ["Acme"]
    store.close()


def test_our_files_are_marked_and_small(root: Path) -> None:
    store = open_store(root)
    store.close()
    [file] = root.iterdir()
    assert file.stat().st_size <= 300_000
    con = apsw.Connection(str(file))
    assert con.pragma("application_id") == APPLICATION_ID
    con.close()
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    assert sum(f.stat().st_size for f in root.iterdir()) <= 400_000


def test_a_newer_file_can_be_read_and_is_not_written(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    path = path_of(root, "ana")
    con = apsw.Connection(str(path))
    con.execute("PRAGMA user_version = 99")
    con.close()
    before = path.read_bytes()
    store = open_store(root)
    assert not store.writable
    assert objects(current(store)) == ["Acme"]
    [problem] = store.status().problems
    assert "written by a newer Lean Memory" in problem
    with pytest.raises(NewerSchemaError, match="It can be read, and nothing was changed"):
        record(store, "x", day(2))
    with pytest.raises(NewerSchemaError, match="not cleared"):
        NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)))
    store.close()
    assert path.read_bytes() == before


NEWEST = builtin_migrations()[-1].version

SECOND = Migration(
    version=NEWEST + 1,
    script="ALTER TABLE episode ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; CREATE INDEX episode_mood ON episode (mood);",
)


def open_newer(root: Path) -> NamespaceStore:
    migrations = (*builtin_migrations(), SECOND)
    return NamespaceStore.open(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)), migrations=migrations)


def test_an_older_file_is_brought_up_to_date_after_a_backup(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    store = open_newer(root)
    assert store.status().schema_version == NEWEST + 1
    assert objects(current(store)) == ["Acme"]
    assert store.check() == []
    store.close()
    [backup] = root.glob(f"*.backup-v{NEWEST}-*")
    assert backup.stat().st_mode & 0o077 == 0
    backup.rename(path_of(root, "ana"))
    old = open_store(root)
    assert (old.status().schema_version, objects(current(old))) == (NEWEST, ["Acme"])
    old.close()


def test_a_new_file_is_made_with_every_migration_and_no_backup(root: Path) -> None:
    open_newer(root).close()
    assert [f.name for f in root.iterdir()] == ["ana.memory.db"]


def test_a_migration_that_fails_leaves_the_old_version(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    broken = Migration(version=NEWEST + 1, script="ALTER TABLE episode ADD COLUMN mood TEXT; INSERT INTO passage SELECT 9, 999, 0, 0, 0;")
    with pytest.raises(DamagedFileError, match="refer to rows that are not there"):
        NamespaceStore.open(
            root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)), migrations=(*builtin_migrations(), broken)
        )
    store = open_store(root)
    assert (store.status().schema_version, objects(current(store)), store.check()) == (NEWEST, ["Acme"], [])
    store.close()


@pytest.mark.parametrize("size", [None, 20_000])
def test_a_damaged_file_is_named_as_such(root: Path, size: int | None) -> None:
    store = open_store(root)
    for n in range(50):
        say(store, works_at(f"Company {n}"), at=day(n))
    store.close()
    path = path_of(root, "ana")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\x55" * (len(content) - 4096)
    path.write_bytes(content[:size])
    with pytest.raises(DamagedFileError, match=r"is damaged .* It was not changed"):
        store = open_store(root)
        try:
            store.facts(visibility=Visibility(now=day(1)), modalities=None)
        finally:
            store.close()
    assert path.read_bytes() == content[:size]


def test_a_log_left_by_a_file_that_was_removed_by_hand_is_not_played_into_a_new_one(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    log = path_of(root, "ana").with_name("ana.memory.db-wal")
    orphan = log.read_bytes()
    store.close()
    path_of(root, "ana").unlink()
    log.write_bytes(orphan)
    with pytest.raises(StorageError, match="left behind by a file that was removed just now"):
        open_store(root)
    os.utime(log, (1, 1))
    store = open_store(root)
    assert current(store) == []
    assert store.check() == []
    store.close()


def test_a_file_removed_by_hand_while_open_takes_no_acknowledged_write_with_it(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    for file in root.iterdir():
        file.unlink()
    say(store, works_at("Globex"), at=day(2))
    store.close()
    store = open_store(root, create=False)
    assert objects(current(store)) == ["Globex"]
    store.close()


def test_a_file_that_could_not_be_opened_anew_is_tried_again(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    for file in root.iterdir():
        file.unlink()
    path_of(root, "ana").write_text("not ours\n" * 100)
    for _ in range(2):
        with pytest.raises(ForeignFileError):
            record(store, "x", day(2))
    path_of(root, "ana").unlink()
    say(store, works_at("Globex"), at=day(2))
    assert objects(current(store)) == ["Globex"]
    assert store.check() == []
    store.close()
    with pytest.raises(ClosedError):
        current(store)


@pytest.mark.parametrize("lost", ["DROP TABLE setting", "DELETE FROM setting WHERE key = 'namespace'"])
def test_a_file_that_does_not_say_whose_it_is_is_damaged_and_listed_as_such(root: Path, lost: str) -> None:
    open_store(root).close()
    con = apsw.Connection(str(path_of(root, "ana")))
    con.execute(lost)
    con.close()
    for use in (
        lambda: open_store(root),
        lambda: NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1))),
    ):
        with pytest.raises(DamagedFileError, match="does not say which namespace it holds"):
            use()
    [other] = listing(root).others
    assert "does not say which namespace" in other.reason


def test_a_mistake_in_our_sql_is_not_taken_for_damage(root: Path) -> None:
    store = open_store(root)
    for mistake in ("SELECT * FROM nowhere", "SELECT nowhere FROM fact"):
        with pytest.raises(apsw.SQLError, match="no such"), store.write() as tx:
            tx.connection.execute(mistake)
    store.close()


DAMAGES = {
    "DROP TABLE index_text": "lacks its index_text",
    "DROP INDEX fact_slot": "lacks its fact_slot",
    "ALTER TABLE fact RENAME COLUMN polarity TO sign": "lacks its fact",
    "PRAGMA user_version = 0": "says that it is of version 0",
    "PRAGMA user_version = -1": "says that it is of version -1",
    "UPDATE setting SET value = 'soon' WHERE key = 'next_moment'": "does not say when something was last recorded",
    "DELETE FROM setting WHERE key = 'next_moment'": "does not say when something was last recorded",
    "DELETE FROM setting WHERE key = 'salt'": "has lost what it knows forgotten sentences by",
    "UPDATE setting SET value = 3 WHERE key = 'namespace'": "does not say which namespace it holds",
}


def change(path: Path, statement: str) -> None:
    con = apsw.Connection(str(path))
    for _ in con.execute(statement):
        pass
    con.close()


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_file_of_ours_that_is_not_as_we_make_them_is_damaged_for_every_use(root: Path, statement: str) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    change(path_of(root, "ana"), statement)
    before = path_of(root, "ana").read_bytes()
    for use in (
        lambda: open_store(root),
        lambda: NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1))),
    ):
        with pytest.raises(DamagedFileError, match=DAMAGES[statement] + ".* It was not changed"):
            use()
    assert path_of(root, "ana").read_bytes() == before


def test_a_newer_file_that_lacks_what_is_read_is_refused(root: Path) -> None:
    open_store(root).close()
    change(path_of(root, "ana"), "PRAGMA user_version = 99; DROP TABLE fact_version")
    with pytest.raises(NewerSchemaError, match="cannot be read by this one"):
        open_store(root)


def test_a_link_in_the_place_of_a_file_is_refused_and_followed_nowhere(root: Path, tmp_path: Path) -> None:
    open_store(root).close()
    elsewhere = tmp_path / "elsewhere"
    path_of(root, "ana").rename(elsewhere)
    for target in (elsewhere, tmp_path / "nowhere"):
        path_of(root, "ana").symlink_to(target)
        for use in (
            lambda: open_store(root),
            lambda: NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1))),
        ):
            with pytest.raises(ForeignFileError, match="is a link to another place"):
                use()
        [other] = listing(root).others
        assert (other.name, "is a link" in other.reason) == ("ana", True)
        path_of(root, "ana").unlink()


def test_what_a_stopped_process_was_making_is_named_and_goes_when_its_namespace_is_opened(root: Path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    open_store(root, "bob").close()
    left = [root / f"ana.memory.db.new-{gone.stdout.strip()}-0a1b2c3d{end}" for end in ("", "-journal")]
    alive = root / f"ana.memory.db.new-{os.getppid()}-0a1b2c3d"
    for file in (*left, alive):
        file.write_bytes(b"")
    [other] = listing(root).others
    assert other.path == left[0]
    assert "was being made when its program was stopped" in other.reason
    open_store(root, "bob").close()
    assert all(file.exists() for file in left)
    open_store(root, "ana").close()
    assert [file.exists() for file in (*left, alive)] == [False, False, True]


@pytest.mark.skipif(sys.platform != "linux", reason="only there may a file's name be any bytes")
def test_a_name_that_is_not_text_hides_no_namespace(root: Path) -> None:
    open_store(root, "ana").close()
    for name in (b"caf\xe9.memory.db", b"caf\xe9.db"):
        (root / os.fsdecode(name)).write_bytes(b"x" * 5000)
    listed = listing(root)
    assert [n.name for n in listed.namespaces] == ["ana"]
    assert [other.reason for other in listed.others] == ["It was not made by Lean Memory."] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="only there may a folder's name be any bytes")
def test_a_data_root_whose_name_is_not_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    with pytest.raises(InvalidInputError, match="is not UTF-8"):
        Memory(root=folder)
    assert not folder.exists()
