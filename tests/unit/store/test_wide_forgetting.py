"""Forgetting much, in a large file, while others write."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest

from lean_memory.store import purge as purging
from lean_memory.store.forgetting import Target
from lean_memory.store.traces import Traces
from support.statements import current, day, likes, objects, open_store, record, say, within, works_at


@pytest.mark.parametrize("count", [1, 7, 9, 300])
@pytest.mark.parametrize("shortest", [1, 4])
def test_traces_are_found_wherever_they_stand_and_only_where_they_do(count: int, shortest: int) -> None:
    chance = random.Random(count)
    for length in (0, 3, 40, 4_000):
        text = bytes(chance.choices(b"abcd", k=length))
        traces = [bytes(chance.choices(b"abcde", k=chance.randint(shortest + 5, 12))) for _ in range(count)]
        window = bytes(b + 128 for b in text)
        assert Traces(traces).stand_in(text) == any(trace in text for trace in traces)
        assert not Traces(traces).stand_in(window)
        for trace in traces[:20]:
            at = chance.randint(0, length)
            assert Traces(traces).stand_in(window[:at] + trace + window[at:])
    assert Traces([b"x" * shortest, *traces]).stand_in(b"yy" + b"x" * shortest)


def test_what_is_said_while_what_to_forget_is_looked_for_is_forgotten_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    find, said = Target.find, list[int]()

    def said_meanwhile(target: Target, con: apsw.Connection) -> object:
        found = find(target, con)
        if len(said) < 2:
            said.append(len(said))
            other = open_store(root)
            say(other, works_at("Zyxwv"), at=day(2 + len(said)), text=f"It is {len(said)}. I work at Zyxwv.")
            other.close()
        return found

    monkeypatch.setattr(Target, "find", said_meanwhile)
    store.forget(fact_id=fact)
    assert len(said) == 2
    assert current(store) == []
    texts = [e.text for e in store.recent_episodes(record(store, "x", day(9)).uid, client=None, limit=9)]
    assert [text for text in texts if "Zyxwv" in text] == []
    assert store.check() == []
    store.close()


def test_a_file_is_looked_through_while_others_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    look, written = purging.any_in_file, list[bool]()

    def written_meanwhile(path: Path, traces: Sequence[bytes]) -> bool:
        writer = threading.Thread(target=say, args=(store, likes("tea")), kwargs={"at": day(2)}, daemon=True)
        writer.start()
        writer.join(timeout=10)
        written.append(not writer.is_alive())
        return look(path, traces)

    monkeypatch.setattr(purging, "any_in_file", written_meanwhile)
    store.forget(fact_id=fact)
    assert written == [True]
    assert objects(current(store)) == ["tea"]
    assert store.status().problems == ()
    store.close()


def test_what_forgetting_asks_the_file_waits_for_whoever_is_writing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    empty, writers, failed, inside = purging.__dict__["_empty_log"], list[threading.Thread](), list[apsw.Error](), threading.Event()
    erased = threading.Event()

    def hold(*_: object) -> int:
        inside.set()
        erased.wait(0.6)
        return 1

    def write() -> None:
        try:
            with store.write() as tx:
                tx.connection.create_scalar_function("hold", hold, 0)
                tx.connection.execute("SELECT hold()").fetchall()
        except apsw.Error as error:
            failed.append(error)

    def emptied_and_then_in_use(*given: object) -> None:
        empty(*given)
        inside.clear()
        writers.append(threading.Thread(target=write))
        writers[-1].start()
        inside.wait()

    def found(*_: object) -> bool:
        return True

    monkeypatch.setattr(purging, "any_in_file", found)
    monkeypatch.setattr(purging, "_empty_log", emptied_and_then_in_use)
    store.forget(fact_id=fact)
    erased.set()
    for writer in writers:
        writer.join()
    assert failed == []
    assert len(writers) == 2
    store.close()


def test_forgetting_goes_on_when_the_file_was_closed_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    look = purging.any_in_file

    def closed_meanwhile(path: Path, traces: Sequence[bytes]) -> bool:
        assert store.let_go(time.monotonic() + 10)
        store.go_on()
        return look(path, traces)

    monkeypatch.setattr(purging, "any_in_file", closed_meanwhile)
    store.forget(fact_id=fact)
    assert current(store) == []
    assert store.status().problems == ()
    store.close()


def test_another_connection_that_is_emptying_the_log_is_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(root)
    [fact] = say(store, works_at("Zyxwv"), at=day(1)).fact_ids
    works, tries = purging._try_to_empty, list[int]()  # pyright: ignore[reportPrivateUsage]

    def at_once_refused(con: apsw.Connection) -> bool:
        tries.append(1)
        return len(tries) > 40 and works(con)

    monkeypatch.setattr(purging, "_try_to_empty", at_once_refused)
    store.forget(fact_id=fact)
    assert store.status().problems == ()
    store.close()


def test_many_sentences_are_forgotten_without_writing_the_file_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = counted(monkeypatch, "_rewrite")
    store = open_store(root)
    text = " ".join(f"I like thing{n}zyx." for n in range(200))
    things = [within(text, likes(f"thing{n}zyx")) for n in range(200)]
    episode = say(store, likes("tea"), at=day(1)) and record(store, "x", day(1))
    [first, *_] = say(store, *things, at=day(2), text=text).fact_ids
    store.forget(episode_id=store.fact(first).episode_id)
    assert objects(current(store)) == ["tea"]
    assert store.episode(episode.uid).text == "x"
    assert not [f.name for f in root.iterdir() if b"zyx" in f.read_bytes()]
    assert store.status().problems == ()
    assert rewritten == []
    store.close()


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Notes each call of a function of the purge."""
    calls: list[str] = []
    works: Callable[..., None] = getattr(purging, name)

    def call(*given: object) -> None:
        calls.append(name)
        works(*given)

    monkeypatch.setattr(purging, name, call)
    return calls
