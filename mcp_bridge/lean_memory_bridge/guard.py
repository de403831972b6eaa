"""The door: every request to every route passes it first, whatever the route is for.

It lets in what is addressed to this service by its own name and port, was not sent by a page of another origin, and carries a good
token in the Authorization header. Pure ASGI, so that streams are not held up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.callers import Caller, Callers
from lean_memory_bridge.client_book import OWNER
from lean_memory_bridge.runtime import CLIENT_HEADER
from lean_memory_bridge.streams import Streams
from lean_memory_bridge.window import KEY_HEADER, WindowDoor, cookie_name

CALLER = "lean_memory.caller"
"""The key of the ASGI scope that holds the `Caller`."""
OPEN_PATHS = frozenset({"/healthz", "/", "/api/v1/window/session"})
"""What answers without a token: the handshake, by which the service proves itself to the caller; the page, which holds nothing of the
person's; and the exchange of the page's one-time code."""
OPEN_FOLDER = "/static/"
"""The files of the page."""

_TOKEN_NAMES = frozenset({"token", "access_token", "admin_token", "bearer", "authorization", "api_key", "apikey", "key"})
_LONGEST_TOKEN = 512
_MCP_METHOD, _MCP_LISTENING = "mcp-method", "subscriptions/listen"
"""Since 2026-07-28 an MCP client listens by a POST; the library sees to it that this header tells the truth."""
_WITH_STATUS: Mapping[int, Mapping[bytes, bytes]] = {
    401: {b"www-authenticate": b"Bearer"},
    408: {b"connection": b"close"},
    503: {b"connection": b"close", b"retry-after": b"1"},
}
_HEARD_OUT = 65_536
_HEARD_OUT_SECONDS = 5.0
"""How much of a request that is refused is still taken in, and for how long."""


class Guard:
    """ASGI middleware in front of everything; `port` is the one the service listens on."""

    def __init__(self, app: ASGIApp, *, port: int, callers: Callers, streams: Streams, window: WindowDoor) -> None:
        self._app, self._callers, self._streams, self._window = app, callers, streams, window
        self._cookie = cookie_name(port)
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refusal = self._misdirected(headers, scope) or _token_in_address(scope)
        if refusal is not None:
            await refuse(receive, send, *refusal)
        elif is_open(scope["path"], scope["method"]):
            await self._app(scope, receive, send)
        else:
            await self._with_token(headers, scope, receive, send)

    def _misdirected(self, headers: Headers, scope: Scope) -> tuple[int, str] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This address is not the memory's: its name is 127.0.0.1 or localhost, with its port."
        if any(origin.lower() not in self._origins for origin in headers.getlist("origin")):
            return 403, "Pages of other origins have no access to the memory."
        if any(site not in {"same-origin", "none"} for site in headers.getlist("sec-fetch-site")) and not _is_link_to_page(headers, scope):
            return 403, "Pages of other sites have no access to the memory."
        return None

    def _is_window(self, headers: Headers, scope: Scope) -> bool:
        """Whether the page of a browser that was let in asks: by its cookie and its key, and by nothing else."""
        keys, cookies = headers.getlist(KEY_HEADER), headers.getlist("cookie")
        if len(keys) != 1 or len(cookies) != 1 or "authorization" in headers or CLIENT_HEADER in headers:
            return False
        held = [value for name, _, value in (one.strip().partition("=") for one in cookies[0].split(";")) if name == self._cookie]
        return len(held) == 1 and scope["path"].startswith("/api/") and self._window.knows(held[0], keys[0])

    async def _with_token(self, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        token = _bearer(headers)
        names = headers.getlist(CLIENT_HEADER)
        try:
            caller = None
            if self._is_window(headers, scope):
                caller = Caller(name=OWNER, is_owner=True)
            elif token is not None and len(names) <= 1:
                caller = await asyncio.to_thread(self._callers.of, token, names[0] if names else None)
        except LeanMemoryError as error:
            await refuse(receive, send, 400, str(error), type(error).__name__)
            return
        if caller is None:
            await refuse(
                receive, send, 401, "A good token is needed: `Authorization: Bearer …`. `lean-memory clients token NAME` makes one."
            )
            return
        scope[CALLER] = caller
        lasting = scope["method"] == "GET" or headers.get(_MCP_METHOD) == _MCP_LISTENING
        await self._streams.run(caller.name, self._app, scope, receive, send, lasting=lasting)


def is_open(path: str, method: str) -> bool:
    """Whether a request is answered without a token; of the exchange of a code only the way in."""
    if path in OPEN_PATHS:
        return path != "/api/v1/window/session" or method == "POST"
    return path.startswith(OPEN_FOLDER)


def _is_link_to_page(headers: Headers, scope: Scope) -> bool:
    """A link on another site may lead to the page, which is the same for everybody; it may neither frame nor fetch it."""
    wanted = (headers.getlist("sec-fetch-mode"), headers.getlist("sec-fetch-dest"))
    return scope["path"] == "/" and scope["method"] == "GET" and wanted == (["navigate"], ["document"])


def _bearer(headers: Headers) -> str | None:
    given = headers.getlist("authorization")
    if len(given) != 1:
        return None
    scheme, _, token = given[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" and 0 < len(token) <= _LONGEST_TOKEN else None


def _token_in_address(scope: Scope) -> tuple[int, str] | None:
    """A token in an address ends up in logs and histories: such a request is refused even if it carries a good one as well."""
    query = scope["query_string"].decode("latin-1")
    if any(name.lower() in _TOKEN_NAMES for name, _ in parse_qsl(query, keep_blank_values=True)):
        return 400, "A token does not belong into an address; send it as `Authorization: Bearer …`. Change the token that was sent."
    return None


async def refuse(receive: Receive, send: Send, status: int, sentence: str, error: str = "RefusedError") -> None:
    """Answer a request with a refusal."""
    await _hear_out(receive)
    headers, body = refusal(status, sentence, error)
    await send({"type": "http.response.start", "status": status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": body})


def refusal(status: int, sentence: str, error: str = "RefusedError") -> tuple[dict[bytes, bytes], bytes]:
    """The headers and the body of a refusal."""
    body = json.dumps({"error": error, "message": sentence}).encode()
    extra = _WITH_STATUS.get(status, {})
    return {b"content-type": b"application/json", b"content-length": str(len(body)).encode(), b"cache-control": b"no-store", **extra}, body


async def _hear_out(receive: Receive) -> None:
    """Take in a little of what is being sent: a connection that ends on unread bytes may lose the answer on its way."""
    left = _HEARD_OUT
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_HEARD_OUT_SECONDS):
            while left > 0:
                message = await receive()
                if not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
