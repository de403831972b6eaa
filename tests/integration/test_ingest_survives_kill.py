"""kill -9 at every stage of an add: what was acknowledged is there, once, whole; what was not is there whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lean_memory import Memory
from support.embedding import WordEmbedder

STAGES = ("before-first", "between", "inside-second")
ROUNDS = 20

CHILD = """
import sys, threading
from support.embedding import WordEmbedder
from lean_memory import Memory
from lean_memory.ingest import Ingest
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction

root, stage, number = sys.argv[1:]

def stop_here(*args, **kwargs):
    print("REACHED", flush=True)
    threading.Event().wait()

def stop_inside(apply):
    def applied(*args, **kwargs):
        apply(*args, **kwargs)
        stop_here()
    return applied

with Memory(root=root, embedder=WordEmbedder()) as memory:
    memory.add("ana", f"My locker number is {number}1.")
    print("ACKNOWLEDGED", flush=True)
    if stage == "before-first":
        NamespaceStore.change = stop_here
    elif stage == "between":
        Ingest.finish = stop_here
    else:
        WriteTransaction.apply = stop_inside(WriteTransaction.apply)
    memory.add("ana", f"My badge number is {number}2.")
"""


def kill_at(root: Path, stage: str, number: int) -> None:
    """Run a child that adds one text, then dies by SIGKILL at `stage` of the next."""
    tests = Path(__file__).parents[1]
    engine = Path(sys.modules["lean_memory"].__file__ or "").parents[1]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(root), stage, str(number)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": f"{engine}:{tests}", "PATH": ""},
    )
    assert child.stdout is not None
    with child.stdout:
        assert [child.stdout.readline().strip(), child.stdout.readline().strip()] == ["ACKNOWLEDGED", "REACHED"]
        child.kill()
    assert child.wait() == -9


@pytest.mark.parametrize("stage", STAGES)
def test_an_acknowledged_add_survives_a_kill_at_any_stage(root: Path, stage: str) -> None:
    numbers = range(100, 100 + ROUNDS)
    for number in numbers:
        kill_at(root, stage, number)
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        history = [f.fact_text for f in memory.facts("ana", include_history=True)]
        for number in numbers:
            assert history.count(f"My locker number is {number}1.") == 1
            interrupted = 0 if stage == "before-first" else 1
            assert history.count(f"My badge number is {number}2.") == interrupted
        [status] = memory.status("ana")
        assert status.unfinished == 0
        assert memory.check("ana") == []
        newest = memory.search("ana", f"locker number {numbers[-1]}1")[0]
        assert newest.fact.fact_text == f"My locker number is {numbers[-1]}1."
        assert newest.dense_rank is not None
        assert newest.sparse_rank is not None
