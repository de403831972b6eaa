"""The models that live in the worker: when each is ready, and how much of a request is computed before others have their turn."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from time import monotonic

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.desk import Desk
from lean_memory.models.host import Host, embedded
from lean_memory.models.manifest import Role
from lean_memory.models.residents import Loader, Model, Residents
from lean_memory.models.worker_file import State
from support.embedding import WordEmbedder
from support.supervised import eventually


class CountingEmbedder(WordEmbedder):
    """Keeps which texts it was given together."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.given.append(list(texts))
        return super().embed(texts)


@contextlib.contextmanager
def at_home(
    embedder: WordEmbedder, warm: Callable[[Model], None] = lambda _: None, *, lull: float = 900, breathe: Callable[[], None] = lambda: None
) -> Generator[Host]:
    """A worker's inside without its process; no request comes over the wire."""
    desk = Desk()
    loader = Loader(identity=embedder.identity, load=lambda: embedder, warm=warm)
    residents = Residents({Role.EMBEDDER: loader}, desk=desk, lull=lull, tidy=lambda: None, changed=lambda _: None, breathe=breathe)
    keeping = threading.Thread(target=residents.keep_house)
    keeping.start()
    host = Host(residents, desk, secret="secret", instance="1")
    try:
        yield host
    finally:
        residents.end()
        keeping.join()
        host.server_close()


def is_now(host: Host, state: State) -> bool:
    return host.residents.states[Role.EMBEDDER].state is state


def asked(texts: Sequence[str]) -> dict[str, object]:
    return {"model_id": "words", "revision": "1", "texts": [*texts], "seconds": 60}


def test_a_model_is_ready_once_it_has_answered_for_the_first_time() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def warm(model: Model) -> None:
        begun.set()
        may_end.wait(60)

    with at_home(WordEmbedder(), warm) as host:
        assert begun.wait(60)
        try:
            assert is_now(host, State.WARMING)
            with pytest.raises(ModelUnavailableError, match="is being loaded"):
                embedded(host, asked(["lamp"]))
        finally:
            may_end.set()
        eventually(lambda: is_now(host, State.READY))
        assert embedded(host, asked(["lamp"])).shape == (1, 64)


def test_a_model_that_cannot_answer_is_not_there_and_says_why() -> None:
    def warm(model: Model) -> None:
        raise ModelError("It could not read a text.")

    with at_home(WordEmbedder(), warm) as host:
        eventually(lambda: is_now(host, State.FAILED))
        with pytest.raises(ModelUnavailableError, match="could not read"):
            embedded(host, asked(["lamp"]))


def test_short_texts_are_computed_eight_at_a_time_and_long_ones_alone() -> None:
    embedder = CountingEmbedder()
    texts = [f"{number} " + "lamp " * length for number, length in enumerate([900, 1, 200, 1, 100, 60, 2, 1, 1, 1, 1, 1, 1, 400])]
    with at_home(embedder) as host:
        eventually(lambda: is_now(host, State.READY))
        made = embedded(host, asked(texts))
    assert np.allclose(made, WordEmbedder().embed(texts))
    assert sorted(text for together in embedder.given for text in together) == sorted(texts)
    assert all(len(together) <= 8 for together in embedder.given)
    assert all(len(together) == 1 or len(together) * len(max(together, key=len)) <= 2400 for together in embedder.given)
    assert all(len(min(before, key=len)) >= len(max(after, key=len)) for before, after in pairwise(embedder.given))


def test_what_batches_leave_behind_is_given_back_while_the_model_is_used() -> None:
    breaths = list[float]()
    with at_home(WordEmbedder(), lull=4, breathe=lambda: breaths.append(monotonic())) as host:
        eventually(lambda: is_now(host, State.READY))
        with host.residents.model(Role.EMBEDDER, "words", "1"):
            before = len(breaths)
            eventually(lambda: len(breaths) >= before + 2)
