"""The worker's side of the wire: models for whoever knows the secret, over loopback HTTP; JSON, and raw float32 for vectors."""

from __future__ import annotations

import hmac
import json
import logging
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.desk import Desk
from lean_memory.models.manifest import Role
from lean_memory.models.ports import Embedder, EntityRelationModel, Reranker
from lean_memory.models.residents import Residents
from lean_memory.models.worker_file import HOST, proof

log = logging.getLogger(__name__)

T = TypeVar("T")

LARGEST_BODY = 32_000_000
LITTLE_ENDIAN = np.dtype("<f4")

_EMBEDDED_AT_ONCE, _CHARACTERS_AT_ONCE = 8, 2_400
"""Texts between two turns at the desk, fewer of long ones: a question that comes meanwhile waits for no more than these."""
_READ_AT_ONCE = 2
_LONGEST_SILENCE = 600.0
"""Seconds after which a connection on which nothing comes is closed."""
_PATIENCE_WITH_STRANGERS = 10.0
"""The same for a connection on which nobody has shown the secret yet."""
_AT_ONCE = 64
"""Connections; one more is closed. The service keeps four."""
_HELLO = "/hello"
_A_STRANGER = "The secret is not that of this worker."
_NOTHING = "There is nothing here."


class Host(ThreadingHTTPServer):
    """Answers on a free port of this computer once `serve_forever` runs."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = _AT_ONCE

    def __init__(self, residents: Residents, desk: Desk, *, secret: str, instance: str) -> None:
        self.residents, self.desk, self.secret, self.instance = residents, desk, secret, instance
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        super().__init__((HOST, 0), _Handler)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own, where there is room for one more."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The same, in that thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: object, client_address: object) -> None:
        # Not the traceback: a caller that went away is nothing to tell of, and what it asked is the person's.
        error = sys.exc_info()[0]
        if error is not None and not issubclass(error, OSError):
            log.error("A request could not be handled (%s).", error.__name__)

    def server_close(self) -> None:
        super().server_close()
        self.desk.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _PATIENCE_WITH_STRANGERS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing of single requests."""

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        if path.path == _HELLO:
            challenge = parse_qs(path.query).get("challenge", [""])[0]
            if not 16 <= len(challenge) <= 200:
                self._refuse(HTTPStatus.BAD_REQUEST, ModelError("A challenge has 16 to 200 characters."))
                return
            host = self._host
            self._answer_json(HTTPStatus.OK, {"instance": host.instance, "proof": proof(host.secret, challenge, host.instance, host.port)})
        elif not self._is_let_in():
            self._refuse(HTTPStatus.UNAUTHORIZED, ModelUnavailableError(_A_STRANGER))
        elif path.path == "/state":
            self._answer_json(HTTPStatus.OK, {role: asdict(state) for role, state in self._host.residents.states.items()})
        else:
            self._refuse(HTTPStatus.NOT_FOUND, ModelError(_NOTHING))

    def do_POST(self) -> None:
        if not self._is_let_in():
            # What a stranger sends is not taken in.
            self.close_connection = True
            self._refuse(HTTPStatus.UNAUTHORIZED, ModelUnavailableError(_A_STRANGER))
            return
        try:
            self._answer(self._host, json.loads(self._body()))
        except ModelUnavailableError as error:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, error)
        except ModelError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, error)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, ModelError(f"The worker could not use the request ({type(error).__name__})."))

    @property
    def _host(self) -> Host:
        return cast("Host", self.server)

    def _answer(self, host: Host, asked: Mapping[str, Any]) -> None:
        match self.path:
            case "/embed":
                self._answer_numbers(embedded(host, asked))
            case "/score":
                self._answer_numbers(scored(host, asked))
            case "/read":
                self._answer_json(HTTPStatus.OK, read(host, asked))
            case "/warm":
                host.residents.send_for(Role(asked["role"]))
                self._answer_json(HTTPStatus.ACCEPTED, {})
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, ModelError(_NOTHING))

    def _is_let_in(self) -> bool:
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        asked_here = self.headers.get("Host") == f"{HOST}:{self._host.port}"
        is_known = asked_here and hmac.compare_digest(given, f"Bearer {self._host.secret}".encode())
        if is_known:
            self.connection.settimeout(_LONGEST_SILENCE)
        return is_known

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            return b""
        return self.rfile.read(int(length))

    def _refuse(self, status: HTTPStatus, error: ModelError) -> None:
        self._answer_json(status, {"error": type(error).__name__, "message": str(error)})

    def _answer_json(self, status: HTTPStatus, said: object) -> None:
        self._send(status, "application/json", json.dumps(said).encode())

    def _answer_numbers(self, numbers: NDArray[np.float32]) -> None:
        self._send(HTTPStatus.OK, "application/octet-stream", np.ascontiguousarray(numbers, LITTLE_ENDIAN).tobytes())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def embedded(host: Host, asked: Mapping[str, Any]) -> NDArray[np.float32]:
    """Vectors for the texts of a request, or for its one question."""
    until = monotonic() + float(asked["seconds"])
    texts = cast("list[str]", asked["texts"])
    with _model(host, Role.EMBEDDER, asked) as found:
        model = cast("Embedder", found)
        if asked.get("is_question"):
            return host.desk.do(lambda: model.embed_query(texts[0]), urgent=True, until=until)
        made = np.empty((len(texts), model.identity.dims), np.float32)
        # The longest first: texts of like length cost least together, and the time that is left is not misjudged.
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        for rows in _portions(order, texts):
            made[rows] = host.desk.do(lambda rows=rows: model.embed([texts[row] for row in rows]), urgent=False, until=until)
        return made


def scored(host: Host, asked: Mapping[str, Any]) -> NDArray[np.float32]:
    """How well the texts of a request answer its question."""
    until = monotonic() + float(asked["seconds"])
    query, texts = str(asked["query"]), cast("list[str]", asked["texts"])
    with _model(host, Role.RERANKER, asked) as found:
        model = cast("Reranker", found)
        return host.desk.do(lambda: model.score(query, texts, seconds=until - monotonic()), urgent=True, until=until)


def read(host: Host, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is in the texts of a request."""
    until = monotonic() + float(asked["seconds"])
    texts, wanted = cast("list[str]", asked["texts"]), {name: asked[name] for name in ("labels", "relations", "threshold")}
    with _model(host, Role.EXTRACTOR, asked) as found:
        model = cast("EntityRelationModel", found)
        said: list[dict[str, Any]] = []
        for part in _slices(texts, _READ_AT_ONCE):
            said += [asdict(markup) for markup in host.desk.do(lambda part=part: model.read(part, **wanted), urgent=False, until=until)]
        return said


def _model(host: Host, role: Role, asked: Mapping[str, Any]) -> Any:
    return host.residents.model(role, str(asked["model_id"]), str(asked["revision"]))


def _portions(order: Sequence[int], texts: Sequence[str]) -> Iterator[Sequence[int]]:
    """Rows in this order, which begins with the longest, that are read at once; they are filled up to the longest among them."""
    start = 0
    while start < len(order):
        longest = max(1, len(texts[order[start]]))
        end = start + min(_EMBEDDED_AT_ONCE, max(1, _CHARACTERS_AT_ONCE // longest))
        yield order[start:end]
        start = end


def _slices(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
