"""The shim as an MCP client starts it: a process that is spoken to in lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lean_memory
import lean_memory_bridge
import lean_memory_desktop

PATIENCE = 90
"""Seconds within which an answer has to come."""
OLD = "2025-06-18"


def environment(root: Path, **more: str) -> dict[str, str]:
    """What the processes of a data root find in their environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LM_")}
    packages = [str(Path(package.__file__ or "").parents[1]) for package in (lean_memory, lean_memory_bridge, lean_memory_desktop)]
    return {**kept, "LM_DATA_ROOT": str(root), "PYTHONPATH": os.pathsep.join(packages), **more}


@dataclass(kw_only=True)
class Shim:
    """One shim. `lines` is everything it has written to standard output."""

    process: subprocess.Popen[bytes]
    lines: list[bytes] = field(default_factory=list[bytes])
    errors: Path
    _messages: queue.Queue[dict[str, Any] | None] = field(default_factory=queue.Queue[dict[str, Any] | None])
    _number: int = 0
    _kept: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def say(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def start_asking(self, method: str, **params: Any) -> int:
        """Send a request and give its number."""
        self._number += 1
        self.say({"id": self._number, "method": method, "params": params})
        return self._number

    def message(self, wanted: Any) -> dict[str, Any]:
        """The next message for which `wanted` is true; the others are kept for later."""
        while True:
            for number, held in enumerate(self._kept):
                if wanted(held):
                    return self._kept.pop(number)
            message = self._messages.get(timeout=PATIENCE)
            assert message is not None, f"the shim ended: {self.errors.read_text(encoding='utf-8')}"
            self._kept.append(message)

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to the request with this number."""
        return self.message(lambda message: message.get("id") == number and "method" not in message)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a request."""
        return self.answer(self.start_asking(method, **params))

    def greet(self, version: str = OLD, **capabilities: Any) -> dict[str, Any]:
        """Go through the greeting; gives what the server says of itself."""
        answer = self.ask("initialize", protocolVersion=version, capabilities=capabilities, clientInfo={"name": "test", "version": "1"})
        self.say({"method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert "result" in answer, answer
        return answer["result"]

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a tool that must succeed."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def leave(self) -> int:
        """Close its input, as a client does, and give its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE)

    def read_all(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            with contextlib.suppress(ValueError):
                self._messages.put(json.loads(line))
        self._messages.put(None)


@contextlib.contextmanager
def running_shim(root: Path, **environ: str) -> Generator[Shim]:
    """A shim of a data root, until the block ends."""
    errors = root.with_name(f"{root.name}-shim-errors-{os.urandom(4).hex()}")
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lean_memory_bridge.stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env=environment(root, **{"LM_CLIENT": "test", **environ}),
        )
    shim = Shim(process=process, errors=errors)
    reader = threading.Thread(target=shim.read_all, daemon=True)
    reader.start()
    try:
        yield shim
    finally:
        process.kill()
        process.wait()
        reader.join(PATIENCE)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
