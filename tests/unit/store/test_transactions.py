"""Writes are all or nothing, and the store says clearly when it cannot be used."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NoReturn

import pytest

from lean_memory.domain import Episode, EpisodeId, Source, Span
from lean_memory.errors import BusyError, ClosedError, NotFoundError
from lean_memory.store import search_index
from lean_memory.store.episodes import insert_episode
from lean_memory.store.namespace_store import NewEpisode, WriteTransaction
from support.statements import MODEL, current, day, learn, likes, objects, open_store, record, say, vector, within, works_at


def test_an_exception_inside_a_write_leaves_the_store_as_it_was(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    episode = record(store, "I work at Globex.", day(2))
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        learn(tx, episode, [works_at("Globex")])
        raise ZeroDivisionError
    assert objects(current(store)) == ["Acme"]
    assert [e.uid for e in store.unfinished()] == [episode.uid]
    assert store.check() == []
    store.close()


def test_an_episode_is_unfinished_until_its_changes_are_written_also_after_reopening(root: Path) -> None:
    store = open_store(root)
    episode = record(store, "I work at Acme.", day(1))
    store.close()
    store = open_store(root)
    assert store.unfinished() == [episode]
    with store.write() as tx:
        assert not tx.is_done(episode.uid)
        learn(tx, episode, [works_at("Acme")])
        assert tx.is_done(episode.uid)
    assert store.unfinished() == []
    store.close()


def test_an_episode_that_is_gone_has_nothing_left_to_do(root: Path) -> None:
    store = open_store(root)
    with store.write() as tx:
        assert tx.is_done(EpisodeId("gone"))
        with pytest.raises(NotFoundError, match="no episode gone"):
            tx.episode_row(EpisodeId("gone"))
    store.close()


def test_recent_episodes_are_those_of_the_same_client_oldest_first(root: Path) -> None:
    store = open_store(root)
    for n in range(6):
        record(store, f"saying {n}", day(n), client="a" if n % 2 else "b")
    last = record(store, "now", day(9), client="a")
    assert [e.text for e in store.recent_episodes(last.uid, client="a", limit=2)] == ["saying 3", "saying 5"]
    assert store.recent_episodes(last.uid, client=None, limit=2) == []
    store.close()


def test_reading_inside_a_write_of_another_thread_waits_for_nothing(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    with store.write() as tx:
        learn(tx, inserted(tx), [works_at("Globex")])
        found: list[list[str]] = []
        reader = threading.Thread(target=lambda: found.append(objects(current(store))))
        reader.start()
        reader.join(timeout=10)
        assert found == [["Acme"]]
    assert objects(current(store)) == ["Globex"]
    store.close()


def inserted(tx: WriteTransaction) -> Episode:
    text = "I work at Globex."
    new = NewEpisode(text=text, source=Source.USER, t_ref=day(2), tz="UTC", passages=[Span(start=0, end=len(text))])
    return insert_episode(tx.connection, new, tx.recorded_at)


def test_a_snapshot_stays_of_one_moment_while_others_write(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    with store.read() as snapshot:
        before = snapshot.connection.execute("SELECT count(*) FROM fact").get
        say(store, works_at("Globex"), at=day(2))
        assert snapshot.connection.execute("SELECT count(*) FROM fact").get == before
    store.close()


def test_a_write_inside_a_write_is_a_mistake_that_is_said(root: Path) -> None:
    store = open_store(root)
    with store.write(), pytest.raises(RuntimeError, match="inside another"), store.write():
        pass
    store.close()


def test_a_writer_that_waits_too_long_is_told_so(root: Path) -> None:
    one, other = open_store(root), open_store(root, busy_timeout_ms=50)
    with one.write(), pytest.raises(BusyError, match="locked for too long; nothing of this call was written"), other.write():
        pass
    record(other, "afterwards", day(1))
    one.close()
    other.close()


@pytest.mark.parametrize("part", ["has_moved", "WriteTransaction"])
def test_an_interrupt_just_after_a_write_began_leaves_it_open_for_nobody(root: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    one, other = open_store(root), open_store(root, busy_timeout_ms=50)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(f"lean_memory.store.namespace_store.{part}", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            record(one, "interrupted", day(1))
    record(other, "by another", day(2))
    last = record(one, "afterwards", day(3))
    assert [e.text for e in one.recent_episodes(last.uid, client=None, limit=9)] == ["by another"]
    one.close()
    other.close()


def raise_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_a_closed_store_says_that_it_is_closed(root: Path) -> None:
    store = open_store(root)
    store.close()
    store.close()
    for use in (lambda: current(store), lambda: record(store, "x", day(1)), store.status, store.check):
        with pytest.raises(ClosedError, match="“ana” was closed"):
            use()


def test_opening_without_making_says_that_there_is_none(root: Path) -> None:
    with pytest.raises(NotFoundError, match="no namespace “ana”"):
        open_store(root, create=False)
    assert not root.exists()


def test_vectors_and_texts_of_facts_and_passages_are_found_by_row(root: Path) -> None:
    store = open_store(root)
    text = "Well, I like tea. And I like jazz."
    say(store, within(text, likes("tea")), within(text, likes("jazz")), at=day(1), text=text)
    say(store, works_at("Acme"), at=day(2))
    with store.read() as snapshot:
        rows = [r[0] for r in snapshot.connection.execute("SELECT id FROM index_row ORDER BY id")]
        found = snapshot.hydrate(rows)
        assert snapshot.texts(rows) == {1: text, 2: "I like tea.", 3: "I like jazz.", 4: "I work at Acme."}
        assert snapshot.hydrate([99]) == {}
        for row, words in snapshot.texts(rows).items():
            [(_, cosine)] = search_index.exact(snapshot.connection, MODEL, [row], vector(words))
            assert cosine == pytest.approx(1.0)
    assert [found[r].fact.record_kind.value for r in rows] == ["passage", "fact", "fact", "fact"]
    assert [found[r].source for r in rows] == [text, text, text, "I work at Acme."]
    assert len({found[r].passage_row for r in rows[:3]}) == 1
    assert found[1].fact.fact_text == text
    with store.read() as tx:
        assert tx.texts_without_vector(MODEL, 10) == ({}, None)
    store.close()


def test_many_threads_of_one_store_write_and_read_without_getting_in_each_others_way(root: Path) -> None:
    store = open_store(root)
    problems: list[BaseException] = []

    def use(number: int) -> None:
        try:
            for turn in range(10):
                say(store, likes(f"thing {number}-{turn}"), at=day(1))
                assert f"thing {number}-{turn}" in objects(current(store))
        except BaseException as problem:
            problems.append(problem)
            raise

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert problems == []
    assert len(current(store)) == 60
    assert store.check() == []
    store.close()
