"""Meeting another service of the same data root: leave it alone, or ask an older one to make room."""

from __future__ import annotations

import contextlib
import http.client
import re
from pathlib import Path

from lean_memory_bridge.proven import ProvenConnection
from lean_memory_bridge.runtime import Live, read_runtime, verify

_ASKING = 5.0


def meet(root: Path, token: str, own_version: str) -> Live | None:
    """The service that has the data root, if it answers and is to stay.

    `None` where nothing answers (yet), and where an older version answered: it was asked to end, and lets go of its lock when it has.
    """
    runtime = read_runtime(root)
    live = None if runtime is None else verify(runtime, token)
    if live is None or not is_older(live.version, own_version):
        return live
    ask_to_end(live, token)
    return None


def ask_to_end(live: Live, token: str) -> None:
    """Ask a service to end in good order; whether it does is seen by its lock."""
    connection = ProvenConnection(live, token, timeout=_ASKING)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request("POST", "/api/v1/shutdown", headers={"Authorization": f"Bearer {token}", "Content-Length": "0"})
        connection.getresponse()


def is_older(version: str, than: str) -> bool:
    """Whether a version comes before another, number by number."""
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0]))
