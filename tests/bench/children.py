"""What the benchmarks run in processes of their own, so that start, memory and contention are real.

Each prints JSON lines on stdout: `python -m bench.children write|search|switch|first-answer ROOT NAMESPACE [QUERIES [MODE]]`.
"""

from __future__ import annotations

import json
import resource
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from bench.values import DEPTH
from lean_memory import Memory
from lean_memory.domain import Instant
from lean_memory.models.builtin import BuiltinEmbedder
from support.embedding import RotatedEmbedder

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


def switch(root: Path, namespace: str, queries: Path, mode: str) -> None:
    """Asks each query after one to warm up and says how long each took; with `making`, again and again in parts while vectors are made.

    Says with each part how many answers differ from those at the beginning, how many vectors are missing and for how long they are made.
    """
    asked: list[str] = json.loads(queries.read_text(encoding="utf-8"))
    second = RotatedEmbedder(dims=BuiltinEmbedder().identity.dims)
    with Memory(root=root, second=second) as memory:
        memory.search(namespace, asked[0], SHOWN)
        first = [_asked(memory, namespace, query) for query in asked]
        if mode == "alone":
            _say({"ms": [each.ms for each in first], "degraded": sorted({lack for each in first for lack in each.degraded})})
            return
        began, missing = perf_counter(), list[int]()
        maker = threading.Thread(
            target=memory.catch_up_vectors, args=[namespace], kwargs={"progress": lambda _, rest: missing.append(rest)}
        )
        maker.start()
        while maker.is_alive():
            again = [_asked(memory, namespace, query) for query in asked]
            # Where the second space is asked in by now the answers may be others.
            changed = sum(one.found != other.found for one, other in zip(first, again, strict=True) if other.degraded)
            lacks = sorted({lack for each in again for lack in each.degraded})
            seconds = perf_counter() - began
            _say({"ms": [each.ms for each in again], "changed": changed, "missing": missing[-1], "seconds": seconds, "degraded": lacks})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    ms: float
    found: list[str]
    degraded: tuple[str, ...]


def _asked(memory: Memory, namespace: str, query: str) -> _Asked:
    before = perf_counter()
    hits = memory.search(namespace, query, SHOWN)
    ms = (perf_counter() - before) * 1000
    return _Asked(ms=ms, found=[hit.fact.id for hit in hits], degraded=hits[0].degraded)


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
        case "switch":
            switch(Path(root), namespace, Path(rest[0]), rest[1])
        case "first-answer":
            first_answer(Path(root), namespace)
        case _:
            raise SystemExit(f"{command} is none of write, search, switch, first-answer")


if __name__ == "__main__":
    main()
