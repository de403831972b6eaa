"""Many assistants at once: no error, nothing lost, everybody gets their turn."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from support.mcp_client import call, connected
from support.service import ServiceProcess, running_service

CLIENTS = 8
CALLS = 20
PAUSE = 0.5
"""Seconds between two calls of one client."""


async def _assistant(service: ServiceProcess, number: int) -> set[str]:
    """Adds and searches by turns; what it was told is stored, by value."""
    stored: set[str] = set()
    async with connected(service, f"assistant{number}", mode="legacy" if number % 2 else "auto") as client:
        for step in range(CALLS):
            pause = asyncio.create_task(asyncio.sleep(PAUSE))
            value = f"box{number}n{step}"
            if step % 2:
                result = await call(client, "memory_search", query=f"which box is my item{number}n{step - 1}?", namespace="shared")
            else:
                result = await call(client, "memory_add", text=f"My item{number}n{step} is {value}.", namespace="shared")
                stored.add(value)
            assert not result.is_error, result
            await pause
    return stored


async def _everybody(service: ServiceProcess) -> set[str]:
    return set().union(*await asyncio.gather(*(_assistant(service, number) for number in range(CLIENTS))))


def test_eight_assistants_with_two_calls_a_second_each_see_no_error_and_lose_nothing(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        stored = asyncio.run(_everybody(service))
        facts = service.client().facts(namespace="shared", limit=10_000).facts
        assert len(stored) == CLIENTS * CALLS // 2
        assert {fact.object for fact in facts} == stored
        assert "Traceback" not in service.said


def test_a_client_that_floods_the_memory_is_refused_and_the_others_are_served(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        enough = threading.Event()

        async def flood() -> list[bool]:
            async with connected(service, "flooder") as client:
                calls = [call(client, "memory_add", text=f"My item{n} is box{n}.", namespace="flood") for n in range(600)]
                results = asyncio.gather(*calls)
                polite = service.client("polite")
                for number in range(5):
                    await asyncio.to_thread(polite.add, f"My thing{number} is jar{number}.", namespace="flood")
                enough.set()
                return [result.is_error for result in await results]

        refused = asyncio.run(flood())
        assert enough.is_set()
        assert any(refused)
        facts = service.client().facts(namespace="flood", limit=10_000).facts
        assert {f"jar{number}" for number in range(5)} <= {fact.object for fact in facts}
        assert sum(fact.object.startswith("box") for fact in facts) == refused.count(False)
