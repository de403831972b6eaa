"""What the memory has served is no new evidence when it comes back; what is said anew, or otherwise, always counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Fact
from support.embedding import WordEmbedder
from support.statements import DAY, SteadyClock, day

HOUR = DAY // 24
SOURCES = ("user", "assistant", "tool")


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock(day(100))


@pytest.fixture
def memory(root: Path, clock: SteadyClock) -> Iterator[Memory]:
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as opened:
        yield opened
        assert opened.check("ana") == []


def told_and_served(memory: Memory, clock: SteadyClock, text: str) -> list[Fact]:
    """The facts of a text that was told, and found an hour later."""
    memory.add("ana", text)
    clock.now = clock.now + HOUR
    assert memory.search("ana", text)
    clock.now = clock.now + HOUR
    return memory.facts("ana", include_history=True)


def confirmations(memory: Memory) -> int:
    """How often anything known was said again."""
    facts = memory.facts("ana", include_history=True)
    return sum(len(entry.confirmed_at) for fact in facts for entry in memory.history("ana", fact.id) if entry.fact.id == fact.id)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "text",
    [
        "I work at Acme.",
        "My sister Ana lives in Porto.",
        "We deploy on Fridays after the review.",
        "我在阿里巴巴工作。",
        "Ich wohne in Kiel.",
        "I use C++.",
    ],
)
def test_what_a_search_returned_creates_nothing_when_it_comes_back_word_for_word(
    memory: Memory, clock: SteadyClock, text: str, source: str
) -> None:
    before = told_and_served(memory, clock, text)
    for hit in memory.search("ana", text):
        memory.add("ana", hit.fact.fact_text, source=source)
        memory.add("ana", hit.source, source=source)
    assert memory.facts("ana", include_history=True) == before
    assert confirmations(memory) == 0


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ("I work at Acme.", "The user works at Acme."),
        ("I work at Acme.", "You work at Acme."),
        ("I work at Acme.", "As you told me, you work at Acme."),
        ("I work at Acme.", "I remember that you work at Acme."),
        ("I work at Acme.", "According to my memory, you work at Acme."),
        ("I don't eat meat.", "The user does not eat meat."),
        ("My sister Ana lives in Porto.", "The user's sister Ana lives in Porto."),
        ("Our staging database listens on port 8090.", "The staging database listens on port 8090."),
        ("We deploy on Fridays after the review.", "We deploy on Fridays, after the review!"),
        ("我在阿里巴巴工作。", "用户在阿里巴巴工作。"),
    ],
)
def test_a_light_paraphrase_creates_nothing_either(memory: Memory, clock: SteadyClock, text: str, echo: str, source: str) -> None:
    before = told_and_served(memory, clock, text)
    told = memory.add("ana", echo, source=source)
    assert (told.fact_ids, told.superseded) == ((), ())
    assert memory.facts("ana", include_history=True) == before
    assert confirmations(memory) == 0


def test_an_echo_is_answered_with_the_fact_it_repeats(memory: Memory, clock: SteadyClock) -> None:
    [fact] = told_and_served(memory, clock, "I work at Acme.")
    told = memory.add("ana", "The user works at Acme.")
    assert (told.existing, told.echoed) == ((fact.id,), 1)


def test_said_anew_a_month_later_it_is_a_dated_confirmation(memory: Memory, clock: SteadyClock) -> None:
    [fact] = told_and_served(memory, clock, "I work at Acme.")
    clock.now = clock.now + 30 * DAY
    told = memory.add("ana", "I work at Acme.")
    assert (told.existing, told.echoed) == ((fact.id,), 0)
    [entry] = memory.history("ana", fact.id)
    assert entry.confirmed_at == (clock.now,)


def test_what_was_said_before_it_was_served_is_evidence(memory: Memory, clock: SteadyClock) -> None:
    told_and_served(memory, clock, "I work at Acme.")
    said = clock.now - 10 * HOUR
    assert memory.add("ana", "I work at Acme.", t_ref=said).echoed == 0
    assert [fact.valid_at for fact in memory.facts("ana")] == [said]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I work at Acme.", "I now work at Globex."),
        ("I work at Acme.", "I have worked at Acme since 2019."),
        ("I work at Acme.", "I no longer work at Acme."),
        ("I work at Acme.", "She works at Acme."),
        ("I work at Acme.", "Ana works at Acme."),
        ("I use C++.", "I use C#."),
        ("I know Hans.", "I know Han."),
        ("Our staging port is 8090.", "Our staging port is 8091."),
        ("I eat meat.", "I don't eat meat."),
        ("We deploy on Fridays after the review.", "We deploy on Fridays before the review."),
    ],
)
def test_whoever_says_something_else_is_heard(memory: Memory, clock: SteadyClock, text: str, other: str) -> None:
    told_and_served(memory, clock, text)
    assert memory.add("ana", other).echoed == 0


def test_going_back_to_what_was_served_and_has_ended_is_a_change(memory: Memory, clock: SteadyClock) -> None:
    told_and_served(memory, clock, "I work at Acme.")
    memory.add("ana", "I now work at Globex.")
    clock.now = clock.now + HOUR
    assert [f.object for f in memory.facts("ana", include_history=True)]
    clock.now = clock.now + HOUR
    told = memory.add("ana", "I work at Acme.")
    assert len(told) == 1
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Acme"]


def test_an_assistant_that_repeats_what_has_ended_changes_nothing(memory: Memory, clock: SteadyClock) -> None:
    told_and_served(memory, clock, "Ana works at Acme.")
    memory.add("ana", "Ana now works at Globex.")
    clock.now = clock.now + HOUR
    memory.facts("ana", include_history=True)
    told = memory.add("ana", "Ana works at Acme.", source="assistant")
    assert (told.fact_ids, told.superseded, told.existing, told.echoed) == ((), (), (), 1)


def test_one_value_of_a_sentence_may_change_back_while_the_other_stands(memory: Memory, clock: SteadyClock) -> None:
    told_and_served(memory, clock, "My sister Ana lives in Porto.")
    memory.add("ana", "My sister Ana lives in Lisbon.")
    clock.now = clock.now + HOUR
    memory.search("ana", "sister")
    clock.now = clock.now + HOUR
    memory.add("ana", "My sister Ana lives in Porto.")
    assert [f.object for f in memory.facts("ana", subject="Ana", predicate="lives_in")] == ["Porto"]


def test_an_echo_is_hidden_and_erased_with_what_it_repeats(memory: Memory, clock: SteadyClock) -> None:
    [fact] = told_and_served(memory, clock, "I work at Acme.")
    memory.add("ana", "The user works at Acme.", source="tool")
    memory.add("ana", "I now work at Globex.")
    assert "Acme" not in "".join(hit.fact.fact_text for hit in memory.search("ana", "Acme", k=20))
    memory.forget("ana", fact_id=fact.id)
    assert "Acme" not in "".join(hit.fact.fact_text for hit in memory.search("ana", "Acme", k=20, is_latest_only=False))


def test_serving_writes_nothing_and_no_ranking_changes(memory: Memory, clock: SteadyClock) -> None:
    told_and_served(memory, clock, "I work at Acme.")
    memory.add("ana", "I like tea.")
    first = memory.search("ana", "work")
    for _ in range(50):
        memory.facts("ana")
        assert memory.search("ana", "work") == first


def test_another_memory_of_the_same_folder_knows_nothing_of_what_was_served_here(root: Path, clock: SteadyClock, memory: Memory) -> None:
    [fact] = told_and_served(memory, clock, "I work at Acme.")
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as other:
        told = other.add("ana", "I work at Acme.")
    assert (told.existing, told.echoed, told.fact_ids) == ((fact.id,), 0, ())
