"""How long adding takes: durable, with extraction and the built-in embedder, one client in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import lean_memory
from bench import bulk
from bench.engine import scratch_memory
from bench.metrics import percentile
from bench.report import Figure, Row, SuiteResult
from bench.sentences import sentences
from bench.suites import Setting
from lean_memory.domain import Instant

if TYPE_CHECKING:
    from lean_memory import Memory

FIRST_SAID = Instant(1_750_000_000_000)
MINUTE = 60_000
MEASURED_ADDS = 200
SLOT_VALUES = 1_000
SLOT_ADDS = 50
MESSAGE_STATEMENTS = 800
BATCH = 2_000
ADD_SCALES = (10_000, 100_000)


def run_adds(setting: Setting) -> SuiteResult:
    """Adds to empty, full and crowded stores; the scales asked for decide how full."""
    fresh = sentences(setting.data, BATCH + MEASURED_ADDS)
    details: dict[str, Any] = {"add_many": _add_many(fresh[:BATCH]), "add, empty store": _into_empty(fresh[BATCH:])}
    for scale in ADD_SCALES:
        if scale <= max(setting.scales):
            with bulk.filled_store(setting, scale, own_copy=True) as filled, lean_memory.Memory(root=filled.root) as memory:
                details[f"add at {scale:,} facts"] = spread(adds(memory, bulk.NAMESPACE, _numbered(fresh[BATCH:])))
    details["add in a slot of 1,000 values"] = {kind: _crowded(template) for kind, template in CROWDED.items()}
    details["one message of 800 statements"] = _long_message()
    return SuiteResult(suite="adds", rows=[_row(details)], details=details)


CROWDED = {"functional": "I now live in Town{number}.", "multi-valued": "I like game number {number}."}


def adds(memory: Memory, namespace: str, texts: Iterable[str], *, minute: int = 0) -> list[float]:
    """Milliseconds of each `add`; the first text is said at `minute`, each next one a minute later."""
    times: list[float] = []
    for number, text in enumerate(texts, start=minute):
        before = perf_counter()
        memory.add(namespace, text, t_ref=Instant(FIRST_SAID + number * MINUTE), tz="UTC")
        times.append((perf_counter() - before) * 1000)
    return times


def spread(times: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and highest of a sample in milliseconds, and how many fit in a second."""
    return {
        "p50 ms": percentile(times, 0.5),
        "p95 ms": percentile(times, 0.95),
        "max ms": max(times),
        "per second": 1000 * len(times) / sum(times),
    }


def folder_bytes(folder: Path) -> int:
    """The bytes of every file below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _into_empty(texts: Sequence[str]) -> dict[str, float]:
    with scratch_memory() as memory:
        return spread(adds(memory, "empty", texts))


def _add_many(texts: Sequence[str]) -> dict[str, float]:
    items = [{"text": text, "t_ref": Instant(FIRST_SAID + number * MINUTE), "tz": "UTC"} for number, text in enumerate(texts)]
    with scratch_memory() as memory:
        first, again = (_elapsed(memory, namespace, items) for namespace in ("first", "again"))
    return {
        "sentences": float(len(texts)),
        "characters of one": sum(map(len, texts)) / len(texts),
        "per second": len(texts) / again,
        "per second in a process that has just begun": len(texts) / first,
    }


def _elapsed(memory: Memory, namespace: str, items: Sequence[Mapping[str, object]]) -> float:
    before = perf_counter()
    memory.add_many(namespace, items)
    return perf_counter() - before


def _crowded(template: str) -> dict[str, dict[str, float]]:
    with scratch_memory() as memory:
        adds(memory, "crowded", (template.format(number=number) for number in range(SLOT_VALUES)))
        newest = [template.format(number=SLOT_VALUES + number) for number in range(SLOT_ADDS)]
        late = [template.format(number=2 * SLOT_VALUES + number) for number in range(SLOT_ADDS)]
        return {
            "said last": spread(adds(memory, "crowded", newest, minute=SLOT_VALUES)),
            "said first and told last": spread(adds(memory, "crowded", late, minute=-SLOT_ADDS)),
        }


def _long_message() -> dict[str, float]:
    message = " ".join(f"My locker {number} is {number * 7919 % 10_007}." for number in range(MESSAGE_STATEMENTS))
    with scratch_memory() as memory:
        before = perf_counter()
        facts = len(memory.add("long", message, t_ref=FIRST_SAID, tz="UTC"))
        elapsed = perf_counter() - before
    return {"bytes": float(len(message)), "facts": float(facts), "ms": elapsed * 1000}


def _numbered(texts: Sequence[str]) -> list[str]:
    """The sentences made new to a store that holds them: each with a number nobody has said."""
    return [f"{text.rstrip('.!?')} {700_000 + number}." for number, text in enumerate(texts)]


def _row(details: dict[str, Any]) -> Row:
    figures = [
        Figure(name=f"{name} p50/p95", measured=details[name][share], unit="ms", more_is_better=False)
        for name in details
        if name.startswith("add at")
        for share in ("p50 ms", "p95 ms")
    ]
    return Row(number="-", measure="Durable add", figures=figures or [Figure(name="add_many per second", measured=None)])
