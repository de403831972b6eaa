"""What was done and not answered, because the service was killed, is not done a second time when it is sent again, and is answered."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Protocol

import pytest

from lean_memory_bridge.runtime import admin_token
from support.mcp_client import call, connected, text_of
from support.service import Reply, ServiceProcess, send


class Starts(Protocol):
    def start(self, *arguments: str) -> ServiceProcess: ...


def key(number: int = 0) -> str:
    return f"{time.time_ns() // 1_000_000:013}-{number:032x}"


def add(service: ServiceProcess, text: str, with_key: str) -> dict[str, Any]:
    reply = post(service, "add", {"namespace": "n", "text": text}, with_key)
    assert reply.status == 200, reply
    return held_in(reply)


def held_in(reply: Reply) -> dict[str, Any]:
    held = reply.json()
    assert isinstance(held, dict)
    return held


def post(service: ServiceProcess, verb: str, asked: dict[str, str], with_key: str) -> Reply:
    headers = {
        "Authorization": f"Bearer {admin_token(service.root)}",
        "Content-Type": "application/json",
        "Idempotency-Key": with_key,
    }
    return send(service.live.port, "POST", f"/api/v1/{verb}", headers, json.dumps(asked).encode())


def episodes(service: ServiceProcess) -> int:
    return sum(namespace.episodes for namespace in service.client().status().namespaces)


@pytest.mark.parametrize(
    "text",
    [
        "I work at Acme Corp. My cat is called Tom.",
        "Well hello there, lovely day.",
        "I like tea",
        "猫が二匹います。",
        "long " * 3000 + "I live in Porto.",
    ],
)
def test_what_was_stored_and_not_answered_is_stored_once(services: Starts, text: str) -> None:
    service = services.start()
    sent = key()
    first = add(service, text, sent)
    service.kill()
    service = services.start()
    again = add(service, text, sent)
    assert again["episode_id"] == first["episode_id"]
    assert set(again["fact_ids"]) == set(first["fact_ids"])
    assert episodes(service) == 1


def test_what_was_said_before_and_again_is_stored_once_each(services: Starts) -> None:
    service = services.start()
    add(service, "I work at Acme Corp.", key(1))
    sent = key(2)
    first = add(service, "I work at Acme Corp.", sent)
    service.kill()
    service = services.start()
    assert add(service, "I work at Acme Corp.", sent)["episode_id"] == first["episode_id"]
    assert episodes(service) == 2


def test_what_was_not_stored_is_stored_now(services: Starts) -> None:
    service = services.start()
    add(service, "I work at Acme Corp.", key(1))
    sent = key(2)
    service.kill()
    service = services.start()
    assert add(service, "I work at Globex.", sent)["fact_ids"]
    assert episodes(service) == 2


def test_the_same_words_said_anew_after_a_restart_are_another_addition(services: Starts) -> None:
    service = services.start()
    add(service, "I like figs.", key(1))
    service.kill()
    service = services.start()
    add(service, "I like figs.", key(2))
    assert episodes(service) == 2


def test_what_was_erased_and_not_answered_counts_as_erased(services: Starts) -> None:
    service = services.start()
    [fact] = add(service, "I am allergic to peanuts.", key(1))["fact_ids"]
    by_fact, sent, other = {"namespace": "n", "fact_id": fact}, key(2), key(3)
    assert held_in(post(service, "forget", by_fact, sent))["facts"] == 1
    by_entity, also = {"namespace": "n", "entity": "Ana"}, "a key of its own kind"
    add(service, "Ana is my sister.", key(4))
    assert held_in(post(service, "forget", by_entity, also))["earlier"] is False
    service.kill()
    service = services.start()
    assert (held_in(post(service, "forget", by_fact, sent))["earlier"], post(service, "forget", by_fact, other).status) == (True, 404)
    add(service, "Ana lives in Porto.", key(5))
    assert held_in(post(service, "forget", by_entity, also))["earlier"] is True
    assert [one.fact_text for one in service.client().facts(namespace="n").facts] == ["Ana lives in Porto."]
    assert post(service, "forget", by_fact, other).status == 404


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_assistant_is_told_of_the_erasure_that_it_missed_the_answer_of(services: Starts, mode: str) -> None:
    service, sent = services.start(), key(2)
    [fact] = add(service, "I am allergic to peanuts.", key(1))["fact_ids"]

    async def forget(answers: str, with_key: str) -> tuple[bool, str]:
        async with connected(service, "someone", mode=mode, answers=answers, key=with_key) as client:
            result = await call(client, "memory_forget", fact_id=fact, namespace="n")
            return bool(result.is_error), text_of(result)

    assert "Erased for good: 1 fact(s)" in asyncio.run(forget("accept", sent))[1]
    service.kill()
    service = services.start()
    failed, said = asyncio.run(forget("refuse", sent))
    assert (failed, said.startswith("Erased for good")) == (False, True)
    assert asyncio.run(forget("accept", key(3)))[0]
