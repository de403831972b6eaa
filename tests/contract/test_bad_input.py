"""Odd input is stored as it is or refused in a sentence; it never ends in a traceback or in another namespace."""

from __future__ import annotations

import pytest

from lean_memory import Memory
from lean_memory.errors import InvalidInputError, InvalidNamespaceError, InvalidTextError, NotFoundError

REFUSED_TEXTS = ("", "   \n\t ", "half \ud83d a character", "a\x00b")
KEPT_TEXTS = (
    "I live in Zürich 🏔️ with my cat 🐈‍⬛.",
    "أنا أعيش في القاهرة وأعمل مهندسا.",
    "x" * 100_000,
    "I like tea. " * 87_000,
    "\u202eI live in Haifa\u202c.",
    "e\u0301" * 50,
)
DISTINCT_NAMES = ("../x", "CON", "con", "client/a", "client_a", "Client_A", "仕事", "私事", "n" * 300, "..", ".", "nul.txt", "a b", "a%20b")


@pytest.mark.parametrize("text", REFUSED_TEXTS)
def test_a_text_that_cannot_be_kept_is_refused_and_nothing_is_written(memory: Memory, text: str) -> None:
    with pytest.raises(InvalidTextError, match="nothing was stored"):
        memory.add("ana", text)
    assert memory.namespaces() == []


@pytest.mark.parametrize("text", KEPT_TEXTS, ids=lambda t: f"{len(t)} characters")
def test_an_odd_text_is_kept_and_found(memory: Memory, text: str) -> None:
    memory.add("ana", "I collect stamps.")
    result = memory.add("ana", text)
    assert memory.status("ana")[0].episodes == 2
    assert result.episode_id
    assert memory.check("ana") == []


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800"])
def test_a_name_that_no_namespace_may_have_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidNamespaceError):
        memory.add(name, "I like tea.")
    with pytest.raises(InvalidNamespaceError):
        memory.search(name, "tea")


def test_names_that_look_alike_are_different_namespaces(memory: Memory) -> None:
    for number, name in enumerate(DISTINCT_NAMES):
        memory.add(name, f"My locker number is {number}.")
    assert memory.namespaces() == sorted(DISTINCT_NAMES)
    for number, name in enumerate(DISTINCT_NAMES):
        assert [f.object for f in memory.facts(name)] == [str(number)]
    assert all(path.parent == memory.root for path in memory.root.iterdir())


@pytest.mark.parametrize("query", ['"', "AND", "NOT a*", "-", "(", "a OR", "NEAR(", "\ud800", "x" * 100_000, "^:{}", "的", "🏔️"])
def test_a_query_of_any_shape_is_answered(memory: Memory, query: str) -> None:
    memory.add("ana", "I like tea. 我住在杭州。")
    assert isinstance(memory.search("ana", query), list)


def test_arguments_out_of_range_are_refused(memory: Memory) -> None:
    memory.add("ana", "I like tea.")
    with pytest.raises(InvalidInputError, match="empty"):
        memory.search("ana", " ")
    with pytest.raises(InvalidInputError, match="k must lie"):
        memory.search("ana", "tea", k=0)
    with pytest.raises(InvalidInputError, match="time zone"):
        memory.add("ana", "I like tea.", tz="Mars/Olympus")
    with pytest.raises(InvalidInputError, match="source"):
        memory.add("ana", "I like tea.", source="robot")
    with pytest.raises(InvalidInputError, match="t_ref"):
        memory.add("ana", "I like tea.", t_ref=10**18)
    with pytest.raises(InvalidInputError, match="exactly one"):
        memory.forget("ana")
    with pytest.raises(NotFoundError):
        memory.forget("ana", fact_id="no-such-fact")
    with pytest.raises(NotFoundError):
        memory.history("ana", "no-such-fact")


def test_reading_an_unknown_namespace_finds_nothing_and_makes_no_file(memory: Memory) -> None:
    assert memory.search("nobody", "tea") == []
    assert memory.facts("nobody") == []
    assert memory.namespaces() == []
