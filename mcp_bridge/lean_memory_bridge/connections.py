"""How long a connection may keep the service waiting, and how many may do so that have shown no token yet.

Anything on this computer can connect. Without limits a program that connects and says nothing, or stops in the middle of a request, would
take the service's file descriptors one by one. A connection on which a good token was shown once may stay open, rest, and be answered for as
long as it likes; whatever it begins to send, it has to go on sending. The server looks over all connections twice a second.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

import h11
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from lean_memory_bridge.guard import CALLER, refusal, refuse

if sys.platform != "win32":
    import resource

_FULL = "So many connections are open that this one was refused; nothing was done. Try again in a moment."
_LATE = "This request was not sent to its end in time; nothing was done."
_TOO_LATE = 408
_REFUSED = 503
_WANTED_DESCRIPTORS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds, and a number of connections. A stranger is a connection on which no good token was shown yet."""

    head: float = 10.0
    """From the first byte of a request's head to its end; for strangers from the moment at which they could have begun."""
    request: float = 30.0
    """For a stranger's request, from the end of its head to the end of its answer."""
    stall: float = 30.0
    """Between two bytes of a request's body."""
    strangers: int = 128
    """How many there may be at once. One more takes the place of the oldest, unless that one, too, has only just come: then it is refused."""
    fresh: float = 1.0
    """How long a connection has only just come. One that is refused gets as long to ask and hear of it."""
    goodbye: float = 5.0
    """What is left to be sent when a connection is closed must be taken in by then."""
    now: Callable[[], float] = monotonic


class Config(uvicorn.Config):
    """A server's set-up whose connections keep to `limits`."""

    def __init__(self, app: Any, limits: Limits, **others: Any) -> None:
        super().__init__(app, http=Connection, **others)
        self.limits = limits


class Connection(H11Protocol):
    """One connection to the service. Belongs to the event loop; `look_over` is to be called about twice a second."""

    def __init__(self, config: uvicorn.Config, *others: Any, **more: Any) -> None:
        super().__init__(config, *others, **more)
        self._limits = cast("Config", config).limits
        self._since = self._heard = self._made = self._limits.now()
        self._closing_since: float | None = None
        self._has_begun = self._was_known = self._is_refused = False

    @property
    def _is_stranger(self) -> bool:
        # The server's first thought of a scope is `None`, whatever its types say.
        scope = cast("dict[str, object] | None", self.scope)
        return not (self._was_known or (scope is not None and CALLER in scope))

    @property
    def _is_between(self) -> bool:
        """Whether no request is being received or answered."""
        return cast("object", self.cycle) is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, where there is room."""
        super().connection_made(transport)
        if len(self.connections) <= self._limits.strangers:
            return
        every = [one for one in cast("set[object]", self.connections) if isinstance(one, Connection)]
        others = [one for one in every if one._is_stranger and not one.transport.is_closing()]
        strangers = [one for one in others if not one._is_refused]
        if len(strangers) <= self._limits.strangers:
            return
        oldest = min(strangers, key=lambda one: one._made)
        if self._limits.now() - oldest._made >= self._limits.fresh:
            oldest._turn_out(_REFUSED, _FULL)
        elif len(others) - len(strangers) < self._limits.strangers:
            self._is_refused = True
            self.app = cast("Any", _no_room)
        else:
            self._turn_out(_REFUSED, _FULL)

    def data_received(self, data: bytes) -> None:
        """Take in what was sent."""
        self._heard = self._limits.now()
        if self._is_between and not self._has_begun:
            self._has_begun = True
            if not self._is_stranger:
                self._since = self._heard
        super().data_received(data)

    def handle_events(self) -> None:
        """Go on with what was taken in, which may begin a request."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before and not self.cycle.response_complete:
            self._since = self._heard = self._limits.now()

    def on_response_complete(self) -> None:
        """Rest until the next request."""
        self._was_known = not self._is_stranger
        self._since, self._has_begun = self._limits.now(), False
        super().on_response_complete()

    def look_over(self) -> None:
        """Close what keeps the service waiting for too long."""
        now = self._limits.now()
        if self.transport.is_closing():
            self._closing_since = now if self._closing_since is None else self._closing_since
            if now - self._closing_since >= self._limits.goodbye:
                self.transport.abort()
        elif self._is_overdue(now):
            self._turn_out(_TOO_LATE, _LATE)

    def leave(self) -> None:
        """End what nobody with a token waits for, as the service ends."""
        if self._is_stranger and self._limits.now() - self._since >= self._limits.fresh:
            self._turn_out(_TOO_LATE, _LATE)

    def _is_overdue(self, now: float) -> bool:
        limits = self._limits
        if self._is_refused:
            return now - self._made >= limits.fresh
        if self._is_between:
            # Of a client that rests between two requests uvicorn's own limit takes care.
            return (self._is_stranger or self._has_begun) and now - self._since >= limits.head
        if self._is_stranger:
            return now - self._since >= limits.request
        if self.flow.read_paused:
            # It is we who do not listen.
            self._heard = now
        return self.cycle.more_body and now - self._heard >= limits.stall

    def _turn_out(self, status: int, sentence: str) -> None:
        """Close the connection, with a sentence where a request was begun and nothing was answered yet."""
        if self._is_between:
            is_silent = self.conn.our_state is h11.IDLE
            is_owed = self._has_begun or status == _REFUSED
        else:
            is_silent = not self.cycle.response_started
            is_owed = True
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.transport.get_write_buffer_size() > 0:
            self.transport.abort()
            return
        if is_silent and is_owed:
            self.transport.write(_raw(status, sentence))
        self.transport.close()


def make_room() -> None:
    """Let this process have as many open files as the system allows it, up to some thousands: some systems begin with 256."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _WANTED_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _no_room(_: Scope, receive: Receive, send: Send) -> None:
    await refuse(receive, send, _REFUSED, _FULL)


def _raw(status: int, sentence: str) -> bytes:
    """A whole answer, for a connection that ends with it."""
    headers, body = refusal(status, sentence)
    phrase = {_TOO_LATE: b"Request Timeout", _REFUSED: b"Service Unavailable"}[status]
    lines = [b"HTTP/1.1 %d %s" % (status, phrase), *(b"%s: %s" % pair for pair in headers.items())]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
