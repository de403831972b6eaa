"""The socket the service listens on, and the HTTP server around it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from lean_memory_bridge.connections import Config, Connection, Limits, make_room
from lean_memory_bridge.runtime import DEFAULT_PORT, HOST

LONGEST_DRAIN = 25
"""Seconds that requests get to finish when the service stops; more than the longest add."""

_TRIED = 50
_BACKLOG = 128
_LOOK = 0.5
"""Seconds between two looks over the connections."""


def bound(preferred: Iterable[int]) -> socket.socket:
    """A socket on this computer only: on the first port of `preferred` that is free, else on the next free one from the default on.

    Raises `OSError` where not even the system finds a free port.
    """
    for port in (*preferred, *range(DEFAULT_PORT, DEFAULT_PORT + _TRIED)):
        with contextlib.suppress(OSError):
            return _bind(port)
    return _bind(0)


class Server(uvicorn.Server):
    """Serves an app until told to stop. `listening` is called once requests are answered, `stopping` when it begins to end."""

    def __init__(self, app: ASGIApp, *, listening: Callable[[], None], stopping: Callable[[], None], limits: Limits | None = None) -> None:
        super().__init__(
            Config(
                app,
                limits or Limits(),
                host=HOST,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                lifespan="on",
                # asyncio accepts so many in one go before it looks at any.
                backlog=_BACKLOG,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=LONGEST_DRAIN,
            )
        )
        self._listening, self._stopping = listening, stopping
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()

    def stop(self) -> None:
        """Finish what is being done, then end. Any thread and any signal handler may call it."""
        self.should_exit = True
        # Where the loop is closed it has ended.
        with contextlib.suppress(RuntimeError):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._told.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then say so."""
        make_room()
        await super().startup(sockets)
        if self.started:
            self._listening()

    async def main_loop(self) -> None:
        """Look over the connections twice a second until told to stop; uvicorn's own loop would wake ten times in one, all day long."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            for connection in self._connections():
                connection.look_over()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what stays open, then wait for the rest."""
        self._stopping()
        for connection in self._connections():
            connection.leave()
        await super().shutdown(sockets)

    def _connections(self) -> list[Connection]:
        return [one for one in self.server_state.connections if isinstance(one, Connection)]

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop in good order on the usual signals, and not raise them again afterwards: the end is a normal one then."""
        if threading.current_thread() is not threading.main_thread():
            # Only that one can be told of signals.
            yield
            return
        names = ("SIGINT", "SIGTERM", "SIGBREAK") if sys.platform == "win32" else ("SIGINT", "SIGTERM")

        def stop(_number: int, _frame: FrameType | None) -> None:
            self.stop()

        before = {number: signal.signal(number, stop) for number in (getattr(signal, name) for name in names)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _bind(port: int) -> socket.socket:
    # Named, as asyncio turns off the waiting for full packets only where it sees that this is TCP; else every answer takes 40 ms longer.
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        # Bound is not taken yet: of two that bind the same port on Linux, the first to listen has it.
        found.listen(_BACKLOG)
    except BaseException:
        found.close()
        raise
    found.setblocking(False)
    return found
