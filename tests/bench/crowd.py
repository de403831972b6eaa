"""Eight shims and eight HTTP clients on one service: errors, losses, waiting times and memory.

`python -m bench.crowd [SECONDS] [NAMESPACES] [CALLS A SECOND]`; 0 calls a second means without a pause. The clients speak bare JSON-RPC, so that it is the
service that is measured and not a client library.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from lean_memory_bridge.runtime import CLIENT_HEADER, admin_token
from support.service import ServiceProcess, running_service

CLIENTS = 16
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "crowd", "version": "1"}}

Ask = Callable[..., Awaitable[Any]]


@dataclass(kw_only=True)
class Crowd:
    """What is asked of the service, and what came of it. Times are milliseconds."""

    service: ServiceProcess
    seconds: float
    namespaces: int
    a_second: float
    adds: list[float] = field(default_factory=list[float])
    searches: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    stored: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    shim_megabytes: list[int] = field(default_factory=list[int])

    async def run(self) -> None:
        """Let everybody in and wait until all have gone."""
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))

    def report(self) -> str:
        """The figures in one line."""
        client = self.service.client()
        facts = [client.facts(namespace=f"crowd{n}", limit=100_000).facts for n in range(self.namespaces)]
        lost = self.stored - {(fact.namespace, fact.object) for one in facts for fact in one}
        calls = len(self.adds) + len(self.searches)
        return (
            f"{calls} calls, {calls / self.seconds:.0f} a second, {len(self.errors)} errors, {len(lost)} lost; add {_spread(self.adds)}, "
            f"search {_spread(self.searches)}; service {_most_megabytes(self.service.process.pid)} MB, shims {max(self.shim_megabytes)} MB each"
        )

    async def _client(self, number: int) -> None:
        async with (_shim if number % 2 else _http)(self, number) as ask:
            await ask("initialize", HELLO)
            await ask("notifications/initialized", {}, told=True)
            await asyncio.sleep(number / CLIENTS)
            await self._work(ask, number)

    async def _work(self, ask: Ask, number: int) -> None:
        namespace, end = f"crowd{number % self.namespaces}", time.perf_counter() + self.seconds
        for step in itertools.count():
            started = time.perf_counter()
            if started > end:
                return
            item, box = f"item{number}n{step - step % 2}", f"box{number}n{step - step % 2}"
            if step % 2:
                given = {"query": f"which box is my {item}?", "namespace": namespace}
                result = await ask("tools/call", {"name": "memory_search", "arguments": given})
            else:
                given = {"text": f"My {item} is {box}.", "namespace": namespace}
                result = await ask("tools/call", {"name": "memory_add", "arguments": given})
                self.stored.add((namespace, box))
            spent = time.perf_counter() - started
            (self.searches if step % 2 else self.adds).append(spent * 1000)
            if result.get("isError") or (step % 2 and not any(hit["fact"]["object"] == box for hit in result["structuredContent"]["hits"])):
                self.errors.append(str(result)[:200])
            await asyncio.sleep(max(0.0, 1 / self.a_second - spent) if self.a_second else 0)


@contextlib.asynccontextmanager
async def _http(crowd: Crowd, number: int) -> AsyncGenerator[Ask]:
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {admin_token(crowd.service.root)}"}
    headers[CLIENT_HEADER] = f"http{number}"
    url = f"{crowd.service.live.address}/mcp"
    async with httpx2.AsyncClient(timeout=60) as http:

        async def ask(method: str, params: object, *, told: bool = False) -> Any:
            message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if told else {"id": 1})}
            answer = await http.post(url, json=message, headers=headers)
            headers["mcp-session-id"] = answer.headers.get("mcp-session-id", headers.get("mcp-session-id", ""))
            if told:
                return None
            return json.loads([line for line in answer.text.splitlines() if line.startswith("data: ")][-1][len("data: ") :])["result"]

        yield ask


@contextlib.asynccontextmanager
async def _shim(crowd: Crowd, number: int) -> AsyncGenerator[Ask]:
    words = (sys.executable, "-m", "lean_memory_bridge.stdio")
    environ = {**os.environ, "LM_DATA_ROOT": str(crowd.service.root), "LM_CLIENT": f"shim{number}"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, env=environ, limit=2**24)
    written, read = process.stdin, process.stdout
    assert written is not None
    assert read is not None

    async def ask(method: str, params: object, *, told: bool = False) -> Any:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if told else {"id": 1})}
        written.write(json.dumps(message).encode() + b"\n")
        await written.drain()
        if told:
            return None
        while True:
            answer = json.loads(await read.readline())
            if answer.get("id") == 1:
                return answer["result"]

    yield ask
    crowd.shim_megabytes.append(_most_megabytes(process.pid))
    written.close()
    await process.wait()


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2]:.0f} ms (p50) {ordered[int(len(ordered) * 0.95)]:.0f} ms (p95) {ordered[-1]:.0f} ms (most)"


def _most_megabytes(pid: int) -> int:
    """The most memory that a process ever had resident."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def main() -> None:
    """Measure and print."""
    seconds, namespaces, a_second = (float(word) for word in (*sys.argv[1:], *("60", "1", "2")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder)) as service:
        # The models are loaded while the first calls are answered; that is measured elsewhere.
        next(snapshot for snapshot in service.client().snapshots() if snapshot.model.state == "ready")
        crowd = Crowd(service=service, seconds=seconds, namespaces=int(namespaces), a_second=a_second)
        asyncio.run(crowd.run())
        print(crowd.report())


if __name__ == "__main__":
    main()
