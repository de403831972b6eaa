"""Work in the background: each job is told of until long after its end, whatever became of it, and none is left standing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from lean_memory.errors import ClosedError, NotFoundError
from lean_memory_bridge.background import Background, Job
from lean_memory_bridge.refusals import TooManyCallsError

LONG = 60.0


@dataclass(eq=False, kw_only=True)
class Work(Job):
    """Does what it is given."""

    do: Callable[[], None]
    is_told: threading.Event


class Bench:
    """Jobs of which one goes on, two may go on or wait, and one is remembered."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.jobs = Background[Work](self._carry_out, self._over, name="work", at_once=1, most=2, kept=1)

    def begin(self, do: Callable[[], None] = lambda: None) -> Work:
        work = Work(do=do, is_told=threading.Event())
        self.jobs.begin(work)
        return work

    def wait(self) -> None:
        assert self.may_go_on.wait(LONG)

    def _carry_out(self, work: Work) -> None:
        work.do()
        work.state = "done"

    @staticmethod
    def _over(work: Work) -> None:
        assert work.ended.is_set()
        work.is_told.set()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.may_go_on.set()
    made.jobs.close()


def test_a_job_is_found_by_its_id_until_others_have_ended_since(bench: Bench) -> None:
    first = bench.begin()
    assert first.is_told.wait(LONG)
    assert bench.jobs.named(first.id) is first
    second = bench.begin()
    assert second.is_told.wait(LONG)
    with pytest.raises(NotFoundError):
        bench.jobs.named(first.id)
    assert bench.jobs.every() == (second,)


def test_no_more_are_taken_than_may_wait_and_those_that_go_on_are_not_dropped(bench: Bench) -> None:
    going, waiting = bench.begin(bench.wait), bench.begin()
    with pytest.raises(TooManyCallsError):
        bench.begin()
    assert bench.jobs.every() == (waiting, going)
    bench.may_go_on.set()
    assert waiting.is_told.wait(LONG)


def test_a_defect_ends_its_job_as_failed_and_stands_in_the_log_and_the_next_job_has_its_turn(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        bench.wait()
        raise ZeroDivisionError("a defect")

    with caplog.at_level(logging.ERROR):
        failed, after = bench.begin(broken), bench.begin()
        bench.may_go_on.set()
        assert after.is_told.wait(LONG)
    assert failed.is_told.is_set()
    assert (failed.state, after.state) == ("failed", "done")
    assert "defect" in failed.sentence
    assert "ZeroDivisionError" in caplog.text


def test_closing_waits_for_what_goes_on_stops_what_waits_and_lets_nothing_begin(bench: Bench) -> None:
    def until_closing() -> None:
        while not bench.jobs.is_closing:
            threading.Event().wait(0.01)

    going, waiting = bench.begin(until_closing), bench.begin()
    bench.jobs.close()
    assert (going.state, waiting.state) == ("done", "stopped")
    assert waiting.ended.is_set()
    assert waiting.sentence
    with pytest.raises(ClosedError):
        bench.begin()
