"""What an open memory does beside answering: tallies that no ranking reads, and the run of its own that a setting asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Tier
from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory.settings import Settings
from support.embedding import WordEmbedder
from support.statements import SteadyClock, day


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock(day(0))


@pytest.fixture
def memory(root: Path, clock: SteadyClock) -> Iterator[Memory]:
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as opened:
        yield opened


def make_faint(root: Path, clock: SteadyClock, text: str) -> str:
    """A fact of little salience, said through the memory."""
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as memory:
        [fact] = memory.add("ana", text)
        memory._with("ana", lambda opened: opened.store.change(lambda tx: tx.connection.execute("UPDATE fact SET salience = 1").fetchall()))
    return fact


def test_what_was_served_is_counted_when_the_memory_closes_and_is_never_faint(root: Path, clock: SteadyClock) -> None:
    fact = make_faint(root, clock, "The wall is blue.")
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as memory:
        assert memory.search("ana", "wall")[0].fact.id == fact
    clock.now = day(300)
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as memory:
        assert memory.maintain("ana", apply=True, force=True)[0].demoted == 0


def test_what_was_served_just_now_counts_in_the_next_run(root: Path, clock: SteadyClock) -> None:
    make_faint(root, clock, "The wall is blue.")
    clock.now = day(300)
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as memory:
        assert memory.maintain("ana")[0].demoted == 1
        memory.search("ana", "wall")
        assert memory.maintain("ana", apply=True, force=True)[0].demoted == 0


def test_many_searches_change_no_ranking(memory: Memory) -> None:
    memory.add_many("ana", [f"The {word} wall is {word}." for word in ("blue", "green", "red", "white", "grey")])
    first = [(hit.fact.id, hit.final_score) for hit in memory.search("ana", "wall", 5)]
    for _ in range(300):
        memory.search("ana", "wall", 1)
    memory.maintain("ana", apply=True, force=True)
    assert [(hit.fact.id, hit.final_score) for hit in memory.search("ana", "wall", 5)] == first


def test_a_memory_set_to_do_so_goes_over_a_stale_namespace_by_itself(root: Path, clock: SteadyClock) -> None:
    fact = make_faint(root, clock, "The wall is blue.")
    clock.now = day(300)
    settings = Settings(root=root, maint_auto=True)
    with Memory(settings=settings, embedder=WordEmbedder(), clock=clock) as memory:
        memory.facts("ana")
        [keeper] = [thread for thread in threading.enumerate() if thread.name == "maintenance"]
        keeper.join(20)
        [run] = memory.maintenance_status("ana").runs
        assert (run.trigger, run.state, run.report is not None) == ("auto", "done", True)
        assert memory.facts("ana", include_cold=True)[0].tier is Tier.COLD
        assert memory.review_queue("ana").total == 0
        assert memory.promote("ana", fact).tier is Tier.HOT
    with Memory(settings=settings, embedder=WordEmbedder(), clock=clock) as memory:
        memory.facts("ana")
        assert len(memory.maintenance_status("ana").runs) == 1


def test_without_the_setting_nothing_is_done_unasked(root: Path, clock: SteadyClock) -> None:
    make_faint(root, clock, "The wall is blue.")
    clock.now = day(300)
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as memory:
        memory.facts("ana")
        assert memory.maintenance_status("ana").runs == ()


def test_every_namespace_has_its_turn_and_its_report(memory: Memory) -> None:
    for name in ("ana", "bob"):
        memory.add(name, "I like tea.")
    told: list[float] = []
    reports = memory.maintain(apply=True, force=True, progress=told.append)
    assert [(report.namespace, report.state) for report in reports] == [("ana", "done"), ("bob", "done")]
    assert told.count(1.0) == 2
    assert [report.state for report in memory.maintain(apply=True)] == ["not-due", "not-due"]


def test_bad_use_is_refused_and_what_is_not_there_is_not_made(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    with pytest.raises(NotFoundError):
        memory.maintain("nobody")
    with pytest.raises(InvalidInputError, match="approve"):
        memory.decide("ana", "x", "perhaps")
    with pytest.raises(InvalidInputError, match="merge"):
        memory.review_queue("ana", kind="nonsense")
    with pytest.raises(NotFoundError):
        memory.decide("ana", "x", "approve")
    assert memory.namespaces() == ["ana"]
