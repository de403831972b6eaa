"""The vectors of what is being read: each made once, of many texts beside the reading, and nothing goes on afterwards."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory.embedding import Embedding
from lean_memory.errors import ModelError
from support.embedding import WordEmbedder

MANY = [f"I like game number {number}." for number in range(200)]


class Recording(WordEmbedder):
    """Keeps what it was asked for, and by which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[int, list[str]]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((threading.get_ident(), list(texts)))
        return super().embed(texts)


class Failing(WordEmbedder):
    """A model that cannot be had."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelError("no model")


def test_few_texts_are_made_by_the_caller_in_one_call() -> None:
    embedder = Recording()
    with Embedding(embedder) as embedding:
        embedding.ask(["I live in Leeds.", "I have a cat."])
        embedding.ask(["I have a cat."])
        assert embedder.asked == []
        assert list(embedding.vectors()) == ["I live in Leeds.", "I have a cat."]
    assert embedder.asked == [(threading.get_ident(), ["I live in Leeds.", "I have a cat."])]


def test_nothing_asked_for_asks_no_model() -> None:
    embedder = Recording()
    with Embedding(embedder) as embedding:
        assert embedding.vectors() == {}
    assert embedder.asked == []


def test_many_texts_are_begun_beside_the_caller_and_each_is_made_once() -> None:
    embedder = Recording()
    with Embedding(embedder) as embedding:
        embedding.ask(MANY)
        embedding.ask(reversed(MANY))
        made = embedding.vectors()
    assert sorted(text for _, texts in embedder.asked for text in texts) == sorted(MANY)
    assert {thread == threading.get_ident() for thread, _ in embedder.asked} == {True, False}
    for text in MANY:
        assert np.array_equal(made[text], WordEmbedder().embed_query(text))


@pytest.mark.parametrize("texts", [MANY[:1], MANY])
def test_a_model_that_fails_is_told_wherever_it_ran(texts: Sequence[str]) -> None:
    with Embedding(Failing()) as embedding, pytest.raises(ModelError):
        embedding.ask(texts)
        embedding.vectors()


def test_nothing_goes_on_after_an_error_of_the_caller() -> None:
    let_go = threading.Event()

    class Slow(Recording):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            let_go.wait(60)
            return super().embed(texts)

    embedder = Slow()
    with pytest.raises(KeyboardInterrupt), Embedding(embedder) as embedding:
        embedding.ask(MANY)
        let_go.set()
        raise KeyboardInterrupt
    # By name, as threads of other tests may end meanwhile.
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("embedding")] == []
    assert len(embedder.asked) <= 3


def test_a_program_that_is_ending_makes_them_without_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    embedder = Recording()
    with Embedding(embedder) as embedding:
        embedding.ask(MANY)
        assert list(embedding.vectors()) == MANY
    assert [thread for thread, _ in embedder.asked] == [threading.get_ident()]
