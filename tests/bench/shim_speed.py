"""How long an assistant waits for its shim, what the shim adds to a call, and what it weighs.

usage: python -m bench.shim_speed [STARTS]
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.metrics import percentile
from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.shim.wire import Wire
from lean_memory_desktop.instance import supervisor_pid
from support.shim import Shim, running_shim
from support.supervised import has_ended, live

CALLS = 200
COLD_STARTS = 3


def main() -> None:
    """Print the figures as one JSON document; times in milliseconds, sizes in kilobytes."""
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        figures["start with nothing running"] = _spread([_cold(Path(folder) / f"cold{number}") for number in range(COLD_STARTS)])
        root = Path(folder) / "warm"
        with running_shim(root) as first:
            first.greet()
            live(root)
            figures["start with the service up"] = _spread([_start(root) for _ in range(starts)])
            first.done("memory_add", namespace="bench", text="I work at Acme Corp.")
            figures |= _calls(first, root)
            figures["resident memory of a shim"] = _resident(first.process.pid)
            figures["resident memory of the supervisor"] = _resident(supervisor_pid(root) or 0)
            figures["resident memory of the service"] = _resident(live(root).pid)
        _end(root)
    print(json.dumps(figures, indent=2))


def _cold(root: Path) -> float:
    spent = _start(root)
    _end(root)
    return spent


def _start(root: Path) -> float:
    """From the start of the process to the answered `tools/list`."""
    started = time.perf_counter()
    with running_shim(root) as shim:
        shim.greet()
        tools = shim.ask("tools/list")["result"]["tools"]
        spent = time.perf_counter() - started
        assert "outputSchema" in tools[0], "the service did not start in time"
        shim.leave()
    return spent * 1000


def _calls(shim: Shim, root: Path) -> dict[str, Any]:
    """A search through the shim and straight over HTTP, turn by turn, so that both see the same machine."""
    arguments = {"namespace": "bench", "query": "where does the user work?"}
    wire = Wire(live=live(root), token=admin_token(root), client="bench")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_search", "arguments": arguments}})

    def direct() -> None:
        with wire.post(body.encode(), {"MCP-Protocol-Version": "2025-06-18", **session}) as reply:
            assert b"Acme" in b"".join(reply.messages)

    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    with wire.post(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting}).encode(), {}) as reply:
        list(reply.messages)
        session = {"Mcp-Session-Id": reply.session or ""}
    through: list[float] = []
    straight: list[float] = []
    for _ in range(CALLS):
        through.append(_timed(lambda: shim.done("memory_search", **arguments)))
        straight.append(_timed(direct))
    overhead = median(through) - median(straight)
    return {"search through the shim": _spread(through), "search over HTTP": _spread(straight), "overhead p50": round(overhead, 2)}


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _spread(times: list[float]) -> dict[str, float]:
    return {"p50": round(median(times), 1), "p95": round(percentile(times, 0.95), 1), "most": round(max(times), 1)}


def _resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def _end(root: Path) -> None:
    pid = supervisor_pid(root)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        assert has_ended(pid)


if __name__ == "__main__":
    main()
