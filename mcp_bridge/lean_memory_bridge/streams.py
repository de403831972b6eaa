"""Answers that stay open, so that they can be ended: when the service stops, and when a client is paused or loses its token."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Streams:
    """The requests that may stay open, by client. Belongs to one event loop."""

    def __init__(self) -> None:
        self._open: defaultdict[str, set[anyio.CancelScope]] = defaultdict(set)
        self._stopping = False

    async def run(self, client: str, app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, lasting: bool) -> None:
        """Run an ASGI app until it ends or, if it is `lasting`, its client's streams are ended; then the response is closed in good order."""
        progress = _Progress(send)
        with anyio.CancelScope() as limit:
            if lasting:
                self._open[client].add(limit)
                if self._stopping:
                    limit.cancel()
            try:
                await app(scope, receive, progress.send)
            except asyncio.CancelledError:
                if limit.cancel_called or not self._stopping:
                    raise
                # The server has waited for long enough and ends.
                await progress.close()
            finally:
                self._open[client].discard(limit)
        if limit.cancelled_caught:
            await progress.close()

    def end(self, client: str) -> None:
        """End the streams of one client."""
        for limit in tuple(self._open[client]):
            limit.cancel()

    def end_all(self) -> None:
        """End every stream, and those that are still to come."""
        self._stopping = True
        for client in tuple(self._open):
            self.end(client)


class _Progress:
    """How far a response has come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = self._finished = False

    async def send(self, message: Message) -> None:
        await self._send(message)
        self._started = self._started or message["type"] == "http.response.start"
        self._finished = self._finished or (message["type"] == "http.response.body" and not message.get("more_body", False))

    async def close(self) -> None:
        if not self._started:
            await self.send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
        if not self._finished:
            await self.send({"type": "http.response.body", "body": b""})
