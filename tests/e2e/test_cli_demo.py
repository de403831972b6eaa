"""The demo shows what the calls returned, for the names and sentences it is given."""

from __future__ import annotations

import pytest

from support.command import Command


def answers(command: Command, *words: str) -> dict[str, list[object]]:
    steps = command.json("demo", *words)["steps"]
    return {call: [step["answer"] for step in steps if step["call"] == call] for call in {step["call"] for step in steps}}


@pytest.mark.parametrize(
    ("names", "employer", "city"),
    [([], "Globex", "Lisbon"), (["Ana", "Initrode"], "Initrode", "Lisbon"), (["Bo", "Acme Corp", "Berlin"], "Acme Corp", "Berlin")],
)
def test_the_main_job_is_done_for_any_names(command: Command, names: list[str], employer: str, city: str) -> None:
    got = answers(command, *names)
    now, then, before_correction, other_words, danger = (step[0]["fact"]["fact_text"] for step in got["search"])
    assert employer in now
    assert employer not in then
    assert city not in before_correction
    assert employer in other_words
    assert "peanuts" in danger
    lives_in, likes, allergies = got["facts"]
    assert [fact["object"] for fact in lives_in] == [city]
    assert (got["maintain"][0]["proposed"], got["decide"]) == ({"merge": 1}, [{"kind": "merge", "state": "approved"}])
    assert [fact["fact_text"] for fact in likes] == ["I like long walks by the river."]
    assert allergies == []
    assert [entry["reason"] for entry in got["history"][0]] == ["superseded", None]
    assert got["scan"][0] > 0
    assert got["scan"][1] == 0


def test_the_persons_own_sentences_are_remembered_and_questions_answered(command: Command) -> None:
    shown = command.done("demo", "--say", "My cat is called Tom.", "--say", "What is my cat called?")
    assert shown.count("My cat is called Tom.") >= 2


def test_a_person_can_talk_to_it(command: Command) -> None:
    shown = command.done("demo", "--interactive", said=b"I play the cello.\nWhich instrument do I play?\n\n")
    assert shown.count("cello") >= 2


def test_it_leaves_nothing_behind(command: Command) -> None:
    command.done("demo")
    assert not command.root.exists()
