"""How a window or a browser finds the service and is let in."""

from __future__ import annotations

import time
from pathlib import Path

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.client import ServiceClient


def found_within(root: Path, patience: float) -> ServiceClient:
    """The service of a data root, which may still be starting. Raises `LeanMemoryError`."""
    deadline = time.monotonic() + patience
    while True:
        found = ServiceClient.find(root)
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise LeanMemoryError("The memory service does not answer; the tray's menu or `lean-memory doctor` says why.")
        time.sleep(0.1)


def link_to(service: ServiceClient, page: str) -> str:
    """An address that lets in one browser, once, and opens on `page`. What follows the `#` is sent to nobody."""
    code = service.window_code().code
    return f"{service.live.address}/#code={code}" + (f"/{page}" if page else "")
