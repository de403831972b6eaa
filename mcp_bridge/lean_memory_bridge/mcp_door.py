"""`/mcp` before there is anything behind it: what is behind it takes as long to load as all the rest of the service, and no search over HTTP needs it.

So the service listens first. The endpoint is loaded when somebody asks for it, or when there is nothing better to do; whoever asks waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from starlette.types import Receive, Scope, Send

from lean_memory.errors import ClosedError
from lean_memory_bridge.maintenance import Maintenance

log = logging.getLogger(__name__)

_BROKEN = "What speaks MCP could not be loaded, so nothing was done; the service's log tells more. The memory's window and commands work."


class Endpoint(Protocol):
    """An ASGI app that serves inside `running()`."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """While this is entered, requests are served."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        ...


class McpDoor:
    """An ASGI app for `/mcp`; serves inside `running()`. `make` loads the endpoint and makes it, in a thread and at most once."""

    def __init__(self, make: Callable[[], Endpoint]) -> None:
        self._make = make
        self._wanted, self._over = asyncio.Event(), asyncio.Event()
        self._made: asyncio.Future[Endpoint]

    def open(self) -> None:
        """Begin to load the endpoint, if that has not begun."""
        self._wanted.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While this is entered, requests are served; leaving it ends every session."""
        self._made = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(self._serve())
        serving.add_done_callback(_log_crash)
        try:
            yield
        finally:
            self._over.set()
            self._wanted.set()
            await asyncio.wait([serving])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.open()
        # Whoever goes while it waits must not take the endpoint from the others.
        endpoint = await asyncio.shield(self._made)
        await endpoint(scope, receive, send)

    async def _serve(self) -> None:
        """Enter and leave what is behind the door in one task, as its library demands."""
        await self._wanted.wait()
        try:
            if self._over.is_set():
                return
            endpoint = await asyncio.to_thread(self._make)
            async with endpoint.running():
                self._made.set_result(endpoint)
                await self._over.wait()
        finally:
            if not self._made.done():
                self._made.set_exception(ClosedError(_BROKEN))
                # Nobody may be waiting for it; the log tells of it all the same.
                self._made.exception()


def loaded(maintenance: Maintenance, version: str, stopping: asyncio.Event) -> Endpoint:
    """The endpoint, with a server over these verbs."""
    from lean_memory_bridge.mcp_endpoint import McpEndpoint
    from lean_memory_bridge.mcp_server import MemoryServer

    return McpEndpoint(lambda: MemoryServer(maintenance, version, stopping))


def _log_crash(serving: asyncio.Task[None]) -> None:
    error = None if serving.cancelled() else serving.exception()
    if error is not None:
        log.error("MCP is not served: %s", type(error).__name__, exc_info=error)
