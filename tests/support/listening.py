"""A program that listens on a port of this computer and is not the one that callers look for."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self


class StrangeListener:
    """Answers everything with the same bytes, and keeps what it hears. A context manager."""

    def __init__(self, *, answer: bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.heard = b""
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # Closing alone would not wake a thread that waits in accept on every system.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(30)

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                self.heard += connection.recv(65_536)
                connection.sendall(self._answer)
