"""Clearing a namespace that others use: refused under a live lease, whole, and no acknowledged write is lost after it."""

from __future__ import annotations

import contextlib
from importlib import import_module
from pathlib import Path

import apsw
import pytest

from lean_memory.domain import ClearResult, Instant
from lean_memory.errors import BusyError, LeaseHeldError, NotFoundError
from lean_memory.settings import Settings
from lean_memory.store.codes import CodeTable
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import listing, path_of
from support.children import finished, killed, line, start, tell
from support.statements import MODEL, SteadyClock, current, day, likes, objects, open_store, say, vector, works_at

NOW = day(1000)


def clear(root: Path, name: str = "ana", now: Instant = NOW) -> ClearResult:
    return NamespaceStore.clear(root, name, settings=Settings(root=root), clock=SteadyClock(now))


def lease(store: NamespaceStore, heartbeat: Instant, state: str = "running") -> None:
    with store.write() as tx:
        tx.connection.execute(
            "INSERT INTO run (uid, holder, started_at, heartbeat_at, state) VALUES (?, 'the night', 1, ?, ?)", (state, heartbeat, state)
        )


def test_a_cleared_namespace_is_gone_with_its_file(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    assert clear(root)
    assert list(root.iterdir()) == []
    assert not clear(root)
    with pytest.raises(NotFoundError):
        open_store(root, create=False)


def test_what_may_hold_copies_of_a_cleared_namespace_is_named(root: Path) -> None:
    open_store(root).close()
    copies = [root / "ana.memory.db.backup-v1-20260101T000000-ab", root / "ana.memory.db-wal.orphan-cdef"]
    for copy in (*copies, root / "anabel.memory.db.backup-v1-20260101T000000-ab"):
        copy.write_bytes(b"")
    assert clear(root) == ClearResult(existed=True, copies=tuple(str(copy) for copy in copies))
    assert clear(root) == ClearResult(existed=False, copies=tuple(str(copy) for copy in copies))


def test_a_live_lease_keeps_a_namespace_from_being_cleared(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    lease(store, Instant(NOW - 4 * 60_000))
    with pytest.raises(LeaseHeldError, match=r"the night.*was not cleared"):
        clear(root)
    assert objects(current(store)) == ["Acme"]
    store.close()
    with pytest.raises(LeaseHeldError):
        clear(root)
    assert path_of(root, "ana").exists()


@pytest.mark.parametrize(("age", "state"), [(6 * 60_000, "running"), (0, "done")])
def test_a_stale_or_ended_run_does_not(root: Path, age: int, state: str) -> None:
    store = open_store(root)
    lease(store, Instant(NOW - age), state)
    store.close()
    assert clear(root)


def test_whoever_has_the_file_open_goes_on_with_an_empty_namespace(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Zyxwv"), at=day(1))
    assert clear(root)
    assert current(store) == []
    assert store.status().facts == 0
    assert not [f.name for f in root.iterdir() if b"zyxwv" in f.read_bytes().lower()]
    assert listing(root).namespaces == ()
    with pytest.raises(NotFoundError):
        open_store(root, create=False)
    say(store, works_at("Globex"), at=day(2))
    assert objects(current(store)) == ["Globex"]
    assert [n.name for n in listing(root).namespaces] == ["ana"]
    assert store.check() == []
    store.close()
    store = open_store(root, create=False)
    assert objects(current(store)) == ["Globex"]
    store.close()


def test_a_cleared_file_that_was_still_open_goes_when_it_is_closed(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    clear(root)
    assert path_of(root, "ana").exists()
    store.close()
    assert list(root.iterdir()) == []


CLEARER = """
import sys, threading
from pathlib import Path
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore
from support.statements import SteadyClock, day

def stop(self):
    print("REACHED", flush=True)
    threading.Event().wait()

Path.unlink = stop
root = Path(sys.argv[1])
NamespaceStore.clear(root, "ana", settings=Settings(root=root), clock=SteadyClock(day(1)))
"""


def test_a_clear_that_was_killed_just_before_the_removal_has_cleared(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    child = start(CLEARER, root)
    assert line(child) == "REACHED"
    killed(child)
    assert listing(root).namespaces == ()
    with pytest.raises(NotFoundError):
        open_store(root, create=False)
    store = open_store(root)
    assert current(store) == []
    say(store, works_at("Globex"), at=day(2))
    assert store.check() == []
    store.close()
    assert [n.name for n in listing(root).namespaces] == ["ana"]


def test_codes_in_memory_follow_a_clear(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    codes = CodeTable()
    with store.read() as snapshot:
        assert codes.refresh(snapshot.connection, MODEL).statistics[0] == 1
    clear(root)
    with store.read() as snapshot:
        assert codes.refresh(snapshot.connection, MODEL).statistics[0] == 0
    say(store, likes("tea"), at=day(1))
    with store.read() as snapshot:
        view = codes.refresh(snapshot.connection, MODEL)
        assert view.statistics[0] == 1
    assert vector("I like tea.").shape == (MODEL.dims,)
    store.close()


ADDER = """
import sys, threading
from pathlib import Path
from support.statements import day, learn, likes, open_store, record

root, number = Path(sys.argv[1]), sys.argv[2]
cleared_for_good, stop = threading.Event(), threading.Event()

def listen():
    sys.stdin.readline()
    cleared_for_good.set()
    sys.stdin.readline()
    stop.set()

threading.Thread(target=listen, daemon=True).start()
store = open_store(root)
turn, marked = 0, False
while not stop.is_set():
    if cleared_for_good.is_set() and not marked:
        marked = True
        print("FROM HERE", flush=True)
    text = f"I like thing {number}-{turn}."
    episode = record(store, text, day(1))
    with store.write() as tx:
        cleared = tx.is_done(episode.uid)
        if not cleared:
            learn(tx, episode, [likes(f"thing {number}-{turn}", text)])
    if not cleared:
        print(text, flush=True)
    turn += 1
    if turn % 7 == 0:
        store.close()
        store = open_store(root)
store.close()
"""

ADDERS = 3
ROUNDS = 4
AFTERWARDS = 8


def test_nothing_acknowledged_after_a_clear_is_lost_while_three_processes_add(root: Path) -> None:
    children = [start(ADDER, root, number) for number in range(ADDERS)]
    for _ in range(ROUNDS):
        for child in children:
            assert line(child).startswith("I like")
        # With somebody reading all the while, the log may have to keep its copies for now; the rest is done all the same.
        with contextlib.suppress(BusyError):
            clear(root)
    for child in children:
        tell(child)
    for child in children:
        while line(child) != "FROM HERE":
            pass
    acknowledged = [[line(child) for _ in range(AFTERWARDS)] for child in children]
    for child in children:
        tell(child)
    acknowledged += [finished(child) for child in children]
    store = open_store(root, create=False)
    assert {text for told in acknowledged for text in told} <= {fact.fact_text for fact in current(store)}
    assert store.check() == []
    store.close()
    assert {f.name for f in root.iterdir()} == {"ana.memory.db"}


@pytest.mark.parametrize("part", ["clear", "opened_file"])
def test_a_file_that_goes_between_the_look_at_it_and_its_opening_is_looked_for_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    open_store(root).close()
    module = import_module(f"lean_memory.store.{part}")
    works, gone = module.open_connection, list[Path]()

    def gone_before(path: Path, *, busy_timeout_ms: int, **how: bool) -> apsw.Connection:
        if not gone:
            gone.append(path)
            path.unlink()
        return works(path, busy_timeout_ms=busy_timeout_ms, **how)

    monkeypatch.setattr(module, "open_connection", gone_before)
    if part == "clear":
        assert not clear(root).existed
    else:
        store = open_store(root)
        say(store, likes("tea"), at=day(1))
        assert objects(current(store)) == ["tea"]
        store.close()
    assert gone == [path_of(root, "ana")]
