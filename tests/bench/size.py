"""Bytes on disk, and how long it takes from a process's start to its first answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import lean_memory
from bench import bulk
from bench.processes import first_answer_command, seconds_to_first_line
from bench.report import Figure, Row, SuiteResult
from bench.sentences import sentences
from bench.speed import folder_bytes
from bench.suites import Setting
from lean_memory.clock import system_clock
from lean_memory.domain import Instant
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore

STARTS = 5
ADDED = 2_000
KB = 1000
FIRST_SAID = Instant(1_750_000_000_000)


def run_size(setting: Setting) -> SuiteResult:
    """Bytes of a namespace that holds nothing, of one with a fact, and per fact of a full one, all after `close`."""
    empty, one = _bytes_of_empty(), _bytes_after(["I live in Lisbon."])
    many = sentences(setting.data, ADDED)
    details = {
        "empty namespace, bytes": float(empty),
        "one fact, bytes": float(one),
        "bytes per statement added": (_bytes_after(many) - empty) / len(many),
    }
    for scale in setting.scales:
        with bulk.filled_store(setting, scale) as filled:
            details[f"bytes per fact at {scale:,} facts"] = folder_bytes(filled.root) / scale
    figures = [Figure(name=name.removesuffix(", bytes"), measured=value / KB, unit="kB") for name, value in details.items()]
    return SuiteResult(suite="size", rows=[Row(number="-", measure="Size", figures=figures)], details=details)


def run_coldstart(setting: Setting) -> SuiteResult:
    """Process start to the first answer of a search, over one fact and over each scale."""
    details = {"one fact, ms": _cold_start_of_one()}
    for scale in setting.scales:
        with bulk.filled_store(setting, scale) as filled:
            details[f"{scale:,} facts, ms"] = _cold_start(filled.root, bulk.NAMESPACE)
    figures = [Figure(name=name.removesuffix(", ms"), measured=ms, unit="ms", more_is_better=False) for name, ms in details.items()]
    row = Row(number="-", measure=f"Process start to first answer, median of {STARTS}", figures=figures)
    return SuiteResult(suite="coldstart", rows=[row], details=details)


def _bytes_of_empty() -> int:
    with TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        NamespaceStore.open(Path(folder), "size", settings=Settings(root=Path(folder)), clock=system_clock).close()
        return folder_bytes(Path(folder))


def _bytes_after(texts: Sequence[str]) -> int:
    with TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        with lean_memory.Memory(root=folder) as memory:
            memory.add_many("size", [{"text": text, "t_ref": FIRST_SAID + number} for number, text in enumerate(texts)])
        return folder_bytes(Path(folder))


def _cold_start_of_one() -> float:
    with TemporaryDirectory(prefix="lean-memory-bench-") as folder:
        with lean_memory.Memory(root=folder) as memory:
            memory.add("one", "I work at Globex.", t_ref=FIRST_SAID)
        return _cold_start(Path(folder), "one")


def _cold_start(root: Path, namespace: str) -> float:
    return 1000 * median(seconds_to_first_line(first_answer_command(root, namespace)) for _ in range(STARTS))
