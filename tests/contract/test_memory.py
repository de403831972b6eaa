"""The library as its users see it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lean_memory import Memory
from lean_memory.errors import ClosedError, InvalidInputError, ModelError
from support.embedding import WordEmbedder
from support.moments import day, ms


def test_the_quickstart_answers_with_the_new_employer(root: Path) -> None:
    with Memory(root=root) as memory:
        memory.add("user-42", "I work at Acme Corp.")
        result = memory.add("user-42", "I now work at Globex.")
        assert memory.search("user-42", "where does the user work?")[0].fact.fact_text == "I now work at Globex."
        assert "Acme" not in " ".join(h.fact.fact_text for h in memory.search("user-42", "where does the user work?"))
        assert len(result) == len(result.superseded) == 1


def test_saying_it_again_makes_no_second_fact_and_is_dated(memory: Memory) -> None:
    [first] = memory.add("ana", "I live in Turin.", t_ref=day(1))
    again = memory.add("ana", "I live in Turin!", t_ref=day(30))
    assert (list(again), again.existing) == ([], (first,))
    [entry] = memory.history("ana", first)
    assert entry.confirmed_at == (ms(day(30)),)


def test_an_older_statement_that_arrives_late_does_not_displace_the_current_one(memory: Memory) -> None:
    memory.add("ana", "I now work at Globex.", t_ref=day(20))
    memory.add("ana", "I work at Acme.", t_ref=day(10))
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Globex"]
    assert [f.object for f in memory.facts("ana", predicate="works_at", as_of=day(15))] == ["Acme"]


def test_a_correction_takes_the_place_of_what_was_never_so(memory: Memory) -> None:
    memory.add("ana", "I live in Porto.", t_ref=day(1))
    memory.add("ana", "Sorry, I meant Lisbon.", t_ref=day(2))
    [current] = memory.facts("ana", predicate="lives_in")
    assert (current.object, current.valid_at) == ("Lisbon", ms(day(1)))
    assert [f.object for f in memory.facts("ana", predicate="lives_in", as_of=day(1, year=2025))] == ["Lisbon"]


def test_what_was_believed_before_a_correction_can_still_be_asked(memory: Memory) -> None:
    [wrong] = memory.add("ana", "I live in Porto.", t_ref=day(1))
    known_at = memory.facts("ana")[0].recorded_at
    memory.add("ana", "Sorry, I meant Lisbon.", t_ref=day(2))
    assert [f.id for f in memory.facts("ana", as_of=day(3), known_at=known_at)] == [wrong]


@pytest.mark.parametrize(
    ("told", "ended"),
    [
        (("We use Redis for caching.", "We stopped using Redis."), "Redis"),
        (("I am allergic to strawberries.", "I'm not allergic to strawberries anymore."), "strawberries"),
    ],
)
def test_a_retraction_ends_only_what_it_names(memory: Memory, told: tuple[str, str], ended: str) -> None:
    memory.add("ana", "We use Kafka for events.", t_ref=day(1))
    memory.add("ana", "I am allergic to latex.", t_ref=day(1))
    memory.add("ana", told[0], t_ref=day(2))
    memory.add("ana", told[1], t_ref=day(3))
    current = " ".join(f.fact_text for f in memory.facts("ana"))
    assert ended not in current
    assert "Kafka" in current
    assert "latex" in current


def test_what_only_another_person_says_retires_nothing(memory: Memory) -> None:
    memory.add("ana", "I work at Acme.", t_ref=day(1))
    memory.add("ana", 'My friend said, "I work at Volta."', t_ref=day(2))
    memory.add("ana", "If I worked at Globex, I would move.", t_ref=day(3))
    memory.add("ana", "I used to work at Initech.", t_ref=day(4))
    memory.add("ana", "Next year I will join Umbrella.", t_ref=day(5))
    assert [f.object for f in memory.facts("ana", subject="user", predicate="works_at")] == ["Acme"]


def test_everything_said_survives_a_restart(root: Path) -> None:
    with Memory(root=root) as memory:
        memory.add("ana", "I play the oboe.")
    with Memory(root=root) as memory:
        assert memory.search("ana", "which instrument does the user play")[0].fact.object == "oboe"


def test_a_closed_memory_says_so(memory: Memory) -> None:
    memory.close()
    memory.close()
    with pytest.raises(ClosedError, match="closed"):
        memory.add("ana", "I like tea.")


def test_adding_many_reports_progress_and_keeps_order(memory: Memory) -> None:
    seen: list[int] = []
    texts = [{"text": f"My desk number is {n}.", "t_ref": day(n + 1)} for n in range(300)]
    results = memory.add_many("ana", texts, progress=seen.append)
    assert (len(results), seen) == (300, [256, 300])
    assert [f.object for f in memory.facts("ana", predicate="desk_number")] == ["299"]


def test_an_assistant_cannot_retire_what_the_person_said(memory: Memory) -> None:
    memory.add("ana", "Quentin works at Acme.", t_ref=day(1))
    memory.add("ana", "Quentin works at Globex.", t_ref=day(2), source="assistant")
    held = {f.object: f.trust for f in memory.facts("ana", predicate="works_at")}
    assert held == {"Acme": "user", "Globex": "inferred"}
    memory.add("ana", "Quentin works at Initech.", t_ref=day(3))
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Initech"]
    assert memory.check("ana") == []


def test_what_a_tool_said_first_decides_once_the_person_says_it(memory: Memory) -> None:
    memory.add("ana", "My favorite color is red.", t_ref=day(0))
    memory.add("ana", "My favorite color is blue.", t_ref=day(1), source="tool")
    again = memory.add("ana", "My favorite color is blue.", t_ref=day(2))
    assert (len(again.existing), len(again.superseded)) == (1, 1)
    assert [f.object for f in memory.facts("ana", predicate="favorite_color")] == ["blue"]
    assert [f.object for f in memory.facts("ana", predicate="favorite_color", as_of=day(0.5))] == ["red"]
    assert memory.check("ana") == []


def test_saying_one_of_two_values_kept_side_by_side_again_ends_neither(memory: Memory) -> None:
    memory.add("ana", "I work at Acme.", t_ref=day(0))
    memory.add("ana", "I also work at Globex.", t_ref=day(1))
    memory.add("ana", "I work at Globex.", t_ref=day(2))
    assert {f.object for f in memory.facts("ana", predicate="works_at")} == {"Acme", "Globex"}


def test_another_spelling_retracts_by_meaning(root: Path) -> None:
    with Memory(root=root) as memory:
        memory.add("ana", "I'm allergic to strawberries.", t_ref=day(1))
        memory.add("ana", "I'm allergic to shellfish.", t_ref=day(1))
        memory.add("ana", "I am no longer allergic to strawberry.", t_ref=day(2))
        assert [f.object for f in memory.facts("ana", predicate="allergic_to")] == ["shellfish"]


def test_loving_and_hating_the_same_thing_are_not_both_true(memory: Memory) -> None:
    memory.add("ana", "I love cilantro.", t_ref=day(1))
    memory.add("ana", "I hate cilantro.", t_ref=day(2))
    assert [(f.predicate, f.object) for f in memory.facts("ana")] == [("dislikes", "cilantro")]
    assert [(f.predicate, f.object) for f in memory.facts("ana", as_of=day(1, year=2025))] == [("likes", "cilantro")]


@pytest.mark.parametrize("told_at", [(1, 2), (2, 1)], ids=["in order", "the retraction first"])
@pytest.mark.parametrize("at_once", [True, False], ids=["in one batch", "one by one"])
def test_a_retraction_means_the_same_however_it_arrives(memory: Memory, told_at: tuple[int, int], at_once: bool) -> None:
    told = [("I like strawberries.", day(1)), ("I no longer like strawberry.", day(2))]
    items = [{"text": told[n - 1][0], "t_ref": told[n - 1][1]} for n in told_at]
    if at_once:
        memory.add_many("ana", items)
    else:
        for item in items:
            memory.add_many("ana", [item])
    assert memory.facts("ana", predicate="likes") == []
    assert [f.object for f in memory.facts("ana", predicate="likes", as_of=day(1))] == ["strawberries"]


def test_one_text_that_cannot_be_read_locks_nothing(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.add("ana", "I like tea.")
    with monkeypatch.context() as broken:
        broken.setattr("lean_memory.ingest.extract", lambda *_, **__: 1 / 0)
        result = memory.add("ana", "The oboe is mine.")
        assert (result.queued, list(result)) == (True, [])
        assert "oboe" in memory.search("ana", "oboe")[0].fact.fact_text
    memory.add("ana", "I like rice.")
    assert {f.object for f in memory.facts("ana", predicate="likes")} == {"tea", "rice"}
    assert memory.status("ana")[0].unfinished == 1
    with Memory(root=root, embedder=WordEmbedder()) as later:
        assert len(later.facts("ana")) == 3
        assert later.status("ana")[0].unfinished == 0


def test_without_its_model_the_memory_keeps_and_finds_by_words(root: Path) -> None:
    class Missing(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ModelError("The model is gone.")

    with Memory(root=root, embedder=Missing()) as memory:
        assert memory.add("ana", "I play the oboe.").queued
        assert [f.object for f in memory.facts("ana")] == ["oboe"]
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        [hit] = memory.search("ana", "oboe")
        assert (hit.degraded, hit.dense_rank) == ((), 1)


def test_clearing_waits_for_a_call_that_is_at_work_so_that_one_after_another_keeps_nobody_from_it(root: Path) -> None:
    began, cleared, order = threading.Event(), threading.Event(), list[str]()

    class Slow(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            began.set()
            cleared.wait(0.3)
            return super().embed(texts)

    with Memory(root=root, embedder=Slow()) as memory, ThreadPoolExecutor(1) as pool:
        adding = pool.submit(memory.add, "ana", "I like tea.")
        adding.add_done_callback(lambda _: order.append("added"))
        began.wait()
        assert memory.clear("ana").existed
        order.append("cleared")
        cleared.set()
        adding.result(timeout=60)
        assert memory.namespaces() == []
    assert order == ["added", "cleared"]


def test_threads_that_add_search_and_clear_get_in_nobodys_way(memory: Memory) -> None:
    def busy(work: Callable[[int], object]) -> None:
        for turn in range(40):
            work(turn)

    works: list[Callable[[int], object]] = [
        lambda turn: memory.add("ana", f"My locker number is {turn}."),
        lambda _: memory.search("ana", "locker number"),
        lambda _: memory.facts("ana"),
        lambda turn: memory.clear("ana") if turn % 10 == 9 else memory.status(),
    ]
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(busy, work) for work in works]:
            done.result(timeout=120)


def test_arguments_of_the_wrong_type_are_refused_in_a_sentence(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    with pytest.raises(InvalidInputError, match="k must lie"):
        memory.search("ana", "tea", k=2.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="query"):
        memory.search("ana", None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="limit"):
        memory.facts("ana", limit=-1)
    with pytest.raises(InvalidInputError, match="named by a string"):
        memory.facts(3)  # type: ignore[arg-type]


def test_many_namespaces_take_no_more_than_some_open_files(memory: Memory) -> None:
    for number in range(60):
        memory.add(f"person {number}", f"My locker number is {number}.")
    for number in range(60):
        assert [f.object for f in memory.facts(f"person {number}")] == [str(number)]
    assert len(memory.status()) == 60
    handles = Path("/proc/self/fd")
    if handles.exists():
        held = [path.readlink() for path in handles.iterdir() if path.is_symlink()]
        assert len({path for path in held if path.suffix == ".db" and path.is_relative_to(memory.root)}) <= 33
