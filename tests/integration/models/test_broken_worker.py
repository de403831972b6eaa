"""A worker that answers nonsense, or never to the end: nothing of it is kept, nobody waits for it, and what waits is done once it answers well."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from lean_memory.domain import NO_CROSS_ENCODER, NO_SECOND
from lean_memory.errors import ModelError
from lean_memory.model_choice import passes_beside
from lean_memory.models.in_use import RemoteModels
from lean_memory.models.manifest import Role
from lean_memory.models.remote import Link, RemoteEmbedder, RemoteExtractor
from lean_memory.models.worker_file import State
from lean_memory.service import MemoryService
from lean_memory.settings import read_settings
from support.embedding import WordEmbedder
from support.hostile_worker import Answer, HostileWorker, good_reading, good_vectors, hostile_worker
from support.slow_worker import spec
from support.supervised import eventually
from support.worker import put_in_use

SLOWEST = 20.0
"""Seconds, on any machine, of what may take one; a whole answer of what drips would take longer."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def worker(root: Path) -> Iterator[HostileWorker]:
    with hostile_worker(root) as made:
        yield made


@pytest.fixture
def link(root: Path, worker: HostileWorker) -> Iterator[Link]:
    made = Link(root)
    eventually(lambda: made.look()[Role.EMBEDDER].state is State.READY)
    yield made
    made.close()


def numbers(change: float, *, width: int = 64) -> Answer:
    return lambda count: np.full((count, width), change, "<f4").tobytes()


def marked(entities: object, relations: object = ()) -> Answer:
    return lambda count: json.dumps([{"entities": entities, "relations": relations}] * count).encode()


NO_VECTORS = {
    "no numbers": numbers(float("nan")),
    "without an end": numbers(float("inf")),
    "without a direction": numbers(0.0),
    "too large": numbers(3e38),
    "of another length": numbers(1.0),
    "too wide": numbers(1 / 128**0.5, width=128),
    "nothing": lambda _: b"",
}
NO_READING = {
    "no JSON": lambda _: b"\xff\xfe",
    "nothing": lambda _: b"null",
    "endlessly nested": lambda _: b"[" * 100_000,
    "a text too few": lambda count: good_reading(count - 1),
    "of other kinds": marked([{"label": "person", "start": "0", "end": None, "score": "high"}]),
    "beside the text": marked([{"label": "person", "start": -5, "end": 3, "score": 0.5}]),
    "no share": marked([{"label": "person", "start": 0, "end": 3, "score": float("nan")}]),
    "no relation": marked([], [{"name": "works_at", "head": [5, 9], "tail": [9, 1], "score": None}]),
}


@pytest.mark.parametrize("answer", [pytest.param(answer, id=name) for name, answer in NO_VECTORS.items()])
def test_what_are_no_vectors_is_told_of(worker: HostileWorker, link: Link, answer: Answer) -> None:
    worker.answers["/embed"] = answer
    embedder = RemoteEmbedder(link, spec(Role.EMBEDDER), question_seconds=SLOWEST)
    for ask in (lambda: embedder.embed(["a", "b"]), lambda: embedder.embed_query("a")):
        with pytest.raises(ModelError, match=r"^The worker answered with"):
            ask()


@pytest.mark.parametrize("answer", [pytest.param(answer, id=name) for name, answer in NO_READING.items()])
def test_what_is_no_reading_is_told_of(worker: HostileWorker, link: Link, answer: Answer) -> None:
    worker.answers["/read"] = answer
    with pytest.raises(ModelError, match=r"^(What the worker read|The worker did not read)"):
        RemoteExtractor(link, spec(Role.EXTRACTOR)).read(["Ana met Tom."], labels=["person"], relations=["works_at"], threshold=0.5)


@pytest.mark.parametrize("path", ["/hello", "/state"])
@pytest.mark.parametrize("how", ["drips", "endless"])
def test_nobody_waits_for_an_answer_without_an_end(root: Path, worker: HostileWorker, path: str, how: str) -> None:
    getattr(worker, how).add(path)
    link = Link(root)
    began = monotonic()
    assert {one.state for one in link.look().values()} == {State.ABSENT}
    assert monotonic() - began < SLOWEST
    link.close()


def test_nobody_waits_for_a_vector_that_drips(worker: HostileWorker, link: Link) -> None:
    worker.drips.add("/embed")
    began = monotonic()
    with pytest.raises(ModelError, match="does not answer"):
        RemoteEmbedder(link, spec(Role.EMBEDDER), question_seconds=1.0).embed_query("a")
    assert monotonic() - began < SLOWEST


def test_a_memory_answers_with_what_it_has_and_makes_up_for_it_later(
    root: Path, worker: HostileWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_MODELS_MANIFEST", str(put_in_use(root)))
    settings = read_settings(root)
    models = RemoteModels(settings)
    eventually(lambda: models.look()[Role.EMBEDDER].state is State.READY)
    passes = passes_beside(settings, models.extractor)
    with MemoryService(
        settings=settings, embedder=WordEmbedder(), second=models.embedder, reranker=models.reranker, passes=passes
    ) as memory:
        worker.answers |= {"/embed": numbers(0.0), "/score": numbers(float("nan"), width=1), "/read": NO_READING["of other kinds"]}
        memory.add("x", "My code number 7 is box7. Ana from Acme met Tom yesterday, who works at Initrode.")
        made, done = memory.catch_up_vectors("x"), memory.finish_queued("x")
        assert (made.made, made.missing > 0, "unit length" in made.reason) == (0, True, True)
        assert (done.episodes, done.waiting) == (0, 1)
        found = memory.search("x", "code number 7")[0]
        assert (found.fact.object, set(found.degraded)) == ("box7", {NO_SECOND, NO_CROSS_ENCODER})
        assert 0.0 <= found.relevance <= 1.0
        worker.answers |= {"/embed": good_vectors, "/score": numbers(0.5, width=1), "/read": good_reading}
        assert (memory.catch_up_vectors("x").missing, memory.finish_queued("x").waiting) == (0, 0)
        assert memory.check("x") == []
    models.close()
