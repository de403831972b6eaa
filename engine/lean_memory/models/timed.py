"""HTTP to another process of this machine, with a deadline for the whole of a call: one that drips keeps nobody longer than one that is mute."""

from __future__ import annotations

import http.client
import socket
from time import monotonic
from typing import Any

LARGEST_ANSWER = 64 << 20
"""Bytes of an answer that are taken in; more than the vectors of any batch."""


class TimedConnection(http.client.HTTPConnection):
    """A connection whose calls must be over by `ends`, in seconds of the monotonic clock; what takes longer raises `TimeoutError`."""

    ends: float = 0.0

    def connect(self) -> None:
        """Open the connection."""
        self.timeout = _left(self.ends)
        super().connect()
        plain: socket.socket = self.sock
        self.sock = _TimedSocket(plain)

    def ask(self, method: str, path: str, body: bytes, headers: dict[str, str], *, most: int = LARGEST_ANSWER) -> tuple[int, bytes]:
        """The status and the content of the answer. Raises `OSError`, or `HTTPException` for one that is longer than `most` bytes."""
        if isinstance(self.sock, _TimedSocket):
            self.sock.ends = self.ends
            self.sock.settimeout(_left(self.ends))
        self.request(method, path, body, headers)
        if isinstance(self.sock, _TimedSocket):
            self.sock.ends = self.ends
        # Closed also where it breaks off, as it may be what holds the socket by then.
        with self.getresponse() as answer:
            content = answer.read(most + 1)
        if len(content) > most:
            raise http.client.HTTPException("an answer without an end")
        return answer.status, content


class _TimedSocket(socket.socket):
    """Takes over an open socket, and waits for what it receives until `ends` only."""

    ends: float = 0.0

    def __init__(self, plain: socket.socket) -> None:
        patience = plain.gettimeout()
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self.settimeout(patience)

    def recv_into(self, *given: Any, **more: Any) -> int:
        self.settimeout(_left(self.ends))
        return super().recv_into(*given, **more)


def _left(ends: float) -> float:
    left = ends - monotonic()
    if left <= 0.0:
        raise TimeoutError("the time for this call is over")
    return left
