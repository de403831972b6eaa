"""What the benchmarks run in processes of their own, so that start, memory and contention are real.

Each prints JSON lines on stdout: `python -m bench.children write|search|first-answer ROOT NAMESPACE [QUERIES]`.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
from pathlib import Path
from time import perf_counter, process_time

from bench.values import DEPTH
from lean_memory import Memory
from lean_memory.domain import Instant

FIRST_SAID = Instant(1_750_000_000_000)
KB = 1024
SHOWN = 10


def write(root: Path, namespace: str) -> None:
    """Adds a statement at a time until stdin ends; says how many once it has begun, and at the end."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    with Memory(root=root) as memory:
        number = 0
        while not stop.is_set():
            memory.add(namespace, f"My locker number {number} is {number * 7}.", t_ref=Instant(FIRST_SAID + number))
            number += 1
            if number == 1:
                _say({"ready": True})
    _say({"added": number})


def search(root: Path, namespace: str, queries: Path) -> None:
    """Asks each query once, in order, after one to warm up; says milliseconds (of the clock, and of work on all cores), hits and memory."""
    asked = json.loads(queries.read_text(encoding="utf-8"))
    with Memory(root=root) as memory:
        before = perf_counter()
        memory.search(namespace, asked["warm_up"], SHOWN)
        first = perf_counter() - before
        times, cpu, answers = list[float](), list[float](), list[list[str]]()
        for query in asked["queries"]:
            before, worked = perf_counter(), process_time()
            hits = memory.search(namespace, query, SHOWN)
            times.append((perf_counter() - before) * 1000)
            cpu.append((process_time() - worked) * 1000)
            answers.append([hit.fact.fact_text for hit in hits])
        _say({"first_ms": first * 1000, "ms": times, "cpu_ms": cpu, "answers": answers, "rss_mb": _resident_mb(), "peak_mb": _peak_mb()})


def first_answer(root: Path, namespace: str) -> None:
    """Answers one question from a cold start."""
    with Memory(root=root) as memory:
        hits = memory.search(namespace, "Where does the user work?", min(SHOWN, DEPTH))
        _say({"hits": len(hits)})


def _resident_mb() -> float:
    """Resident now, from procfs; the peak where there is none."""
    status = Path("/proc/self/status")
    if not status.exists():
        return _peak_mb()
    line = next(line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / KB


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / KB / (KB if sys.platform == "darwin" else 1)


def _say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    command, root, namespace, *rest = sys.argv[1:]
    match command:
        case "write":
            write(Path(root), namespace)
        case "search":
            search(Path(root), namespace, Path(rest[0]))
        case "first-answer":
            first_answer(Path(root), namespace)
        case _:
            raise SystemExit(f"{command} is none of write, search, first-answer")


if __name__ == "__main__":
    main()
