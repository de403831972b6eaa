"""Something that has the worker's secret and its port, and answers nonsense, or never to the end: as a worker does that is broken."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from lean_memory.models.manifest import Role
from lean_memory.models.worker_file import HOST, Worker, proof, write_worker
from support.slow_worker import IDENTITIES

Answer = Callable[[int], bytes]
"""What is answered for so many texts."""


def good_vectors(count: int) -> bytes:
    made = np.random.default_rng(1).normal(size=(count, IDENTITIES[Role.EMBEDDER].dims))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype("<f4").tobytes()


def good_marks(count: int) -> bytes:
    return np.full(count, 0.5, "<f4").tobytes()


def good_reading(count: int) -> bytes:
    return json.dumps([{"entities": [], "relations": []}] * count).encode()


class HostileWorker(ThreadingHTTPServer):
    """Answers `/embed`, `/score` and `/read` with what it is told to; `drips` are paths that it answers a byte at a time, `endless` without an end."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__((HOST, 0), _Answers)
        self.worker = Worker(port=self.server_address[1], pid=os.getpid(), started_at=1, instance="hostile", secret="s" * 40)
        self.answers: dict[str, Answer] = {"/embed": good_vectors, "/score": good_marks, "/read": good_reading}
        self.drips, self.endless = set[str](), set[str]()
        self.over = threading.Event()
        write_worker(root, self.worker)


@contextlib.contextmanager
def hostile_worker(root: Path) -> Generator[HostileWorker]:
    """One for a data root, until the block ends."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = HostileWorker(root)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HostileWorker  # type: ignore[assignment]

    def do_GET(self) -> None:
        path, _, challenge = self.path.partition("?challenge=")
        worker = self.server.worker
        said = {"proof": proof(worker.secret, challenge, worker.instance, worker.port)}
        states = {role.value: {"state": "ready", "model_id": one.model_id, "revision": "1"} for role, one in IDENTITIES.items()}
        self._say(path, json.dumps(said if path == "/hello" else states).encode())

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        self._say(self.path, self.server.answers[self.path](len(asked["texts"])))

    def _say(self, path: str, body: bytes) -> None:
        self.send_response(200)
        if path in self.server.endless:
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                while not self.server.over.is_set():
                    self.wfile.write(b" " * 65_536)
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            if path not in self.server.drips:
                self.wfile.write(body)
                return
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.server.over.wait(0.5):
                    return

    def log_message(self, *_: object) -> None:
        """Nothing is said on standard error."""
