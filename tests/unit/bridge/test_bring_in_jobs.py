"""What is brought in behind the service's back: a job that breaks off still tells what it brought, and none is left standing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.bringing_in import Report
from lean_memory.errors import ClosedError
from lean_memory_bridge.bring_in_jobs import BringInJobs
from lean_memory_bridge.schemas.custody import BringInRequest
from lean_memory_bridge.uploads import Uploads
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
    assert job.report is not None
    assert (job.state, job.report.added) == ("failed", 1)
    assert "damaged" in job.sentence
    assert job.report.reached == "export.json (100%)"
    assert (job.path, job.namespace) == (str(path), "ana")


class Held(Memory):
    """Begins to bring something in and waits there until it may go on."""

    def __init__(self, root: Path) -> None:
        super().__init__(root=root, embedder=WordEmbedder())
        self.may_go_on = threading.Event()

    def bring_in(self, *given: object, **how: object) -> Report:
        assert self.may_go_on.wait(LONG)
        return super().bring_in(*given, **how)  # type: ignore[arg-type]


class UntilStopped(Memory):
    """Brings something in only once it was asked to stop."""

    def bring_in(self, *given: object, **how: object) -> Report:
        cancelled = how["cancelled"]
        assert callable(cancelled)
        while not cancelled():
            threading.Event().wait(0.01)
        return super().bring_in(*given, **how)  # type: ignore[arg-type]


def test_an_upload_is_in_use_while_it_is_brought_in_also_once_another_file_came_to_it(root: Path, tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    upload = uploads.begin().id
    uploads.put(upload, "note.md", 0, b"I like tea.")
    with Held(root) as memory:
        told = Told()
        jobs = BringInJobs(memory, told)
        jobs.begin(BringInRequest(upload=upload, apply=True), uploads.path(upload), lambda: None)
        uploads.put(upload, "more.md", 0, b"I like rye bread.")
        assert jobs.uses(upload)
        memory.may_go_on.set()
        told.wait()
        assert not jobs.uses(upload)
        jobs.close()


def test_once_it_is_closed_nothing_more_is_taken_and_what_waited_is_stopped(root: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("I like tea.", encoding="utf-8")
    asked = BringInRequest(path=str(note), apply=True)
    with UntilStopped(root=root, embedder=WordEmbedder()) as memory:
        jobs = BringInJobs(memory, Told())
        jobs.begin(asked, note, lambda: None)
        waiting = jobs.begin(asked, note, lambda: None)
        jobs.close()
        with pytest.raises(ClosedError):
            jobs.begin(asked, note, lambda: None)
    assert jobs.look(waiting.id).state == "stopped"
    assert len(jobs.every()) == 2


def test_an_upload_is_read_as_long_as_an_import_goes_on(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    upload = uploads.begin().id
    with uploads.reading(None), uploads.reading(upload), uploads.reading(upload):
        assert uploads.is_read(upload)
    assert not uploads.is_read(upload)
