"""A night over a large memory: how long a run takes, what it does to those who add meanwhile, and how long it ever keeps the file.

The facts are made up: slots of many subjects, one of 5,000 values, pairs that nearly say the same, names that are one, faint and old ones.
Four processes add while the run is at work, each with a memory of its own.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.report import Figure, Row, SuiteResult
from bench.suites import Setting
from lean_memory import Memory
from lean_memory.changes import ChangeSet, NewFact
from lean_memory.clock import system_clock
from lean_memory.domain import Candidate, Instant, ModelIdentity, Source, Span, value_key
from lean_memory.proposals import MaintenanceReport
from lean_memory.settings import Settings
from lean_memory.store.entities import read_as
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode, WriteTransaction
from support import children

NAMESPACE = "night"
FACTS, DRY_FACTS = 50_000, 100_000
WRITERS, ADDED = 4, 200
BIG_SLOT = 5_000
BATCH = 500
DAY = 86_400_000
SEED = 17
PREDICATES = ("likes", "uses", "visited", "owns", "knows", "plays")
WORDS = (
    "red",
    "old",
    "quiet",
    "northern",
    "wooden",
    "paper",
    "winter",
    "river",
    "garden",
    "copper",
    "lamp",
    "bridge",
    "kettle",
    "atlas",
    "violin",
    "canoe",
)

_T = TypeVar("_T")


def run_nights(setting: Setting) -> SuiteResult:
    """The run over 50,000 facts beside four writers, and the dry run over 100,000."""
    with _night(setting, FACTS) as root:
        wet = _beside_writers(root)
    with _night(setting, DRY_FACTS) as root:
        dry = _dry(root)
    rows = [
        Row(
            number="-",
            measure=f"A run over {FACTS:,} facts beside {WRITERS} who add {ADDED} each",
            figures=[
                Figure(name="errors", measured=wet["errors"], must=0, unit="errors", more_is_better=False),
                Figure(name="lost", measured=wet["lost"], must=0, unit="facts", more_is_better=False),
                Figure(name="run", measured=wet["run, s"], must=60, unit="s", more_is_better=False),
                Figure(
                    name="longest write transaction", measured=wet["longest transaction, ms"], must=100, unit="ms", more_is_better=False
                ),
                Figure(name="add p95", measured=wet["add p95, ms"], must=250, unit="ms", more_is_better=False),
            ],
        ),
        Row(
            number="-",
            measure=f"A dry run over {DRY_FACTS:,} facts, one slot of {BIG_SLOT:,} among them",
            figures=[Figure(name="dry run", measured=dry["run, s"], must=60, unit="s", more_is_better=False)],
        ),
    ]
    return SuiteResult(suite="nights", rows=rows, details={"run": wet, "dry run": dry})


def _beside_writers(root: Path) -> dict[str, float]:
    writers = [children.start(WRITER, root, NAMESPACE, number, ADDED) for number in range(WRITERS)]
    with Memory(root=root) as memory:
        before = len(memory.facts(NAMESPACE, include_cold=True))
        for writer in writers:
            assert children.line(writer) == "READY"
        with _timed_transactions() as times:
            started = perf_counter()
            for writer in writers:
                children.tell(writer)
            [report] = memory.maintain(NAMESPACE, apply=True, force=True)
            seconds = perf_counter() - started
        told = [json.loads(children.finished(writer)[-1]) for writer in writers]
        adds = [ms for each in told for ms in each["ms"]]
        after = len(memory.facts(NAMESPACE, include_cold=True))
        lost = before - report.merged + WRITERS * ADDED - after
        problems = memory.check(NAMESPACE)
    return {
        "errors": float(sum(each["errors"] for each in told) + len(problems) + (report.state != "done")),
        "lost": float(lost),
        "run, s": seconds,
        "longest transaction, ms": max(times),
        "transactions": float(len(times)),
        "add p50, ms": float(np.percentile(adds, 50)),
        "add p95, ms": float(np.percentile(adds, 95)),
        "add max, ms": max(adds),
        **_outcome(report),
    }


def _dry(root: Path) -> dict[str, float]:
    with Memory(root=root) as memory:
        started = perf_counter()
        [report] = memory.maintain(NAMESPACE)
        seconds = perf_counter() - started
    return {"run, s": seconds, **_outcome(report)}


def _outcome(report: MaintenanceReport) -> dict[str, float]:
    return {
        "merged": float(report.merged),
        "demoted": float(report.demoted),
        "proposed": float(sum(count for _, count in report.proposed)),
        "held back": float(report.held_back),
    }


WRITER = """
import json, sys
from time import perf_counter
from lean_memory import Memory
from lean_memory.errors import LeanMemoryError

root, namespace, number, many = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
times, errors = [], 0
with Memory(root=root) as memory:
    memory.search(namespace, "locker", 1)
    print("READY", flush=True)
    sys.stdin.readline()
    for step in range(many):
        before = perf_counter()
        try:
            memory.add(namespace, f"My locker {number}x{step} number is {step * 7}.")
        except LeanMemoryError:
            errors += 1
        times.append((perf_counter() - before) * 1000)
print(json.dumps({"ms": times, "errors": errors}), flush=True)
"""


@contextmanager
def _timed_transactions() -> Generator[list[float]]:
    """How long each write transaction of this process kept the file, in milliseconds."""
    times, began = [0.0], [0.0]
    begin, commit = NamespaceStore._begin, NamespaceStore._commit

    def begun(store: NamespaceStore, *given: object, **named: bool) -> WriteTransaction:
        tx = begin(store, *given, **named)
        began[0] = perf_counter()
        return tx

    def committed(store: NamespaceStore, tx: WriteTransaction) -> None:
        commit(store, tx)
        times.append((perf_counter() - began[0]) * 1000)

    with patch.object(NamespaceStore, "_begin", begun), patch.object(NamespaceStore, "_commit", committed):
        yield times


@contextmanager
def _night(setting: Setting, facts: int) -> Generator[Path]:
    """A data root whose namespace holds that many facts."""
    with TemporaryDirectory(prefix="night-", dir=setting.cache) as folder:
        root = Path(folder)
        store = NamespaceStore.open(root, NAMESPACE, settings=Settings(root=root), clock=system_clock)
        try:
            made = list(_facts(facts))
            vectors = _vectors(len(made), setting.embedder.identity.dims)
            for start in range(0, facts, BATCH):
                _insert(store, made[start : start + BATCH], vectors[start : start + BATCH], setting.embedder.identity)
            store.change(lambda tx: [read_as(tx.connection, f"Also {number}", f"Person {number}") for number in range(0, 400)])
        finally:
            store.close()
        yield root


def _facts(count: int) -> Generator[NewFact]:
    """Every second fact nearly says what the one before says where their subjects are the same; every tenth is said of another name."""
    draw, now = Random(SEED), system_clock()
    for number in range(count):
        if number < BIG_SLOT:
            yield _fact("user", "knows", f"{_thing(draw)} {number}", now - (number % 700) * DAY, 4.0)
            continue
        person, twin = number // 2 % 4_000, number % 2
        predicate, value = (
            PREDICATES[number // 8_000 % len(PREDICATES)],
            f"{WORDS[number // 2 % 16]} {WORDS[number // 32 % 16]} {number // 2}",
        )
        name = f"Also {person}" if twin and person < 400 else f"Person {person}"
        told = value if name.startswith("Also") or not twin else f"the {value}"
        yield _fact(name, predicate, told, now - (number * 13 % 700) * DAY, 1.0 if number % 7 == 0 else 4.0)


def _thing(draw: Random) -> str:
    return " ".join(draw.choices(WORDS, k=3))


def _fact(subject: str, predicate: str, value: str, at: int, salience: float) -> NewFact:
    text = f"{subject} {predicate} {value}."
    said = Candidate(
        subject=subject, predicate=predicate, object=value, fact_text=text, span=Span(start=0, end=len(text)), salience=salience
    )
    return NewFact(
        candidate=said,
        object_key=value_key(value),
        asserted_at=Instant(at),
        asserted_until=None,
        valid_at=Instant(at),
        valid_to=None,
        is_latest=True,
    )


def _vectors(count: int, dims: int) -> NDArray[np.float32]:
    """Unit vectors of which each second one is near the one before, shape (count, dims)."""
    draw = np.random.default_rng(SEED)
    vectors = draw.standard_normal((count, dims), dtype=np.float32)
    vectors[1::2] = vectors[0:-1:2] + 0.2 * vectors[1::2]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _insert(store: NamespaceStore, facts: Sequence[NewFact], vectors: NDArray[np.float32], model: ModelIdentity) -> None:
    said = [
        NewEpisode(
            text=fact.candidate.fact_text,
            source=Source.USER,
            t_ref=fact.valid_at,
            tz="UTC",
            passages=(Span(start=0, end=len(fact.candidate.fact_text)),),
        )
        for fact in facts
    ]
    episodes = store.record_episodes(said)
    with store.write() as tx:
        for fact, episode, vector in zip(facts, episodes, vectors, strict=True):
            tx.apply(ChangeSet(facts=(fact,)), episode=episode, embeddings={fact.candidate.fact_text: vector}, model=model)
        # What was imported long ago is old by every measure.
        tx.connection.execute("UPDATE fact SET recorded_at = valid_at, version_at = valid_at WHERE recorded_at > valid_at")
