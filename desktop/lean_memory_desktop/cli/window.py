"""`lean-memory open`: the memory's page in the person's browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import complain, say, write_json
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from pathlib import Path

    from lean_memory_bridge.client import ServiceClient

_PATIENCE = 30.0


def open(options: Options) -> int:  # noqa: A001 - the command's name
    """Open the page, or print its address with a one-time code; the service is started where none runs.

    The code is in the address's fragment, which a browser sends to nobody: no server's log and no referrer ever holds it. It works once
    and for two minutes, and the page takes it out of the address before it does anything else.
    """
    service = _service(data_root(options))
    given = service.window_code()
    address = f"{service.live.address}/#code={given.code}"
    if options.json:
        write_json({"address": address, "seconds": given.seconds})
    elif options.only_print or not _has_screen() or not webbrowser.open(address):
        print(address)
        complain(f"It lets one browser of this computer in, once and within {given.seconds / 60:.0f} minutes.")
    else:
        say(f"Your memory opens in the browser, at {service.live.address}.")
    return Exit.FINE


def _has_screen() -> bool:
    """Whether a browser could show anything; over SSH or on a server a text browser would be started, which cannot show the page."""
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _service(root: Path) -> ServiceClient:
    from lean_memory_bridge.client import ServiceClient
    from lean_memory_bridge.refusals import UnreachableError
    from lean_memory_bridge.shim.starting import NoServiceError, Starter

    found = ServiceClient.find(root)
    if found is not None:
        return found
    try:
        Starter(root).service(_PATIENCE)
    except NoServiceError as error:
        raise UnreachableError(str(error)) from error
    found = ServiceClient.find(root)
    if found is None:
        raise UnreachableError("The memory service ended right after it had started; `lean-memory doctor` says what to do.")
    return found
