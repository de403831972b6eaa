"""Forgetting through the library: nothing of it is left, and it is not learned again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory import Memory

CANARY = "zanzibarite"


def bytes_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()).lower()


@pytest.mark.parametrize("verb", ["fact_id", "episode_id", "entity"])
def test_what_is_forgotten_leaves_no_byte_and_is_not_learned_again(memory: Memory, verb: str) -> None:
    memory.add("ana", "I like tea.")
    result = memory.add("ana", f"{CANARY.title()} is my colleague.")
    assert CANARY in bytes_of(memory.root).decode("utf-8", "replace")
    chosen = {"fact_id": result[0], "episode_id": result.episode_id, "entity": CANARY.title()}[verb]
    erased = memory.forget("ana", **{verb: chosen})
    assert erased.facts >= 1
    assert CANARY.encode() not in bytes_of(memory.root)
    again = memory.add("ana", f"{CANARY.title()} is my colleague. I like rice.")
    assert again.withheld >= 1
    assert CANARY.encode() not in bytes_of(memory.root)
    assert CANARY not in " ".join(h.fact.fact_text.casefold() for h in memory.search("ana", CANARY))
    assert {f.object for f in memory.facts("ana", predicate="likes")} == {"tea", "rice"}
    assert memory.check("ana") == []


def test_a_text_of_nothing_but_forgotten_sentences_is_not_stored(memory: Memory) -> None:
    [fact] = memory.add("ana", "My locker number is 4711.")
    memory.forget("ana", fact_id=fact)
    again = memory.add("ana", "My locker number is 4711.")
    assert (again.episode_id, list(again), again.withheld) == ("", [], 1)
    assert b"4711" not in bytes_of(memory.root)


def test_clearing_removes_the_file(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    assert memory.clear("ana")
    assert not memory.clear("ana")
    assert memory.namespaces() == []
    memory.add("ana", "I like rice.")
    assert [f.object for f in memory.facts("ana")] == ["rice"]
