"""Stopping finishes what was begun; dying loses nothing that was acknowledged, and clients go on with the next service."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Protocol

import pytest

from lean_memory.errors import LeanMemoryError
from lean_memory.only_one import only_one
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.runtime import admin_token, find
from lean_memory_bridge.schemas import AddItem, ClientChange, Snapshot
from support.mcp_client import call, connected, text_of
from support.service import ServiceProcess


class Starts(Protocol):
    root: Path

    def start(self, *arguments: str) -> ServiceProcess: ...

    def begin(self, *arguments: str) -> ServiceProcess: ...


def test_the_end_of_standard_input_ends_a_supervised_service(services: Starts) -> None:
    service = services.start("--supervised")
    assert service.process.stdin is not None
    service.process.stdin.close()
    assert service.ended() == 0
    assert find(services.root) is None
    assert not (services.root / "runtime.json").exists()


def test_a_supervised_service_that_still_waits_for_another_ends_with_its_input(services: Starts) -> None:
    with only_one(services.root / "service.lock") as ours:
        assert ours
        service = services.begin("--supervised", "--wait", "3600")
        assert service.process.stdin is not None
        service.process.stdin.close()
        assert service.ended() == 0


def test_the_owner_can_end_it(services: Starts) -> None:
    service = services.start()
    service.client().stop()
    assert service.ended() == 0


@pytest.mark.parametrize("how", ["signal", "call"])
def test_what_was_begun_is_finished_and_answered(services: Starts, how: str) -> None:
    service = services.start()
    client = service.client()
    client.add("I like tea.", namespace="long")
    items = [AddItem(text=" ".join(f"My item{number}x{part} is box{number}." for part in range(10))) for number in range(15)]
    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(client.add_many, items, namespace="long")
        assert any(client.status("long").namespaces[0].episodes > 1 for _ in range(10_000))
        if how == "call":
            client.stop()
            code = service.ended()
        else:
            code = service.terminate()
        results = adding.result(timeout=60)
    assert code == 0
    assert len(results) == 15
    assert all(result.fact_ids for result in results)
    again = services.start().client()
    assert again.status("long").namespaces[0].episodes == 16
    assert again.check("long") == ()


def test_streams_are_ended_so_that_stopping_does_not_wait_for_them(services: Starts) -> None:
    service = services.start()
    client = service.client()
    first = threading.Event()
    ended = threading.Event()

    def follow() -> None:
        with contextlib.suppress(UnreachableError):
            for _ in client.snapshots():
                first.set()
        ended.set()

    thread = threading.Thread(target=follow)
    thread.start()
    assert first.wait(timeout=30)

    async def with_session() -> None:
        async with connected(service, "tester", mode="legacy") as session:
            assert not (await call(session, "memory_namespaces")).is_error
            assert await asyncio.to_thread(service.terminate) == 0

    asyncio.run(with_session())
    assert ended.wait(timeout=30)
    thread.join(timeout=30)
    assert "Cancel" not in service.said
    assert "Traceback" not in service.said


def test_neither_who_listens_as_new_clients_do_nor_a_question_to_the_person_holds_up_the_end(services: Starts) -> None:
    service = services.start()
    fact = service.client().add("I live in Porto.").fact_ids[0]
    listening = _opened(
        service,
        {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"},
        {
            "method": "subscriptions/listen",
            "params": {
                "notifications": {"toolsListChanged": True},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        },
    )
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
    greeted = _opened(service, {}, {"method": "initialize", "params": greeting})
    session = {"Mcp-Session-Id": greeted.getheader("mcp-session-id") or "", "MCP-Protocol-Version": "2025-06-18"}
    greeted.read()
    _opened(service, session, {"method": "notifications/initialized"}, identifier=None).read()
    asking = _opened(service, session, {"method": "tools/call", "params": {"name": "memory_forget", "arguments": {"fact_id": fact}}})
    while b"elicitation/create" not in asking.readline():
        pass
    assert service.terminate() == 0
    assert b"acknowledged" in listening.read()
    assert b"ended while the person was being asked, so nothing was done" in asking.read()
    assert "Traceback" not in service.said
    assert "Cancel" not in service.said
    assert services.start().client().facts().facts[0].id == fact


def _opened(service: ServiceProcess, headers: dict[str, str], said: dict[str, object], identifier: int | None = 1) -> HTTPResponse:
    """The answer to a message, of which the head has come."""
    message = {"jsonrpc": "2.0", **({} if identifier is None else {"id": identifier}), **said}
    connection = HTTPConnection("127.0.0.1", service.runtime.port, timeout=60)
    usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Connection": "close"}
    connection.request("POST", "/mcp", json.dumps(message), {**usual, "Authorization": f"Bearer {admin_token(service.root)}", **headers})
    answer = connection.getresponse()
    assert answer.status in (200, 202), answer.read()
    return answer


def test_snapshots_are_whole_and_follow_every_change(services: Starts) -> None:
    service = services.start()
    client = service.client()
    seen: list[Snapshot] = []
    arrived = threading.Condition()

    def follow() -> None:
        with contextlib.suppress(UnreachableError):
            for snapshot in client.snapshots():
                with arrived:
                    seen.append(snapshot)
                    arrived.notify_all()

    def wait_for(what: str) -> Snapshot:
        with arrived:
            assert arrived.wait_for(lambda: any(what in snapshot.model_dump_json() for snapshot in seen), timeout=30), (what, seen)
            return seen[-1]

    thread = threading.Thread(target=follow)
    thread.start()
    assert wait_for('"ready"').namespaces == ()
    service.client("cursor").add("I like tea.", namespace="new-one")
    with_client = wait_for('"cursor"')
    assert [one.name for one in with_client.clients] == ["cursor"]
    assert "new-one" in wait_for('"new-one"').namespaces
    client.change_client("cursor", ClientChange(paused=True))
    assert wait_for('"paused":true').clients[0].paused
    versions = [snapshot.version for snapshot in seen]
    assert versions == sorted(set(versions))
    assert client.snapshot().version >= versions[-1]
    assert service.terminate() == 0
    thread.join(timeout=30)


def test_pausing_and_revoking_end_what_a_client_has_open(services: Starts) -> None:
    service = services.start()
    owner, cursor = service.client(), service.client("cursor")
    started, ended = threading.Event(), threading.Event()

    def follow() -> None:
        with contextlib.suppress(LeanMemoryError):
            for _ in cursor.snapshots():
                started.set()
        ended.set()

    thread = threading.Thread(target=follow)
    thread.start()
    assert started.wait(timeout=30)
    owner.change_client("cursor", ClientChange(paused=True))
    assert ended.wait(timeout=30)
    thread.join(timeout=30)
    with pytest.raises(LeanMemoryError, match="paused for cursor"):
        next(cursor.snapshots())


def test_a_killed_service_loses_nothing_that_it_acknowledged_and_applies_nothing_twice(services: Starts) -> None:
    service = services.start()
    names = [f"client{number}" for number in range(8)]
    acknowledged: list[tuple[str, str]] = []
    refused: list[str] = []
    killed = threading.Event()
    enough = threading.Semaphore(0)

    def work(name: str) -> ServiceClient:
        client = service.client(name)
        for number in range(200):
            if killed.is_set():
                break
            value = f"box{name}n{number}"
            try:
                added = client.add(f"My item{name}n{number} is {value}.", namespace="killed")
            except UnreachableError:
                refused.append(name)
                break
            acknowledged.append((added.fact_ids[0], value))
            enough.release()
        return client

    with ThreadPoolExecutor(8) as pool:
        working = [pool.submit(work, name) for name in names]
        for _ in range(60):
            assert enough.acquire(timeout=60)
        service.kill()
        killed.set()
        clients = [each.result(timeout=60) for each in working]
    after = services.start()
    for client, name in zip(clients, names, strict=True):
        assert client.add(f"My last{name} is end{name}.", namespace="killed").fact_ids
    facts = after.client().facts(namespace="killed", limit=10_000).facts
    held = {fact.id: fact.object for fact in facts}
    assert {fact_id: held.get(fact_id) for fact_id, _ in acknowledged} == dict(acknowledged)
    objects = [fact.object for fact in facts]
    assert len(objects) == len(set(objects))
    assert after.client().check("killed") == ()


def test_a_session_goes_on_after_a_restart_as_if_nothing_had_been(services: Starts) -> None:
    first = services.start()

    async def main() -> None:
        async with connected(first, "tester", mode="legacy") as client:
            await call(client, "memory_add", text="I live in Porto.")
            await asyncio.to_thread(first.kill)
            await asyncio.to_thread(services.start)
            found = await call(client, "memory_search", query="where do I live?")
            assert "I live in Porto." in text_of(found)
            assert not (await call(client, "memory_add", text="I live in Lisbon now.")).is_error
            assert len((await client.list_tools()).tools) == 10

    asyncio.run(main())
