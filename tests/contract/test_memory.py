"""The library as its users see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import ClosedError
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
    texts = [{"text": f"My desk number is {n}.", "t_ref": day(n + 1)} for n in range(130)]
    results = memory.add_many("ana", texts, progress=seen.append)
    assert (len(results), seen) == (130, [64, 128, 130])
    assert [f.object for f in memory.facts("ana", predicate="desk_number")] == ["129"]


def test_an_assistant_cannot_retire_what_the_person_said(memory: Memory) -> None:
    memory.add("ana", "Quentin works at Acme.", t_ref=day(1))
    memory.add("ana", "Quentin works at Globex.", t_ref=day(2), source="assistant")
    held = {f.object: f.trust for f in memory.facts("ana", predicate="works_at")}
    assert held == {"Acme": "user", "Globex": "inferred"}
    memory.add("ana", "Quentin works at Initech.", t_ref=day(3))
    assert [f.object for f in memory.facts("ana", predicate="works_at")] == ["Initech"]
    assert memory.check("ana") == []


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
