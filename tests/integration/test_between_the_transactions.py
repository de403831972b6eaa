"""What happens between the two transactions of an addition, and just before the first: other calls, a full disk, a locked file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.errors import StorageFullError
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.namespaces import path_of
from support.embedding import WordEmbedder

LONG = " and ".join(f"I like thing{n}x" for n in range(200)) + "."
"""More than fits into what a file has left in its pages."""


class Interrupted(WordEmbedder):
    """An embedder during whose work something else happens: no transaction is open then."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.meanwhile()
        return super().embed(texts)


@pytest.fixture
def embedder() -> Interrupted:
    return Interrupted()


@pytest.fixture
def memory(root: Path, embedder: Interrupted) -> Iterator[Memory]:
    with Memory(settings=Settings(root=root, busy_timeout_ms=50), embedder=embedder) as opened:
        yield opened


def test_an_addition_goes_on_however_often_its_namespace_is_cleared_meanwhile(memory: Memory, embedder: Interrupted, root: Path) -> None:
    memory.add("ana", "I like tea.")
    embedder.meanwhile = lambda: memory.clear("ana")
    for thing in ("rice", "jazz", "cake"):
        memory.add("ana", f"I like {thing}.")
        assert memory.namespaces() == []
    embedder.meanwhile = int
    assert list(root.iterdir()) == []
    memory.add("ana", "I like plums.")
    assert [fact.object for fact in memory.facts("ana")] == ["plums"]


def test_a_sentence_that_is_forgotten_just_before_it_is_stored_again_is_not_stored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    [fact] = memory.add("ana", "My gate code is zyxwv.")
    change = NamespaceStore.change

    def forgotten_first(store: NamespaceStore, do: Callable[..., object]) -> object:
        monkeypatch.undo()
        memory.forget("ana", fact_id=fact)
        return change(store, do)

    monkeypatch.setattr(NamespaceStore, "change", forgotten_first)
    result = memory.add("ana", "My gate code is zyxwv. I like tea.")
    assert (result.withheld, len(result)) == (1, 1)
    assert [hit.source for hit in memory.search("ana", "gate code zyxwv") if "zyxwv" in hit.source] == []


def test_what_a_full_disk_keeps_from_being_learned_is_kept_once_and_learned_with_the_next(
    memory: Memory, embedder: Interrupted, root: Path
) -> None:
    memory.add("ana", "I like tea.")
    embedder.meanwhile = lambda: limit_pages(memory, 1)
    result = memory.add("ana", LONG)
    assert (result.queued, list(result)) == (True, [])
    assert memory.status("ana")[0].unfinished == 1
    assert "thing7x" in memory.search("ana", "thing7x")[0].source
    with pytest.raises(StorageFullError, match="nothing of this was kept"):
        memory.add("ana", LONG)
    embedder.meanwhile = lambda: limit_pages(memory, 1 << 20)
    limit_pages(memory, 1 << 20)
    memory.add("ana", "I like jazz.")
    assert {fact.object for fact in memory.facts("ana")} >= {"tea", "jazz", "thing7x"}
    [status] = memory.status("ana")
    assert (status.episodes, status.unfinished) == (3, 0)
    assert memory.check("ana") == []


def limit_pages(memory: Memory, most: int) -> None:
    """Leave the file room to grow to a number of pages, or to what it has if that is more."""
    [opened] = [each for each in memory._files.every if not each.is_left]
    opened.store.change(lambda tx: tx.connection.execute(f"PRAGMA max_page_count = {most}"))


def test_what_a_locked_file_keeps_from_being_learned_is_kept_once_and_learned_with_the_next(
    memory: Memory, embedder: Interrupted, root: Path
) -> None:
    memory.add("ana", "I like tea.")
    with closing(apsw.Connection(str(path_of(root, "ana")))) as other:
        embedder.meanwhile = lambda: other.in_transaction or other.execute("BEGIN IMMEDIATE")
        assert memory.add("ana", "I like rice.").queued
        embedder.meanwhile = int
        other.execute("ROLLBACK")
    assert [fact.object for fact in memory.facts("ana")] == ["tea"]
    memory.add("ana", "I like jazz.")
    assert {fact.object for fact in memory.facts("ana")} == {"tea", "rice", "jazz"}
    assert memory.status("ana")[0].episodes == 3


def test_reading_goes_on_where_what_waits_cannot_be_learned_yet(memory: Memory, embedder: Interrupted, root: Path) -> None:
    memory.add("ana", "I like tea.")
    with closing(apsw.Connection(str(path_of(root, "ana")))) as other:
        embedder.meanwhile = lambda: other.in_transaction or other.execute("BEGIN IMMEDIATE")
        assert memory.add("ana", "I like rice.").queued
        embedder.meanwhile = int
        with Memory(settings=Settings(root=root, busy_timeout_ms=50), embedder=embedder) as later:
            assert [fact.object for fact in later.facts("ana")] == ["tea"]
            other.execute("ROLLBACK")
            later.add("ana", "I like jazz.")
            assert {fact.object for fact in later.facts("ana")} == {"tea", "rice", "jazz"}


def test_the_status_tells_of_texts_that_could_not_be_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.add("ana", "I like tea.")
    with monkeypatch.context() as broken:
        broken.setattr("lean_memory.ingest.extract", lambda *_, **__: 1 / 0)
        assert memory.add("ana", "The oboe is mine.").queued
    [problem] = memory.status("ana")[0].problems
    assert "1 of the texts could not be read" in problem
