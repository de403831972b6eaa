"""A process killed at any step of a migration leaves the old or the new version, and others wait for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.settings import Settings
from lean_memory.store.migrate import Migration, builtin_migrations
from lean_memory.store.namespace_store import NamespaceStore
from support.children import killed, line, start, tell
from support.statements import SteadyClock, current, day, objects, open_store, say, works_at

STEPS = (
    "ALTER TABLE episode ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",
    "CREATE TABLE mood_word (word TEXT PRIMARY KEY)",
    "INSERT INTO mood_word VALUES ('calm')",
    "CREATE INDEX episode_mood ON episode (mood)",
)
NEWEST = builtin_migrations()[-1].version
SECOND = Migration(version=NEWEST + 1, script="; ".join(STEPS))

MIGRATOR = """
import sys, threading
from pathlib import Path
import lean_memory.store.migrate as migrate
from lean_memory.settings import Settings
from lean_memory.store.migrate import Migration, builtin_migrations
from lean_memory.store.namespace_store import NamespaceStore
from support.statements import SteadyClock, day

root, stage, script = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
steps = script.split("; ")

def stop(*args):
    print("REACHED", flush=True)
    threading.Event().wait()

usual = migrate.run_script

def run_script(con, whole):
    if whole != script:
        usual(con, whole)
        return
    for number, step in enumerate(steps):
        if stage == f"step {number}":
            stop()
        con.execute(step)
    if stage == "before the version":
        stop()

migrate.run_script = run_script
if stage == "inside the backup":
    migrate.Path.replace = stop
if stage == "before the commit":
    taken = migrate._take
    migrate._take = lambda con, step: (taken(con, step), stop())
print("READY", flush=True)
sys.stdin.readline()
second = Migration(version=builtin_migrations()[-1].version + 1, script=script)
store = NamespaceStore.open(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)), migrations=(*builtin_migrations(), second))
print("DONE", flush=True)
if stage == "after":
    stop()
store.close()
"""

OLD = ["inside the backup", *(f"step {n}" for n in range(len(STEPS))), "before the version", "before the commit"]


def open_new(root: Path) -> NamespaceStore:
    migrations = (*builtin_migrations(), SECOND)
    return NamespaceStore.open(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)), migrations=migrations)


@pytest.mark.parametrize("stage", [*OLD, "after"])
def test_a_kill_leaves_the_old_version_or_the_new_one(root: Path, stage: str) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    child = start(MIGRATOR, root, stage, SECOND.script)
    assert line(child) == "READY"
    tell(child)
    assert line(child) == ("DONE" if stage == "after" else "REACHED")
    if stage == "after":
        assert line(child) == "REACHED"
    killed(child)
    if stage != "after":
        store = open_store(root)
        assert (store.writable, store.status().schema_version, objects(current(store))) == (True, NEWEST, ["Acme"])
        store.close()
    store = open_new(root)
    assert (store.status().schema_version, objects(current(store)), store.check()) == (NEWEST + 1, ["Acme"], [])
    with store.read() as snapshot:
        assert snapshot.connection.execute("SELECT mood FROM episode").get == "calm"
    store.close()
    assert len([f for f in root.glob(f"*.backup-v{NEWEST}-*") if not f.name.endswith(".partial")]) >= 1


def test_of_several_processes_one_migrates(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    children = [start(MIGRATOR, root, "none", SECOND.script) for _ in range(4)]
    for child in children:
        assert line(child) == "READY"
    for child in children:
        tell(child)
    ended = [child.communicate(timeout=120) for child in children]
    assert ended == [("DONE\n", "")] * 4
    assert len(list(root.glob("*.backup-*"))) == 1
