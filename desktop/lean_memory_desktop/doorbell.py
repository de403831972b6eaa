"""How a second start tells the first one to show its window: a port on this machine, and a word that only the owner of the data can read.

`<root>/tray.json` holds the port and the word, which is a new one with each start. Whoever finds the port without the word is not heard, and
a stranger who later has the port learns a word that opens nothing.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

from lean_memory_desktop.remembered import read_object, write_object

TRAY_FILE = "tray.json"
_HOST = "127.0.0.1"
_PATIENCE = 3.0
_HEARS_FOR = 1.0
"""Seconds that a caller has to say what it wants; whoever rings behind it waits longer than that."""
_LONGEST = 200
_REST = 0.5
_HEARD = b"heard\n"


class Doorbell:
    """Listens until closed; `rung` is called in its thread with the page that is wished for, which may be any text, and says whether it comes.

    Making one raises `OSError`.
    """

    def __init__(self, root: Path, rung: Callable[[str], bool]) -> None:
        self._root, self._rung = root, rung
        self._word = secrets.token_urlsafe(32)
        self._closed = threading.Event()
        self._socket = socket.create_server((_HOST, 0))
        try:
            self._write_note()
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._listen, name="doorbell", daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._closed.set()
        (self._root / TRAY_FILE).unlink(missing_ok=True)
        self._socket.close()

    def put_back(self) -> None:
        """Write the note anew where somebody has removed it. Raises `OSError`."""
        if not (self._root / TRAY_FILE).exists():
            self._write_note()

    def _write_note(self) -> None:
        write_object(self._root / TRAY_FILE, {"port": self._socket.getsockname()[1], "word": self._word})

    def _listen(self) -> None:
        # A caller that cannot be taken, as where too many files are open, is no reason to be deaf for good.
        while not self._closed.is_set():
            try:
                caller, _ = self._socket.accept()
            except OSError:
                self._closed.wait(_REST)
                continue
            with caller:
                self._hear(caller)

    def _hear(self, caller: socket.socket) -> None:
        try:
            said = _line(caller)
            word, _, page = said.decode("ascii", "replace").strip().partition(" ")
            if hmac.compare_digest(word.encode(), self._word.encode()) and self._rung(page):
                caller.sendall(_HEARD)
        except OSError:
            # A caller that goes away or dawdles is not waited for.
            return


def _line(caller: socket.socket) -> bytes:
    """What a caller says up to the end of a line, all of it in time. Raises `OSError`."""
    deadline, said = time.monotonic() + _HEARS_FOR, b""
    while b"\n" not in said and len(said) < _LONGEST:
        caller.settimeout(max(0.001, deadline - time.monotonic()))
        more = caller.recv(_LONGEST)
        if not more:
            break
        said += more
    return said.partition(b"\n")[0]


def ring(root: Path, page: str = "") -> bool:
    """Ask the tray of a data root to show its window; whether it heard."""
    held = read_object(root / TRAY_FILE)
    port, word = held.get("port"), held.get("word")
    if not (isinstance(port, int) and isinstance(word, str) and 0 < port < 65_536):
        return False
    try:
        with socket.create_connection((_HOST, port), timeout=_PATIENCE) as line, line.makefile("rb") as answer:
            line.sendall(f"{word} {page}\n".encode("ascii", "replace"))
            return answer.readline(_LONGEST) == _HEARD
    except OSError:
        return False
