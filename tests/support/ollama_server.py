"""A server on this machine that answers `POST /api/chat` and `GET /api/tags` as Ollama's API is documented, and in every way in which it can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_CREATED = "2026-01-01T00:00:00.000000Z"
_COUNTS = {
    "total_duration": 5_000_000,
    "load_duration": 1_000_000,
    "prompt_eval_count": 40,
    "prompt_eval_duration": 2_000_000,
    "eval_count": 12,
    "eval_duration": 2_000_000,
}

Reply = Callable[["Exchange"], None]
"""Answers one request."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request in hand, with what is needed to answer it."""

    handler: BaseHTTPRequestHandler
    asked: Mapping[str, Any]
    closing: threading.Event

    def start(self, status: int = 200, kind: str = "application/x-ndjson", **headers: str) -> None:
        self.handler.send_response(status)
        for name, value in {"Content-Type": kind, "Connection": "close", **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()

    def write(self, text: str) -> None:
        self.handler.wfile.write(text.encode())
        self.handler.wfile.flush()

    def line(self, content: str, **more: Any) -> str:
        """One line of a stream."""
        told = {
            "model": self.asked.get("model"),
            "created_at": _CREATED,
            "message": {"role": "assistant", "content": content},
            "done": False,
        }
        return json.dumps({**told, **more}) + "\n"


@dataclass(kw_only=True)
class OllamaServer:
    """Answers each request with the next of `replies`, the last one again and again."""

    url: str
    replies: list[Reply]
    requests: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])


def says(content: str, *, done_reason: str = "stop", piece: int = 7) -> Reply:
    """Streams `content` in pieces, as Ollama does token by token, then the closing line with its counts."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        for start in range(0, len(content), piece):
            exchange.write(exchange.line(content[start : start + piece]))
        exchange.write(exchange.line("", done=True, done_reason=done_reason, **_COUNTS))

    return reply


def answers(value: object) -> Reply:
    """Says a value as JSON."""
    return says(json.dumps(value, ensure_ascii=False))


def refuses(status: int, error: str) -> Reply:
    """Answers with an error, e.g. 404 where the model is not there."""

    def reply(exchange: Exchange) -> None:
        exchange.start(status, "application/json")
        exchange.write(json.dumps({"error": error}))

    return reply


def lacks_model(exchange: Exchange) -> None:
    """The model has not been pulled."""
    refuses(404, f"model '{exchange.asked.get('model')}' not found")(exchange)


def hangs(exchange: Exchange) -> None:
    """Takes the request and says nothing until the server closes."""
    exchange.closing.wait(60)


def drips(exchange: Exchange) -> None:
    """Sends a character of one endless line now and then, so that no single read takes long."""
    exchange.start()
    while not exchange.closing.wait(0.05):
        exchange.write("x")


def babbles(exchange: Exchange) -> None:
    """Streams tokens without end."""
    exchange.start()
    while not exchange.closing.is_set():
        exchange.write(exchange.line("and so on " * 50))


def breaks_off(exchange: Exchange) -> None:
    """Closes the connection in the middle of the answer."""
    exchange.start()
    exchange.write(exchange.line('{"facts": ['))


def fails_midway(exchange: Exchange) -> None:
    """Streams an error after some tokens, as Ollama does when the runner dies."""
    exchange.start()
    exchange.write(exchange.line('{"facts": ['))
    exchange.write(json.dumps({"error": "model runner has unexpectedly stopped"}) + "\n")


def streams(*lines: str) -> Reply:
    """Sends these very lines."""

    def reply(exchange: Exchange) -> None:
        exchange.start()
        for line in lines:
            exchange.write(f"{line}\n")

    return reply


def redirects(exchange: Exchange) -> None:
    """Points to another address."""
    exchange.start(307, Location="http://192.0.2.1/api/chat")


@contextmanager
def serving(*replies: Reply) -> Iterator[OllamaServer]:
    """A server on a free port of 127.0.0.1 while the block runs."""
    closing = threading.Event()
    state = OllamaServer(url="", replies=list(replies))
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state, closing))
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        closing.set()
        http.shutdown()
        thread.join()
        http.server_close()


def fact(subject: str, predicate: str, value: str, quote: str, **more: str) -> dict[str, str]:
    """One fact as the schema wants it."""
    return {"subject": subject, "predicate": predicate, "object": value, "quote": quote, "polarity": "+", "modality": "asserted", **more}


def with_facts(*facts: Mapping[str, str]) -> Reply:
    """Answers with facts of the schema."""
    return answers({"facts": list(facts)})


def _handler(state: OllamaServer, closing: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, "headers": dict(self.headers), **asked})
            reply = state.replies.pop(0) if len(state.replies) > 1 else state.replies[0]
            with suppress(ConnectionError):
                reply(Exchange(handler=self, asked=asked, closing=closing))

        def do_GET(self) -> None:
            listed = {"models": [{"model": "tiny:latest", "size": 1}]} if self.path == "/api/tags" else {}
            Exchange(handler=self, asked={}, closing=closing).start(200 if listed else 404, "application/json")
            self.wfile.write(json.dumps(listed).encode())

        def log_message(self, format: str, *args: Sequence[object]) -> None:  # noqa: A002 - the name is the base class's
            """Nothing is logged."""

    return Handler
