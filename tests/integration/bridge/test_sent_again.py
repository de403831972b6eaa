"""An addition whose answer was lost because the service was killed is not made a second time when it is sent again."""

from __future__ import annotations

import json
import time
from typing import Any, Protocol

import pytest

from lean_memory_bridge.runtime import admin_token
from support.service import ServiceProcess, send


class Starts(Protocol):
    def start(self, *arguments: str) -> ServiceProcess: ...


def key(number: int = 0) -> str:
    return f"{time.time_ns() // 1_000_000:013}-{number:032x}"


def add(service: ServiceProcess, text: str, with_key: str) -> dict[str, Any]:
    headers = {
        "Authorization": f"Bearer {admin_token(service.root)}",
        "Content-Type": "application/json",
        "Idempotency-Key": with_key,
    }
    body = json.dumps({"namespace": "n", "text": text}).encode()
    reply = send(service.live.port, "POST", "/api/v1/add", headers, body)
    assert reply.status == 200, reply
    held = reply.json()
    assert isinstance(held, dict)
    return held


def episodes(service: ServiceProcess) -> int:
    return sum(namespace.episodes for namespace in service.client().status().namespaces)


@pytest.mark.parametrize(
    "text",
    [
        "I work at Acme Corp. My cat is called Tom.",
        "Well hello there, lovely day.",
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
