"""`/mcp`: streamable HTTP for every protocol version, in such a way that clients do not notice a restart.

Versions up to 2025-11-25 keep a session, which lives in this process. After a restart a client still sends its old session's id; the protocol
answers 404 then, and many clients give up. Such a request is answered without a session instead, as everything but questions to the
person works without one. A session that the client itself has ended stays ended.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from lean_memory_bridge.callers import Caller
from lean_memory_bridge.guard import CALLER
from lean_memory_bridge.half_characters import Mended
from lean_memory_bridge.schemas import LARGEST_BODY

_SESSION = "mcp-session-id"
_REMEMBERED = 10_000
_NOT_FOUND = 404


class McpEndpoint:
    """An ASGI app for `/mcp`; serves inside `running()`. `make` gives a server, once for each way of serving it."""

    def __init__(self, make: Callable[[], MCPServer[Any] | Server[Any]]) -> None:
        self._with_sessions = _manager(make(), stateless=False)
        self._without = _manager(make(), stateless=True)
        self._ended: OrderedDict[str, None] = OrderedDict()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While this is entered, requests are served; leaving it ends every session."""
        async with self._with_sessions.run(), self._without.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if CALLER in scope:
            # The library ties a session to whoever opened it by this user.
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=cast("Caller", scope[CALLER]).name, scopes=[]))
        if scope["method"] == "POST":
            receive = Mended(receive, scope, LARGEST_BODY).receive
        session = Headers(scope=scope).get(_SESSION)
        if session is None:
            await self._with_sessions.handle_request(scope, receive, send)
            return
        request = _Replayed(receive)
        answer = _Unless404(send)
        await self._with_sessions.handle_request(scope, request.receive, answer.send)
        if scope["method"] == "DELETE" and not answer.withheld:
            self._end(session)
        if answer.withheld:
            await self._revive(session, scope, request, send)

    async def _revive(self, session: str, scope: Scope, request: _Replayed, send: Send) -> None:
        """Answer for a session of an earlier process."""
        if session in self._ended or scope["method"] == "DELETE":
            await Response("Session not found", status_code=_NOT_FOUND)(scope, request.again, send)
        elif scope["method"] == "GET":
            # Without a session there is nothing to listen to; this status tells the client that it need not.
            await Response("No stream is offered", status_code=405, headers={"allow": "POST"})(scope, request.again, send)
        else:
            await self._without.handle_request(scope, request.again, send)

    def _end(self, session: str) -> None:
        self._ended[session] = None
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)


class _Replayed:
    """A request whose body, already whole, can be read a second time."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read: list[Message] = []

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read.append(message)
        return message

    async def again(self) -> Message:
        return self._read.pop(0) if self._read else await self._receive()


class _Unless404:
    """Passes a response on, unless it is a 404."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.withheld = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.withheld = message["status"] == _NOT_FOUND
        if not self.withheld:
            await self._send(message)


def _manager(server: MCPServer[Any] | Server[Any], *, stateless: bool) -> StreamableHTTPSessionManager:
    # The door before all routes has checked Host and Origin.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(
        streamable_http_path="/mcp", stateless_http=stateless, transport_security=unguarded, max_request_body_size=LARGEST_BODY
    )
    return server.session_manager
