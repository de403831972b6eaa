"""`/mcp` before there is anything behind it: what is behind it takes as long to load as all the rest of the service, and no search over HTTP needs it.

So the service listens first. The endpoint is loaded when somebody asks for it, or when there is nothing better to do; whoever asks waits for it.
A load may fail for a while only (an update that is half done, no memory or files left): it is told, and a call after a rest tries once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from starlette.types import Receive, Scope, Send

from lean_memory.errors import ClosedError
from lean_memory_bridge.maintenance import Maintenance

log = logging.getLogger(__name__)

_REST = 10
"""Seconds after a load that failed in which it is not tried again: it takes a while, and whoever asks meanwhile would wait for nothing."""
_BROKEN = (
    "What speaks MCP could not be loaded, so nothing was done; the service's log tells more. The memory's window and commands work. "
    f"A call after {_REST} seconds tries it again."
)


class Endpoint(Protocol):
    """An ASGI app that serves inside `running()`."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """While this is entered, requests are served."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        ...


class McpDoor:
    """An ASGI app for `/mcp`; serves inside `running()`. `make` loads the endpoint and makes it, in a thread; `rest` is waited for after it failed."""

    def __init__(self, make: Callable[[], Endpoint], *, rest: Callable[[], Awaitable[object]] = lambda: asyncio.sleep(_REST)) -> None:
        self._make, self._rest = make, rest
        self._wanted, self._over = asyncio.Event(), asyncio.Event()
        self._made: asyncio.Future[Endpoint]

    def open(self) -> None:
        """Begin to load the endpoint, if that has not begun."""
        self._wanted.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While this is entered, requests are served; leaving it ends every session."""
        self._made = asyncio.get_running_loop().create_future()
        keeping = asyncio.create_task(self._keep_serving())
        try:
            yield
        finally:
            self._over.set()
            self._wanted.set()
            await asyncio.wait([keeping])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.open()
        # Whoever goes while it waits must not take the endpoint from the others.
        endpoint = await asyncio.shield(self._made)
        await endpoint(scope, receive, send)

    async def _keep_serving(self) -> None:
        """Load and serve when it is wanted; after a failure tell everybody who asks during a rest, and load anew when it is wanted after it."""
        while True:
            await self._wanted.wait()
            if not self._over.is_set():
                serving = asyncio.create_task(self._serve())
                serving.add_done_callback(_log_crash)
                await asyncio.wait([serving])
            self._tell_all()
            if self._over.is_set():
                return
            await self._wait_a_while()
            if not self._over.is_set():
                self._wanted.clear()
                self._made = asyncio.get_running_loop().create_future()

    async def _serve(self) -> None:
        """Enter and leave what is behind the door in one task, as its library demands."""
        endpoint = await asyncio.to_thread(self._make)
        async with endpoint.running():
            self._made.set_result(endpoint)
            await self._over.wait()

    def _tell_all(self) -> None:
        """Have everybody who waits, and who comes from now on, told that there is nothing behind the door."""
        if self._made.done():
            self._made = asyncio.get_running_loop().create_future()
        self._made.set_exception(ClosedError(_BROKEN))
        # Nobody may be waiting for it; the log tells of it all the same.
        self._made.exception()

    async def _wait_a_while(self) -> None:
        """Until the rest is over, or everything is."""
        resting, ending = asyncio.ensure_future(self._rest()), asyncio.ensure_future(self._over.wait())
        await asyncio.wait([resting, ending], return_when=asyncio.FIRST_COMPLETED)
        resting.cancel()
        ending.cancel()
        await asyncio.wait([resting, ending])


def loaded(maintenance: Maintenance, version: str, stopping: asyncio.Event) -> Endpoint:
    """The endpoint, with a server over these verbs."""
    from lean_memory_bridge.mcp_endpoint import McpEndpoint
    from lean_memory_bridge.mcp_server import MemoryServer

    return McpEndpoint(lambda: MemoryServer(maintenance, version, stopping))


def _log_crash(serving: asyncio.Task[None]) -> None:
    error = None if serving.cancelled() else serving.exception()
    if error is not None:
        log.error("MCP is not served: %s", type(error).__name__, exc_info=error)
