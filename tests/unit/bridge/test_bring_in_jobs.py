"""What is brought in behind the service's back: a job that breaks off still tells what it brought, and none is left standing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory_bridge.bring_in_jobs import BringInJobs
from lean_memory_bridge.schemas.custody import BringInRequest
from support.embedding import WordEmbedder

LONG = 60.0


class Told:
    """Waits until a job says that it has ended."""

    def __init__(self) -> None:
        self.namespaces: tuple[str, ...] | None = None
        self._ended = threading.Event()

    def __call__(self, namespaces: tuple[str, ...]) -> None:
        self.namespaces = namespaces
        self._ended.set()

    def wait(self) -> tuple[str, ...]:
        assert self._ended.wait(LONG)
        assert self.namespaces is not None
        return self.namespaces


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory(root=root, embedder=WordEmbedder()) as opened:
        yield opened


def test_a_job_that_breaks_off_tells_what_it_brought_in_by_then(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text('[{"id": "1", "memory": "Likes pizza", "created_at": "2025-01-03"}, {"id": "2", "mem', encoding="utf-8")
    told = Told()
    jobs = BringInJobs(memory, told)
    begun = jobs.begin(BringInRequest(path=str(path), namespace="ana", apply=True), path, lambda: None)
    assert told.wait() == ("ana",)
    jobs.close()
    job = jobs.look(begun.id)
    assert (job.state, job.report is not None and job.report.added) == ("failed", 1)
    assert "damaged" in job.sentence
