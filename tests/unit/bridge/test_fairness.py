"""Each client gets its turn and its share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from lean_memory_bridge.fairness import FairQueue
from lean_memory_bridge.limits import LONGEST_DELAY, Limiter, Rate
from lean_memory_bridge.refusals import TooManyCallsError
from lean_memory_bridge.repeats import Repeats


def with_queue(do: Callable[[FairQueue], Awaitable[None]], *, at_once: int = 1, longest: int = 64) -> None:
    async def main() -> None:
        with ThreadPoolExecutor(at_once) as pool:
            await do(FairQueue(pool, at_once=at_once, longest=longest))

    asyncio.run(main())


def test_a_client_with_one_call_does_not_wait_for_all_the_calls_of_another() -> None:
    order: list[str] = []

    async def do(queue: FairQueue) -> None:
        greedy = [queue.run("greedy", lambda: order.append("greedy")) for _ in range(10)]
        modest = [queue.run("modest", lambda: order.append("modest")) for _ in range(2)]
        await asyncio.gather(*greedy, *modest)

    with_queue(do)
    assert order[:5].count("modest") == 2
    assert len(order) == 12


def test_the_calls_of_one_client_start_in_their_order() -> None:
    order: list[int] = []

    async def do(queue: FairQueue) -> None:
        await asyncio.gather(*(queue.run("one", lambda n=n: order.append(n)) for n in range(20)))

    with_queue(do)
    assert order == list(range(20))


def test_a_namespace_has_one_writer_and_others_go_on_beside_it() -> None:
    writing, most, lock = [0], [0], threading.Lock()
    both = threading.Barrier(2)

    def write() -> None:
        with lock:
            writing[0] += 1
            most[0] = max(most[0], writing[0])
        with lock:
            writing[0] -= 1

    async def do(queue: FairQueue) -> None:
        await asyncio.gather(*(queue.run(f"client{n}", write, alone="same") for n in range(30)))
        # Each waits for the other, so this ends only if both run at once.
        pair = (queue.run("a", both.wait, alone="one"), queue.run("b", both.wait, alone="another"))
        await asyncio.wait_for(asyncio.gather(*pair), timeout=30)

    with_queue(do, at_once=4)
    assert most[0] == 1


def test_a_full_queue_refuses_and_says_so_and_other_clients_are_taken() -> None:
    held = threading.Event()

    async def do(queue: FairQueue) -> None:
        running = asyncio.ensure_future(queue.run("greedy", held.wait))
        waiting = [asyncio.ensure_future(queue.run("greedy", int)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyCallsError, match="3 calls of greedy are waiting"):
            await queue.run("greedy", int)
        other = asyncio.ensure_future(queue.run("modest", lambda: 7))
        held.set()
        assert await other == 7
        await asyncio.gather(running, *waiting)

    with_queue(do, longest=3)


def test_a_call_whose_caller_hung_up_before_its_turn_is_dropped() -> None:
    held, done = threading.Event(), []

    async def do(queue: FairQueue) -> None:
        running = asyncio.ensure_future(queue.run("one", held.wait))
        dropped = asyncio.ensure_future(queue.run("two", lambda: done.append("dropped")))
        kept = asyncio.ensure_future(queue.run("two", lambda: done.append("kept")))
        await asyncio.sleep(0)
        dropped.cancel()
        await asyncio.sleep(0)
        held.set()
        await asyncio.gather(running, kept)
        await asyncio.wait_for(queue.drained(), timeout=30)

    with_queue(do)
    assert done == ["kept"]


def test_an_error_reaches_its_caller_and_frees_the_namespace() -> None:
    def fail() -> None:
        raise ValueError("no")

    async def do(queue: FairQueue) -> None:
        with pytest.raises(ValueError, match="no"):
            await queue.run("one", fail, alone="n")
        assert await queue.run("one", lambda: 1, alone="n") == 1

    with_queue(do)


def test_a_drained_queue_has_finished_everything() -> None:
    done: list[int] = []

    async def do(queue: FairQueue) -> None:
        tasks = [asyncio.ensure_future(queue.run("one", lambda n=n: done.append(n))) for n in range(10)]
        await asyncio.sleep(0)
        await queue.drained()
        assert len(done) == 10
        await asyncio.gather(*tasks)

    with_queue(do)


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def test_a_rate_lets_a_burst_pass_then_holds_back_then_refuses() -> None:
    clock = Hand()
    limiter = Limiter(rate=Rate(a_second=10, at_once=5), now=clock)
    assert [limiter.delay("one") for _ in range(5)] == [0] * 5
    assert limiter.delay("one") == pytest.approx(0.1)
    assert limiter.delay("one") == pytest.approx(0.2)
    with pytest.raises(TooManyCallsError) as refused:
        for _ in range(1000):
            limiter.delay("one")
    assert refused.value.seconds > LONGEST_DELAY
    assert limiter.delay("another") == 0
    clock.at = 60
    assert limiter.delay("one") == 0


def test_a_repeated_call_is_done_once_even_while_the_first_still_runs() -> None:
    calls: list[int] = []

    async def main() -> None:
        go, repeats = asyncio.Event(), Repeats[int]()

        async def call() -> int:
            calls.append(1)
            await go.wait()
            return 7

        first, second = (asyncio.ensure_future(repeats.once("k", call)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        go.set()
        assert await second == 7
        assert await repeats.once("k", call) == 7

    asyncio.run(main())
    assert calls == [1]


def test_a_call_that_failed_may_be_repeated() -> None:
    async def main() -> None:
        repeats, answers = Repeats[int](), [ValueError("first"), 2]

        async def call() -> int:
            answer = answers.pop(0)
            if isinstance(answer, ValueError):
                raise answer
            return answer

        with pytest.raises(ValueError, match="first"):
            await repeats.once("k", call)
        assert await repeats.once("k", call) == 2

    asyncio.run(main())
