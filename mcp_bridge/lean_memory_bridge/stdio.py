"""`lean-memory-mcp`: the server that an MCP client starts, which passes its messages on to the one service they all share.

Its standard output carries JSON-RPC and nothing else: before anything else happens, the stream is put aside under another number, and
whatever prints goes to standard error. It loads the standard library only, so that a client is answered at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterable
from typing import cast

from lean_memory.settings import read_settings
from lean_memory_bridge.shim.link import Link, Message
from lean_memory_bridge.shim.offline import failure
from lean_memory_bridge.shim.presence import present
from lean_memory_bridge.shim.starting import Starter

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_LAST_CALLS = 30.0
"""Seconds that calls get to finish after the client has closed our input."""


def main() -> int:
    """Serve one client until it closes our standard input."""
    output = _Output()
    root = read_settings().root
    client = _client_name(os.environ.get("LM_CLIENT"))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(present(root))
        except OSError as error:
            print(f"{root} cannot be written ({error.strerror or error}).", file=sys.stderr)
        link = Link(root=root, client=client, starter=Starter(root=root), emit=output.line)
        _serve(sys.stdin.buffer, link, output)
        link.close()
    return 0


def _serve(lines: Iterable[bytes], link: Link, output: _Output) -> None:
    calls: list[threading.Thread] = []
    for line in lines:
        for message in _messages(line, output):
            body = line if b"\n" not in line.strip() and not line.lstrip().startswith(b"[") else json.dumps(message).encode()
            if "id" in message and message.get("method") not in (None, "initialize"):
                call = threading.Thread(target=link.carry, args=(message, body.strip()), daemon=True)
                call.start()
                calls = [*(other for other in calls if other.is_alive()), call]
            else:
                # A greeting and what follows it without an answer keep their order.
                link.carry(message, body.strip())
    deadline = time.monotonic() + _LAST_CALLS
    for call in calls:
        call.join(max(0.0, deadline - time.monotonic()))


def _messages(line: bytes, output: _Output) -> list[Message]:
    """The messages in a line: one, or several in a list, as older versions of the protocol allow."""
    if not line.strip():
        return []
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        output.say(failure(None, _PARSE_ERROR, "This line is no JSON."))
        return []
    found = cast("list[object]", held) if isinstance(held, list) else [cast("object", held)]
    messages = [cast("Message", message) for message in found if isinstance(message, dict)]
    if len(messages) < len(found) or not found:
        output.say(failure(None, _INVALID_REQUEST, "A message is a JSON object."))
    named = [message for message in messages if "method" not in message or "id" not in message or _is_identifier(message["id"])]
    if len(named) < len(messages):
        output.say(failure(None, _INVALID_REQUEST, "Nothing was done: the id of a request is a string or an integer."))
    return named


def _is_identifier(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


class _Output:
    """The standard output of before, for messages only."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._number = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()

    def say(self, message: Message) -> None:
        self.line(json.dumps(message).encode())

    def line(self, text: bytes) -> None:
        """Write one message, whole, on a line of its own."""
        rest = memoryview(text + b"\n")
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._number, rest) :]
            except OSError:
                # The client is gone, and with it the reason for being here.
                os._exit(0)


def _client_name(given: str | None) -> str:
    """A name the service accepts, whatever the configuration says."""
    name = re.sub(r"[^A-Za-z0-9 ._-]+", "-", given or "").strip(" ._-")[:64].strip()
    return name or "mcp"


if __name__ == "__main__":
    sys.exit(main())
