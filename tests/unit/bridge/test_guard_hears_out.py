"""A refusal arrives: what is being sent is taken in first, a little of it, as a connection that ends on unread bytes may lose the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from lean_memory_bridge.guard import Guard

ELSEWHERE = {"type": "http", "method": "POST", "path": "/api/v1/add", "query_string": b"", "headers": [(b"host", b"evil.example")]}


def refused(parts: list[bytes]) -> list[str]:
    """What happens in turn where a request for another name comes in parts."""
    order: list[str] = []
    waiting = [{"type": "http.request", "body": part, "more_body": number < len(parts) - 1} for number, part in enumerate(parts)]

    async def receive() -> dict[str, Any]:
        order.append("heard")
        return waiting.pop(0) if waiting else await asyncio.Event().wait()  # type: ignore[return-value]

    async def send(message: Any) -> None:
        order.append(str(message.get("status", "answered")))

    nobody: Any = None
    guard = Guard(nobody, port=1, callers=nobody, streams=nobody, window=nobody)
    asyncio.run(guard(ELSEWHERE, receive, send))
    return order


def test_what_is_sent_is_heard_before_the_answer() -> None:
    assert refused([b"{", b"}"]) == ["heard", "heard", "421", "answered"]


def test_of_much_only_the_beginning_is_heard() -> None:
    assert refused([b"x" * 40_000] * 9) == ["heard", "heard", "421", "answered"]


def test_who_sends_nothing_is_answered_all_the_same() -> None:
    assert refused([]) == ["heard", "421", "answered"]
