"""Starting what a configuration says, the way its client would, and seeing whether a memory answers."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import IO, cast

from lean_memory_bridge.clients.entry import Launch

PROTOCOL = "2025-06-18"
_PASSED_ON = frozenset(
    [
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "HOME",
        "LANG",
        "LOGNAME",
        "SHELL",
        "TERM",
        "USER",
    ]
)
"""What clients built on the official libraries let a server see of their own environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A memory answered: what it calls itself, its tools, how long it took in seconds, and what it complained about, if anything."""

    name: str
    version: str
    tools: tuple[str, ...]
    seconds: float
    trouble: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """Nothing usable answered, and why."""

    reason: str


def shake_hands(launch: Launch, *, patience: float = 30.0, environ: Mapping[str, str] = os.environ) -> Answered | Silent:
    """Start `launch`, initialise, list the tools, and end it again."""
    passed = {name: environ[name] for name in _PASSED_ON if name in environ}
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            list(launch.command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**passed, **launch.environment},
        )
    except OSError as error:
        return Silent(reason=f"{launch.command[0]} cannot be started ({error.strerror or error}).")
    with _ended(process):
        talk = _Talk(process, deadline=started + patience)
        try:
            return _greeted(talk, started)
        except _NoAnswerError as error:
            return Silent(reason=str(error))


class _NoAnswerError(Exception):
    """The other side said nothing, or nothing that a client could use."""


class _Talk:
    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process = process
        self._deadline = deadline
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def say(self, **message: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _NoAnswerError("It ended before it could be asked.") from error

    def ask(self, number: int, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        self.say(id=number, method=method, params=params)
        while True:
            message = self._message()
            if message.get("id") != number or "method" in message:
                continue
            result = message.get("result")
            if not isinstance(result, dict):
                raise _NoAnswerError(f"It answered {method} with an error: {json.dumps(message.get('error'))[:300]}")
            return cast("Mapping[str, object]", result)

    def _message(self) -> Mapping[str, object]:
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise _NoAnswerError("It did not answer in time.") from None
        if not line:
            raise _NoAnswerError("It ended without an answer.")
        try:
            message = json.loads(line)
        except ValueError:
            raise _NoAnswerError("It wrote something to its output that is no message.") from None
        if not isinstance(message, dict):
            raise _NoAnswerError("It wrote something to its output that is no message.")
        return cast("Mapping[str, object]", message)

    def _read(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(b"")


def _greeted(talk: _Talk, started: float) -> Answered:
    who = {"name": "lean-memory-connect", "version": "1"}
    hello = talk.ask(1, "initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": who})
    talk.say(method="notifications/initialized")
    listed = talk.ask(2, "tools/list", {}).get("tools")
    seconds = time.monotonic() - started
    tools = [str(cast("Mapping[str, object]", tool).get("name")) for tool in cast("list[object]", listed or []) if isinstance(tool, dict)]
    server = cast("Mapping[str, object]", hello.get("serverInfo") or {})
    trouble = _trouble(talk) if "memory_namespaces" in tools else "It offers no tools of a memory."
    return Answered(name=str(server.get("name")), version=str(server.get("version")), tools=tuple(tools), seconds=seconds, trouble=trouble)


def _trouble(talk: _Talk) -> str | None:
    """What a harmless call complains about: a shim without a service still lists its tools."""
    result = talk.ask(3, "tools/call", {"name": "memory_namespaces", "arguments": {}})
    if not result.get("isError"):
        return None
    content = cast("list[object]", result.get("content") or [])
    texts = [str(cast("Mapping[str, object]", part).get("text", "")) for part in content if isinstance(part, dict)]
    return " ".join(texts) or "It answers every call with an error."


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Generator[None]:
    """End the process as a client does: close its input, wait, and only then insist."""
    try:
        yield
    finally:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
