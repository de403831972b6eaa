"""Assistants list and call every tool over HTTP, on connections with a session and without."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client

from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.schemas import NOT_LOOKED_AT, ClientChange
from lean_memory_bridge.shim.offline import answer_without_service
from support.mcp_client import call, connected, text_of
from support.service import ServiceProcess, send

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def talk(
    service: ServiceProcess, mode: str, say: Callable[[Client], Awaitable[None]], answers: str | None = None, name: str = "tester"
) -> None:
    async def main() -> None:
        async with connected(service, name, mode=mode, answers=answers) as client:
            await say(client)

    asyncio.run(main())


def without_service() -> list[dict[str, object]]:
    """The tools that a shim lists while no service can be had."""
    answer: Any = answer_without_service({"id": 1, "method": "tools/list"}, "It is away.")
    return answer["result"]["tools"]


@MODES
def test_the_tools_are_the_documented_ones_with_honest_annotations(service: ServiceProcess, mode: str) -> None:
    async def say(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        hints = {
            name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
            for name, tool in tools.items()
            if tool.annotations is not None
        }
        assert hints == {
            "memory_add": (False, False, False),
            "memory_search": (True, False, True),
            "memory_history": (True, False, True),
            "memory_namespaces": (True, False, True),
            "memory_forget": (False, True, False),
            "memory_clear": (False, True, True),
            "memory_maintenance_run": (False, False, False),
            "memory_maintenance_status": (True, False, True),
            "memory_review_queue": (False, False, True),
            "memory_review_decide": (False, True, True),
        }
        assert {tool["name"] for tool in without_service()} == set(tools)
        for tool in tools.values():
            assert tool.output_schema
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert all("description" in field for field in tool.input_schema["properties"].values()), tool.name
        assert client.instructions is not None
        assert "memory_search" in client.instructions

    talk(service, mode, say)


@MODES
def test_an_assistant_remembers_changes_and_looks_back(service: ServiceProcess, mode: str) -> None:
    where = f"story-{mode}"

    async def say(client: Client) -> None:
        first = await call(client, "memory_add", text="I live in Porto.", namespace=where, t_ref="2024-01-10")
        second = await call(client, "memory_add", text="I live in Lisbon now.", namespace=where, t_ref="2024-06-10")
        assert first.structured_content is not None
        assert second.structured_content is not None
        assert second.structured_content["superseded"] == first.structured_content["fact_ids"]
        assert "No longer current because of this:\n- I live in Porto." in text_of(second)
        now = await call(client, "memory_search", query="where do I live?", namespace=where)
        then = await call(client, "memory_search", query="where do I live?", namespace=where, as_of="2024-03-01")
        assert text_of(now).splitlines()[1].startswith("1. I live in Lisbon now. [since 2024-06-10")
        assert text_of(then).splitlines()[1].startswith("1. I live in Porto. [2024-01-10 to 2024-06-10")
        fact_id = second.structured_content["fact_ids"][0]
        history = await call(client, "memory_history", fact_id=fact_id, namespace=where)
        assert [line.partition(" [")[0] for line in text_of(history).splitlines()[1:]] == ["- I live in Porto.", "- I live in Lisbon now."]
        names = await call(client, "memory_namespaces")
        assert names.structured_content is not None
        assert where in names.structured_content["namespaces"]
        cleared = await call(client, "memory_clear", namespace=where)
        assert cleared.structured_content == {"namespace": where, "cleared": True, "copies": [], "not_looked_at": NOT_LOOKED_AT}

    talk(service, mode, say)


@MODES
def test_it_says_when_nothing_relevant_is_known(service: ServiceProcess, mode: str) -> None:
    async def say(client: Client) -> None:
        empty = await call(client, "memory_search", query="what is my blood type?", namespace="never-used")
        assert text_of(empty) == "Nothing is known about this in the namespace “never-used”."
        await call(client, "memory_add", text="I like jazz.", namespace="weak")
        weak = await call(client, "memory_search", query="what is my blood type?", namespace="weak")
        assert text_of(weak).startswith("Nothing relevant is known about this.")

    talk(service, mode, say)


@MODES
@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("memory_search", {"query": ""}, "^`query` may not be empty. Nothing was done.$"),
        ("memory_search", {"query": "x", "k": 51}, "^`k` may be at most 50. Nothing was done.$"),
        ("memory_search", {}, "^`query` is missing. Nothing was done.$"),
        ("memory_search", {"query": "x", "as_of": "whenever"}, "ISO date"),
        (
            "memory_search",
            {"query": "x", "as_of": 1_717_000_000},
            "^as_of has ten digits, so it seems to be in seconds, .*: 1717000000000, or",
        ),
        ("memory_add", {"text": "I like tea.", "t_ref": "1717000000"}, "^t_ref has ten digits, .* Nothing was done.$"),
        ("memory_search", {"query": "x", "as_of": "9999-12-31T23:59Z"}, "not 9999-12-31T23:59:00"),
        ("memory_add", {"text": "  "}, "empty"),
        ("memory_history", {"fact_id": "nope"}, "nope"),
        ("memory_forget", {"fact_id": "nope"}, "nope"),
        ("memory_clear", {}, "^`namespace` is missing. Nothing was done.$"),
        ("no_such_tool", {}, "no_such_tool"),
        (
            "memory_search",
            {"query": "x", "asof": "2024-03-01"},
            "^This tool has no argument `asof`; it takes .* Was `as_of` meant. Nothing was done.$",
        ),
        ("memory_search", {"query": "x", "limit": 3}, "^This tool has no argument `limit`; it takes `query`, .*`k`"),
        ("memory_add", {"text": "I like tea.", "date": "2024-03-01"}, "^This tool has no argument `date`; it takes .*`t_ref`"),
        ("memory_namespaces", {"namespace": "x"}, "^This tool has no argument `namespace`; it takes none. Nothing was done.$"),
    ],
)
def test_a_mistake_is_told_to_the_assistant(service: ServiceProcess, mode: str, tool: str, arguments: dict[str, object], part: str) -> None:
    async def say(client: Client) -> None:
        await call(client, "memory_add", text="I like tea.")
        result = await call(client, tool, **arguments)
        assert result.is_error
        assert re.search(part, text_of(result))

    talk(service, mode, say)


@pytest.mark.parametrize(("query", "is_error"), [("tea \ud83d", True), ("tea \ud83c\udf75", False)])
def test_half_a_character_is_told_of_in_a_sentence(service: ServiceProcess, query: str, is_error: bool) -> None:
    meta = {"protocolVersion": "2026-07-28", "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}
    asked = {
        "name": "memory_search",
        "arguments": {"query": query},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()},
    }
    headers = {
        "Authorization": f"Bearer {admin_token(service.root)}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "memory_search",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}).encode()
    answer: Any = send(service.live.port, "POST", "/mcp", headers, body).json()
    assert bool(answer["result"].get("isError")) == is_error
    said = answer["result"]["content"][0]["text"]
    assert said.startswith("`query` holds half a character (a lone surrogate)") == is_error


@MODES
@pytest.mark.parametrize(
    ("answers", "forgotten", "said"),
    [
        ("accept", True, "Erased for good: 1 fact(s)"),
        ("refuse", False, "did not confirm"),
        ("decline", False, "did not confirm"),
        ("cancel", False, "did not confirm"),
        (None, False, "lean-memory decide "),
    ],
)
def test_only_the_person_can_confirm_a_forgetting(
    service: ServiceProcess, mode: str, answers: str | None, forgotten: bool, said: str
) -> None:
    where = f"forget-{mode}-{answers}"

    async def say(client: Client) -> None:
        added = await call(client, "memory_add", text="I am allergic to peanuts.", namespace=where)
        assert added.structured_content is not None
        result = await call(client, "memory_forget", fact_id=added.structured_content["fact_ids"][0], namespace=where)
        assert (result.is_error, said in text_of(result)) == (False, True)

    talk(service, mode, say, answers)
    assert (not service.client().facts(namespace=where).facts) == forgotten


@MODES
def test_resources_show_the_profile_and_the_changes_of_every_namespace(service: ServiceProcess, mode: str) -> None:
    where, address = f"café/{mode}", f"caf%C3%A9%2F{mode}"

    async def say(client: Client) -> None:
        await call(client, "memory_add", text="I live in Porto. Ana works at Globex.", namespace=where)
        await call(client, "memory_add", text="I live in Lisbon now.", namespace=where)
        listed = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert {f"memory://{address}/profile", f"memory://{address}/changes"} <= listed
        templates = {template.uri_template for template in (await client.list_resource_templates()).resource_templates}
        assert templates == {"memory://{namespace}/profile", "memory://{namespace}/changes"}
        profile = (await client.read_resource(f"memory://{address}/profile")).contents[0]
        changes = (await client.read_resource(f"memory://{address}/changes")).contents[0]
        assert profile.mime_type == "text/markdown"
        shown = profile.model_dump()["text"]
        assert "## user\n\n- I live in Lisbon now." in shown
        assert "## Ana\n\n- Ana works at Globex." in shown
        assert "Porto" not in shown
        assert "superseded: I live in Porto." in changes.model_dump()["text"]

    talk(service, mode, say)


@MODES
def test_a_paused_client_is_told_so_in_every_tool_and_others_go_on(service: ServiceProcess, mode: str) -> None:
    owner = service.client()
    name = f"paused-{mode}"

    async def say(client: Client) -> None:
        assert not (await call(client, "memory_namespaces")).is_error
        await asyncio.to_thread(owner.change_client, name, ClientChange(paused=True))
        for tool, arguments in (("memory_search", {"query": "tea"}), ("memory_add", {"text": "I like tea."}), ("memory_namespaces", {})):
            refused = await call(client, tool, **arguments)
            assert refused.is_error
            assert f"paused for {name}" in text_of(refused)
        await asyncio.to_thread(owner.change_client, name, ClientChange(paused=False))
        assert not (await call(client, "memory_namespaces")).is_error

    talk(service, mode, say, name=name)


VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


class Session:
    """A client of an older protocol version, message by message."""

    def __init__(self, service: ServiceProcess, version: str) -> None:
        self._port, self._version = service.live.port, version
        self._headers: dict[str, str] = {
            "Authorization": f"Bearer {admin_token(service.root)}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self.negotiated = self._start()

    def ask(self, method: str, **params: object) -> dict[str, object]:
        reply = self._post({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        data = [line[len(b"data: ") :] for line in reply.splitlines() if line.startswith(b"data: ")]
        answer = json.loads(data[-1] if data else reply)
        assert "result" in answer, answer
        return answer["result"]

    def end(self) -> int:
        return send(self._port, "DELETE", "/mcp", self._headers).status

    def status(self, method: str) -> int:
        body = json.dumps({"jsonrpc": "2.0", "id": 8, "method": method, "params": {}}).encode()
        return send(self._port, "POST", "/mcp", self._headers, body).status

    def _start(self) -> str:
        client = {"protocolVersion": self._version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
        reply = send(self._port, "POST", "/mcp", self._headers, json.dumps(body).encode())
        assert reply.status == 200, reply
        line = next(line for line in reply.body.splitlines() if line.startswith(b"data: "))
        negotiated = json.loads(line[len(b"data: ") :])["result"]["protocolVersion"]
        self._headers |= {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": negotiated}
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return negotiated

    def _post(self, message: dict[str, object]) -> bytes:
        reply = send(self._port, "POST", "/mcp", self._headers, json.dumps(message).encode())
        assert reply.status < 300, reply
        return reply.body


@pytest.mark.parametrize("version", VERSIONS)
def test_every_protocol_version_with_a_session_is_spoken(service: ServiceProcess, version: str) -> None:
    session = Session(service, version)
    assert session.negotiated == version
    tools = session.ask("tools/list")["tools"]
    assert isinstance(tools, list)
    assert len(tools) == 10
    result = session.ask("tools/call", name="memory_search", arguments={"query": "tea"})
    assert not result.get("isError", False)
    assert session.ask("ping") == {}


def test_a_session_that_its_client_ended_stays_ended(service: ServiceProcess) -> None:
    session = Session(service, "2025-06-18")
    assert session.end() == 200
    assert session.status("tools/list") == 404
