"""Clients beside a worker whose embedder takes its time to load: `python -m bench.warming [SECONDS] [--kills N]`.

Prints JSON: milliseconds of the first search over MCP and of ten additions while it loads, and how long after it the additions have their
vectors; then, under the load of one client that adds and one that searches, how long after each kill -9 there is another worker, calls that
failed, and statements that are lost or there twice.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.schemas import MAX_BATCH, AddItem
from lean_memory_desktop.supervisor import Program
from support import worker
from support.shim import running_shim
from support.supervised import eventually

PATIENCE = 600.0
EARLIER = 256
"""Statements that are there before."""
SAID = [f"The code of locker {number} is {number * 7 + 1000}." for number in range(10)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", nargs="?", type=float, default=40.0)
    parser.add_argument("--kills", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        warmed = _warming(Path(folder) / "warming", chosen.seconds)
        print(json.dumps({**warmed, **_killing(Path(folder) / "killing", chosen.kills)}, indent=1))


def _warming(root: Path, seconds: float) -> dict[str, object]:
    log = root.with_name("embedded.txt")
    program = _program(root, "--seconds", str(seconds), "--log", str(log))
    with worker.beside_service(root, worker.put_in_use(root), program) as client, running_shim(root) as shim:
        eventually(lambda: client.snapshot().model.state == "ready", patience=PATIENCE)
        for start in range(0, EARLIER, MAX_BATCH):
            client.add_many(
                [AddItem(text=f"The code of door {number} is {number * 3 + 5000}.") for number in range(start, start + MAX_BATCH)]
            )
        shim.greet()
        began = perf_counter()
        found = shim.done("memory_search", query="What is the code of door 30?")
        first = perf_counter() - began
        adds = list[float]()
        for text in SAID:
            before = perf_counter()
            shim.done("memory_add", text=text)
            adds.append((perf_counter() - before) * 1000)
        still = {role.state for role in client.models().roles} == {"warming"}
        eventually(lambda: not client.models().lacking, patience=PATIENCE)
        ready = perf_counter()
        eventually(lambda: not client.search("locker 3").degraded, patience=PATIENCE)
        once = Counter(log.read_text(encoding="utf-8").splitlines())
        return {
            "warming_s": seconds,
            "first_search_ms": round(first * 1000, 1),
            "first_search_degraded": found["degraded"],
            "add_ms": [round(took, 1) for took in adds],
            "still_warming_after_adds": still,
            "vectors_made_s_after": round(perf_counter() - ready, 2),
            "embedded_once": all(once[text] == 1 for text in SAID),
        }


def _killing(root: Path, kills: int) -> dict[str, object]:
    with worker.beside_service(root, worker.put_in_use(root), _program(root, "--pause", "0.01")) as client:
        back, failed = worker.killed_under_load(root, client, times=kills)
        eventually(lambda: _is_complete(client), patience=PATIENCE)
        texts = [fact.fact_text for fact in client.facts(limit=100_000).facts]
        return {
            "back_s": [round(seconds, 2) for seconds in back],
            "failed_calls": len(failed),
            "statements": len(texts),
            "twice": len(texts) - len(set(texts)),
            "broken_invariants": len(client.check()),
        }


def _is_complete(client: ServiceClient) -> bool:
    return not client.models().lacking and not client.search("box 3").degraded


def _program(root: Path, *more: str) -> Program:
    return Program(name="worker", words=worker.words(root, "--supervised", *more), without=True)


if __name__ == "__main__":
    main()
