"""HTTP to one instance of the service: connections that are kept, and answers message by message."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import threading
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field

from lean_memory_bridge.proven import ProvenConnection
from lean_memory_bridge.runtime import CLIENT_HEADER, Live

PATH = "/mcp"
_PATIENCE = 600.0
_KEPT = 16

BROKEN = (OSError, http.client.HTTPException)
"""What a connection raises when the other side is gone or talks nonsense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The head of an answer, and its messages as they arrive."""

    status: int
    session: str | None
    messages: Iterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Speaks to the service `live` with the token of the data root, in the name of `client`."""

    live: Live
    token: str
    client: str
    _idle: list[http.client.HTTPConnection] = field(default_factory=list[http.client.HTTPConnection])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def post(self, body: bytes, headers: Mapping[str, str]) -> Generator[Reply]:
        """Send one message; the block reads the answer. Raises what is in `BROKEN`."""
        connection = self._connection()
        try:
            connection.request("POST", PATH, body, {**self._headers(), "Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            yield Reply(status=answer.status, session=answer.getheader("Mcp-Session-Id"), messages=_messages(answer))
            answer.read()
        except BaseException:
            connection.close()
            raise
        self._keep(connection)

    @contextlib.contextmanager
    def listen(self, headers: Mapping[str, str]) -> Generator[Reply]:
        """Open the stream for what the service says unasked."""
        connection = ProvenConnection(self.live, self.token)
        with contextlib.closing(connection):
            connection.request("GET", PATH, headers={**self._headers(), "Accept": "text/event-stream", **headers})
            answer = connection.getresponse()
            yield Reply(status=answer.status, session=None, messages=_messages(answer))

    def end_session(self, headers: Mapping[str, str]) -> None:
        """Tell the service that the client is leaving; it does not matter whether that arrives."""
        connection = ProvenConnection(self.live, self.token, timeout=2)
        with contextlib.closing(connection), contextlib.suppress(*BROKEN):
            connection.request("DELETE", PATH, headers={**self._headers(), **headers})
            connection.getresponse().read()

    def close(self) -> None:
        """Let go of the connections that nobody uses."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            CLIENT_HEADER: self.client,
        }

    def _connection(self) -> http.client.HTTPConnection:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if _is_open(connection):
                    return connection
                connection.close()
        return ProvenConnection(self.live, self.token, timeout=_PATIENCE)

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
        connection.close()


def _is_open(connection: http.client.HTTPConnection) -> bool:
    """Whether a connection at rest can still be used: the other side says nothing unasked, except that it has closed."""
    if connection.sock is None:
        return False
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return not readable


def _messages(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The JSON texts of an answer, each on one line."""
    if (answer.getheader("Content-Type") or "").startswith("text/event-stream"):
        yield from _events(answer)
    else:
        body = answer.read().strip()
        if body:
            yield body.replace(b"\r", b"").replace(b"\n", b"")


def _events(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    data: list[bytes] = []
    while line := answer.readline():
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].lstrip(b" "))
        elif not line and data:
            event = b"\n".join(data).strip()
            data = []
            if event:
                yield event.replace(b"\n", b"")


def error_sentence(status: int, body: bytes) -> str:
    """What the service says about a request it refused."""
    try:
        held = json.loads(body)
        return str(held["message"])
    except (ValueError, KeyError, TypeError):
        return f"The memory service answered with HTTP status {status}."
