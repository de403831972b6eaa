"""A better embedder, or another one: its vectors are made beside all else and never mixed with others, and nobody waits for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.domain import NO_EMBEDDER, NO_SECOND, NO_VECTORS, SearchHit, VectorSpace
from lean_memory.errors import ModelError
from support.embedding import RotatedEmbedder, WordEmbedder
from support.statements import day

PLACES = ("Porto", "Lagos", "Quito", "Osaka", "Turin", "Split", "Delhi", "Cairo")
QUERIES = ("where is the badge", "locker in Quito", "what of Turin", "badge 7", "the lockers of Lagos")


def told(number: int) -> str:
    return f"My locker number {number} in {PLACES[number % len(PLACES)]} holds badge {number * 7}."


def tell(memory: Memory, count: int, first: int = 0) -> None:
    memory.add_many("ana", [{"text": told(number), "t_ref": day(number / 100)} for number in range(first, first + count)])


def answers(memory: Memory) -> list[list[tuple[str, float, int | None]]]:
    """What each query finds, with scores to four places and dense ranks, by one recipe whatever the space."""
    return [[(h.fact.fact_text, round(h.final_score, 4), h.dense_rank) for h in search(memory, query)] for query in QUERIES]


def search(memory: Memory, query: str) -> list[SearchHit]:
    return memory.search("ana", query, 8, now=day(100), recipe="builtin")


def lacking(memory: Memory) -> set[str]:
    return {lack for query in QUERIES for hit in memory.search("ana", query) for lack in hit.degraded}


def spaces(memory: Memory) -> dict[str, VectorSpace]:
    return {space.role: space for space in memory.status("ana")[0].vectors}


def test_searches_mix_no_spaces_at_any_point_of_the_switch_to_an_embedder_of_equal_width(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, 200)
        before = answers(memory)
    second = RotatedEmbedder()
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory:
        steps = 0
        while spaces(memory)["second"].missing:
            assert answers(memory) == before
            assert lacking(memory) == {NO_SECOND}
            assert memory.catch_up_vectors("ana", limit=50).made == min(50, spaces(memory)["second"].texts - 50 * steps)
            steps += 1
        assert steps > 3
        assert (answers(memory), lacking(memory)) == (before, set())
        assert second.made.total() == len(second.made) == spaces(memory)["second"].texts
        assert memory.check("ana") == []
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert (answers(memory), lacking(memory)) == (before, set())
        assert {role: space.missing for role, space in spaces(memory).items()} == {"embedder": 0, "old": 0}


@pytest.mark.parametrize("other", [RotatedEmbedder(), RotatedEmbedder(model_id="words", revision="2")], ids=["model", "revision"])
def test_another_embedder_of_equal_width_is_noticed_and_its_vectors_made_while_words_answer(root: Path, other: RotatedEmbedder) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, 400)
        before = answers(memory)
    with Memory(root=root, embedder=other) as memory:
        hits = search(memory, "locker in Quito")
        assert {(hit.degraded, hit.dense_rank) for hit in hits} == {((NO_VECTORS,), None)}
        assert "Quito" in hits[0].fact.fact_text
        done: list[tuple[int, int]] = []
        made = memory.catch_up_vectors("ana", progress=lambda made, missing: done.append((made, missing)))
        assert (made.missing, made.reason) == (0, "")
        assert done == sorted(done)
        assert done[-1] == (made.made, 0)
        assert (answers(memory), lacking(memory)) == (before, set())
        assert memory.check("ana") == []
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert (answers(memory), lacking(memory)) == (before, set())


def test_few_missing_vectors_are_made_when_the_memory_is_opened(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, 20)
    with Memory(root=root, embedder=RotatedEmbedder()) as memory:
        assert lacking(memory) == set()


def test_what_is_added_meanwhile_has_its_first_vector_at_once_and_the_second_later_exactly_once(root: Path) -> None:
    second = RotatedEmbedder()
    second.is_there = False
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory:
        tell(memory, 10)
        assert {role: space.missing for role, space in spaces(memory).items()} == {"embedder": 0, "second": spaces(memory)["second"].texts}
        waiting = memory.catch_up_vectors("ana")
        assert (waiting.made, waiting.reason) == (0, "The second embedder is being loaded.")
        assert lacking(memory) == {NO_SECOND}
        second.is_there = True
        assert memory.catch_up_vectors("ana").missing == 0
        tell(memory, 10, first=10)
        assert search(memory, "locker number 15")[0].degraded == (NO_SECOND,)
        assert memory.catch_up_vectors("ana").made == 10
        assert memory.catch_up_vectors("ana").made == 0
        assert lacking(memory) == set()
        assert set(second.made.values()) == {1}
        second.is_there = False
        assert (lacking(memory), len(search(memory, "locker"))) == ({NO_SECOND}, 8)


def test_making_ends_at_its_limit_its_time_and_when_it_is_cancelled(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
        tell(memory, 100)
        assert memory.catch_up_vectors("ana", limit=0).made == 0
        assert memory.catch_up_vectors("ana", seconds=0).made == 0
        assert memory.catch_up_vectors("ana", limit=5).made == 5
        batches: list[int] = []
        part = memory.catch_up_vectors("ana", progress=lambda made, _: batches.append(made), cancelled=lambda: bool(batches))
        assert (part.made, part.missing) == (32, 63)
        assert memory.catch_up_vectors("ana").missing == 0


def test_nobody_waits_while_vectors_are_made_and_no_second_one_makes_them(root: Path) -> None:
    began, go_on = threading.Event(), threading.Event()

    class Slow(RotatedEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            began.set()
            assert go_on.wait(60)
            return super().embed(texts)

    second = Slow()
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory:
        tell(memory, 40)
        making = threading.Thread(target=memory.catch_up_vectors, args=["ana"])
        making.start()
        assert began.wait(60)
        tell(memory, 1, first=40)
        assert "number 40 " in search(memory, "locker number 40")[0].fact.fact_text
        assert memory.catch_up_vectors("ana").reason == "Another process is making them."
        with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as other:
            assert other.catch_up_vectors("ana").reason == "Another process is making them."
        go_on.set()
        making.join(60)
        assert spaces(memory)["second"].missing == 0
        assert set(second.made.values()) == {1}
        assert [path.name for path in root.iterdir() if path.name.endswith("-vectors")] == []


def test_a_namespace_that_is_cleared_while_its_vectors_are_made_stays_cleared(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, 40)

    class Cleared(RotatedEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            with Memory(root=root, embedder=WordEmbedder()) as other:
                other.clear("ana")
            return super().embed(texts)

    with Memory(root=root, embedder=WordEmbedder(), second=Cleared()) as memory:
        assert memory.catch_up_vectors("ana").made == 0
        assert memory.namespaces() == []
    assert list(root.iterdir()) == []


def test_forgetting_reaches_the_vectors_of_every_model(root: Path) -> None:
    first, second = WordEmbedder(), RotatedEmbedder()
    secret = "My safe is behind the painting."
    with Memory(root=root, embedder=first, second=second) as memory:
        tell(memory, 3)
        [fact] = memory.add("ana", secret)
        memory.catch_up_vectors("ana")
        held = [vector.astype("<f4").tobytes()[:64] for vector in (first.embed([secret])[0], second.embed([secret])[0])]
        file = Path(memory.status("ana")[0].path)
        assert all(any(part in path.read_bytes() for path in root.iterdir()) for part in held)
        memory.forget("ana", fact_id=fact)
        assert not any(part in path.read_bytes() for part in held for path in root.iterdir())
        assert memory.check("ana") == []
        assert file.exists()


def test_what_is_forgotten_while_its_vector_is_made_leaves_none_and_its_place_may_be_taken(root: Path) -> None:
    secret = "My safe is behind the painting."

    class Forgets(RotatedEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            made = super().embed(texts)
            if secret in texts:
                memory.forget("ana", fact_id=fact)
                memory.add("ana", "My boat is in the harbour.", t_ref=day(1))
            return made

    second = Forgets()
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory:
        tell(memory, 3)
        [fact] = memory.add("ana", secret, t_ref=day(1))
        assert memory.catch_up_vectors("ana").missing == 0
        held = WordEmbedder.embed(second, [secret])[0].astype("<f4").tobytes()[:64]
        assert not any(held in path.read_bytes() for path in root.iterdir())
        assert memory.check("ana") == []
        assert "boat" in search(memory, "where is the boat in the harbour")[0].fact.fact_text
        assert lacking(memory) == set()


def test_whoever_adds_searches_forgets_and_makes_vectors_at_once_gets_in_nobodys_way(root: Path) -> None:
    second = RotatedEmbedder()
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory, ThreadPoolExecutor(4) as pool:
        tell(memory, 50)
        over = threading.Event()

        def make() -> None:
            while not over.is_set():
                memory.catch_up_vectors("ana")

        def forget(number: int) -> None:
            [fact] = memory.add("ana", f"The spare key {number} is with Pablo.")
            memory.forget("ana", fact_id=fact)

        making = pool.submit(make)
        works = [
            pool.submit(lambda: [tell(memory, 1, first=50 + number) for number in range(30)]),
            pool.submit(lambda: [forget(number) for number in range(10)]),
            pool.submit(lambda: [answers(memory) for _ in range(10)]),
        ]
        for work in works:
            work.result(timeout=120)
        over.set()
        making.result(timeout=120)
        assert memory.catch_up_vectors("ana").missing == 0
        assert (lacking(memory), memory.check("ana")) == (set(), [])
        assert {text: times for text, times in second.made.items() if times > 1} == {}


def test_vectors_that_are_not_used_any_more_can_be_dropped(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
        tell(memory, 300)
        memory.catch_up_vectors("ana")
        assert memory.drop_old_vectors("ana") == 0
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        before = answers(memory)
        assert memory.drop_old_vectors("ana") == 1
        assert set(spaces(memory)) == {"embedder"}
        assert (answers(memory), memory.check("ana")) == (before, [])
    second = RotatedEmbedder()
    with Memory(root=root, embedder=WordEmbedder(), second=second) as memory:
        assert lacking(memory) == {NO_SECOND}
        assert memory.catch_up_vectors("ana").made == spaces(memory)["second"].texts
        assert (answers(memory), memory.check("ana")) == (before, [])


def test_a_search_writes_nothing_whatever_is_missing(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        tell(memory, 300)
    with Memory(root=root, embedder=RotatedEmbedder(), second=RotatedEmbedder(model_id="third")) as memory:
        memory.search("ana", "locker")
        before = {path.name: path.read_bytes() for path in root.iterdir() if not path.name.endswith("-shm")}
        for query in QUERIES:
            memory.search("ana", query)
        memory.status()
        assert {path.name: path.read_bytes() for path in root.iterdir() if not path.name.endswith("-shm")} == before


def test_a_search_does_not_fail_with_its_embedder(root: Path) -> None:
    class Broken(WordEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            raise ModelError("The model is damaged.")

    with Memory(root=root, embedder=Broken()) as memory:
        memory.add("ana", "I play the oboe.")
        [hit] = memory.search("ana", "oboe")
        assert (hit.degraded, hit.fact.object) == ((NO_EMBEDDER,), "oboe")
