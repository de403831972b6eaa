"""The official MCP client, connected to a service over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult, TextContent

from lean_memory_bridge.runtime import CLIENT_HEADER, admin_token
from support.service import ServiceProcess


@contextlib.asynccontextmanager
async def connected(
    service: ServiceProcess, name: str, *, mode: str = "auto", answers: str | None = None, key: str | None = None
) -> AsyncGenerator[Client]:
    """A client that speaks for `name`; `answers` is what its person says to a question: accept, refuse, decline or cancel.

    With a `key` all its calls are sent under that one, as a shim does with a call that it sends again.
    """
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", CLIENT_HEADER: name, **({"Idempotency-Key": key} if key else {})}

    async def on_question(_context: Any, asked: Any) -> ElicitResult:
        if answers in {"accept", "refuse"}:
            return ElicitResult(action="accept", content=dict.fromkeys(asked.requested_schema["properties"], answers == "accept"))
        return ElicitResult(action="decline" if answers == "decline" else "cancel")

    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{service.live.address}/mcp", http_client=http)
        asking: dict[str, Any] = {} if answers is None else {"elicitation_callback": on_question}
        async with Client(transport, mode=mode, **asking) as client:
            yield client


async def call(client: Client, tool: str, **arguments: object) -> CallToolResult:
    """The result of a tool."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    """What an assistant reads."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
