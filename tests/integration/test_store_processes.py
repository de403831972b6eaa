"""Several processes on one file: it is made once, entities are one, a killed writer leaves nothing half done, readers wait for nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.store.namespaces import FileKind, kind_of, listing
from lean_memory.store.purge import any_in_file
from support.children import finished, killed, line, start, tell
from support.statements import current, day, objects, open_store, record, say, works_at

PROCESSES = 6

OPENER = """
import sys
from pathlib import Path
from support.statements import day, open_store, say, works_at

root, number = Path(sys.argv[1]), int(sys.argv[2])
print("READY", flush=True)
sys.stdin.readline()
store = open_store(root, "new one")
for turn in range(5):
    [fact] = say(store, works_at(f"Company {number}-{turn}", subject="Quentin"), at=day(10 * turn + number)).fact_ids
    print(fact, flush=True)
store.close()
"""


def test_six_processes_make_one_file_one_entity_and_one_whole_chain(root: Path) -> None:
    children = [start(OPENER, root, number) for number in range(PROCESSES)]
    for child in children:
        assert line(child) == "READY"
    for child in children:
        tell(child)
    acknowledged = [fact for child in children for fact in finished(child)]
    assert [f.name for f in root.iterdir()] == ["new=20one.memory.db"]
    store = open_store(root, "new one", create=False)
    [employer] = current(store, subject="Quentin", predicate="works_at")
    assert employer.object == "Company 5-4"
    chain = store.history(employer.id)
    assert sorted(e.fact.id for e in chain) == sorted(acknowledged)
    assert [e.fact.valid_at for e in chain] == sorted(e.fact.valid_at for e in chain)
    assert store.check() == []
    with store.read() as snapshot:
        assert snapshot.connection.execute("SELECT count(*) FROM entity WHERE name_key = 'quentin'").get == 1
    store.close()


KILLED = """
import sys, threading
from pathlib import Path
from support.statements import day, learn, open_store, record, say, works_at

store = open_store(Path(sys.argv[1]))
say(store, works_at("Globex"), at=day(2))
episode = record(store, "I work at Initech.", day(3))
print(episode.uid, flush=True)
with store.write() as tx:
    learn(tx, episode, [works_at("Initech")])
    print("INSIDE", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("turn", range(3))
def test_a_writer_killed_inside_the_second_transaction_leaves_the_first_alone(root: Path, turn: int) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    child = start(KILLED, root)
    uid = line(child)
    assert line(child) == "INSIDE"
    # Before the kill, nobody waits for the writer to read.
    assert objects(current(store)) == ["Globex"]
    killed(child)
    assert [e.uid for e in store.unfinished()] == [uid]
    assert objects(current(store)) == ["Globex"]
    assert store.check() == []
    record(store, f"afterwards {turn}", day(4))
    store.close()


FORGETTER = """
import sys, threading
from pathlib import Path
import lean_memory.store.namespace_store as module
from support.statements import open_store

def stop(*args, **kwargs):
    print("COMMITTED", flush=True)
    threading.Event().wait()

module.purge = stop
open_store(Path(sys.argv[1])).forget(fact_id=sys.argv[2])
"""


def test_what_a_killed_process_had_forgotten_is_purged_at_the_next_opening(root: Path) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    store.close()
    child = start(FORGETTER, root, fact)
    assert line(child) == "COMMITTED"
    killed(child)
    store = open_store(root)
    assert current(store) == []
    assert not [f.name for f in root.iterdir() if b"zyxwv" in f.read_bytes().lower()]
    store.close()


PROBE = """
import sys
from pathlib import Path
from lean_memory.errors import BusyError
from support.statements import day, open_store, record

store = open_store(Path(sys.argv[1]), busy_timeout_ms=50)
try:
    record(store, "x", day(1))
except BusyError:
    print("BUSY")
store.close()
"""


def test_looking_at_a_file_drops_no_lock_that_this_process_holds_on_it(root: Path) -> None:
    store = open_store(root)
    with store.write():
        assert kind_of(store.path) is FileKind.OURS
        assert [n.name for n in listing(root).namespaces] == ["ana"]
        assert not any_in_file(store.path, [b"nothing like it"])
        assert finished(start(PROBE, root)) == ["BUSY"]
    assert finished(start(PROBE, root)) == []
    store.close()
