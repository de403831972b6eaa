"""Who connects and says nothing, or stops in the middle, is turned out in time; whoever has shown a token may stay. Real sockets, a clock of our own."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from starlette.types import Receive, Scope, Send

from lean_memory_bridge import listening
from lean_memory_bridge.connections import Limits
from lean_memory_bridge.guard import CALLER
from lean_memory_bridge.listening import Server, bound

PATIENCE = 30
STRANGERS = 4
KNOWN = b"Authorization: Bearer good\r\n"


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Served:
    """A server in a thread, whose app knows the token `good`, answers `/stream` with parts that are let go one by one, and anything else at once."""

    clock: Clock = field(default_factory=Clock)
    listener: socket.socket = field(default_factory=lambda: bound([0]))
    port: int = 0
    parts: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    server: Server = field(init=False)

    def __post_init__(self) -> None:
        self.port = self.listener.getsockname()[1]
        self.up, self.over, self.asked = threading.Event(), threading.Event(), threading.Event()
        limits = Limits(strangers=STRANGERS, now=self.clock)
        self.server = Server(self, listening=self.up.set, stopping=lambda: None, limits=limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for done in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{done}.complete"})
            return
        if (b"authorization", b"Bearer good") in scope["headers"]:
            scope[CALLER] = "known"
        self.asked.set()
        while scope["method"] == "POST":
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if not message["more_body"]:
                break
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while scope["path"] == "/stream" and not self.over.is_set():
            await send({"type": "http.response.body", "body": b"part", "more_body": True})
            await asyncio.to_thread(self.parts.acquire)
        await send({"type": "http.response.body", "body": b"done"})

    def connect(self, said: bytes = b"") -> socket.socket:
        found = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        found.sendall(said)
        return found

    def settled(self, count: int) -> None:
        """Return once the server has `count` connections."""
        turn = threading.Event()
        for _ in range(PATIENCE * 100):
            if len(self.server.server_state.connections) == count:
                return
            turn.wait(0.01)
        raise AssertionError(len(self.server.server_state.connections))

    def heard(self, connection: socket.socket, step: float = 11.0) -> bytes:
        """Everything that comes until the other side closes; the clock goes on by `step` seconds whenever nothing comes."""
        said = b""
        connection.settimeout(0.1)
        with connection:
            for _ in range(PATIENCE * 10):
                try:
                    part = connection.recv(65_536)
                except TimeoutError:
                    self.clock.now += step
                    continue
                if not part:
                    return said
                said += part
        raise AssertionError(said)


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    thread = threading.Thread(target=made.server.run, args=([made.listener],))
    thread.start()
    assert made.up.wait(PATIENCE)
    yield made
    made.server.stop()
    made.over.set()
    made.parts.release()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def request(path: str = "/", headers: bytes = b"", method: bytes = b"GET") -> bytes:
    return method + b" " + path.encode() + b" HTTP/1.1\r\nHost: here\r\n" + headers + b"\r\n"


def answered(connection: socket.socket) -> None:
    """Read one answer of the app, and leave the connection open."""
    said = b""
    while not said.endswith(b"0\r\n\r\n"):
        part = connection.recv(65_536)
        assert part, said
        said += part
    assert said.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        pytest.param(b"", b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: he", b"HTTP/1.1 408 ", id="half a head"),
        pytest.param(request(headers=b"Content-Length: 100\r\n", method=b"POST") + b"half", b"HTTP/1.1 408 ", id="half a body"),
        pytest.param(
            request(headers=KNOWN + b"Content-Length: 100\r\n", method=b"POST") + b"half", b"HTTP/1.1 408 ", id="half a body with a token"
        ),
    ],
)
def test_who_stops_is_turned_out(served: Served, said: bytes, answer: bytes) -> None:
    told = served.heard(served.connect(said))
    assert told.startswith(answer)
    assert bool(told) == bool(answer)
    if answer:
        assert "not sent to its end in time" in json.loads(told.partition(b"\r\n\r\n")[2])["message"]
    served.settled(0)


def test_a_head_that_drips_is_no_excuse(served: Served) -> None:
    connection = served.connect(b"GET / HTTP/1.1\r\n")
    served.settled(1)
    for _ in range(2):
        served.clock.now += 6
        connection.sendall(b"X: y\r\n")
    assert served.heard(connection, step=0).startswith(b"HTTP/1.1 408 ")


def test_a_stranger_that_was_answered_may_not_rest_either(served: Served) -> None:
    connection = served.connect(request())
    answered(connection)
    assert served.heard(connection) == b""


def test_who_has_shown_a_token_rests_and_listens_as_long_as_it_likes(served: Served) -> None:
    resting, listening = served.connect(request(headers=KNOWN)), served.connect(request("/stream", KNOWN))
    answered(resting)
    while b"part" not in listening.recv(65_536):
        pass
    for _ in range(2):
        served.clock.now += 1000
        # A stranger that is turned out shows that the server has looked over all of them.
        assert served.heard(served.connect(b"GET")).startswith(b"HTTP/1.1 408 ")
    served.parts.release()
    assert b"part" in listening.recv(65_536)
    resting.sendall(request())
    answered(resting)
    resting.close()
    listening.close()


def test_but_once_it_begins_it_has_to_go_on(served: Served) -> None:
    connection = served.connect(request(headers=KNOWN))
    answered(connection)
    connection.sendall(b"GET / HT")
    assert served.heard(connection).startswith(b"HTTP/1.1 408 ")


def test_of_too_many_strangers_that_came_at_once_the_last_is_refused_and_later_the_oldest_makes_room(served: Served) -> None:
    mute: list[socket.socket] = []
    for _ in range(STRANGERS):
        mute.append(served.connect())
        served.settled(len(mute))
        served.clock.now += 0.1
    refused = served.heard(served.connect(request(headers=KNOWN)), step=0)
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert b"So many connections" in refused
    served.clock.now += 2
    connection = served.connect(request(headers=KNOWN))
    answered(connection)
    connection.close()
    assert b"So many connections" in served.heard(mute[0], step=0)
    for one in mute[1:]:
        one.close()


def test_who_is_refused_and_says_nothing_is_turned_out_soon(served: Served) -> None:
    mute = [served.connect() for _ in range(STRANGERS)]
    served.settled(STRANGERS)
    refused = served.connect()
    served.settled(STRANGERS + 1)
    served.clock.now += 1
    assert b"200" not in served.heard(refused, step=0)
    served.settled(STRANGERS)
    for one in mute:
        one.close()


def test_the_end_waits_for_no_stranger(served: Served) -> None:
    half = served.connect(request(headers=b"Content-Length: 100\r\n", method=b"POST") + b"half")
    assert served.asked.wait(PATIENCE)
    served.clock.now += 2
    served.server.stop()
    assert served.heard(half, step=0).startswith(b"HTTP/1.1 408 ")


def test_the_end_waits_for_no_look_at_the_connections_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_LOOK", 3600.0)
    made = Served()
    thread = threading.Thread(target=made.server.run, args=([made.listener],))
    thread.start()
    assert made.up.wait(PATIENCE)
    with made.connect(request(headers=KNOWN)) as connection:
        answered(connection)
    made.server.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()
