"""Forgetting and clearing: shown, asked, then gone."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from support.command import PATIENCE, Command


def bytes_left(command: Command, word: bytes) -> int:
    return sum(path.read_bytes().lower().count(word) for path in command.root.rglob("*") if path.is_file())


def answered(command: Command, *words: str, answer: str) -> tuple[int, str]:
    """The exit code, and all that a person at a terminal saw, having typed `answer`."""
    here, there = pty.openpty()
    process = subprocess.Popen(
        command.arguments(*words), env=command.environment(), stdin=there, stdout=there, stderr=there, start_new_session=True
    )
    os.close(there)
    os.write(here, answer.encode() + b"\n")
    seen = b""
    try:
        while chunk := os.read(here, 65536):
            seen += chunk
    except OSError:
        pass  # Linux reports the end of a terminal as an error
    os.close(here)
    return process.wait(PATIENCE), seen.decode()


def told(command: Command) -> None:
    command.done("add", "I am allergic to peanuts.")
    command.done("add", "I work at Globex.")


def fact_about(command: Command, predicate: str) -> str:
    (fact,) = command.json("facts", "--predicate", predicate)["facts"]
    return fact["id"]


@pytest.mark.parametrize("words", [["forget", "--entity", "Globex"], ["forget", "--matching", "peanuts", "-k", "1"], ["clear", "default"]])
def test_nothing_is_erased_without_a_terminal_and_without_yes(command: Command, words: list[str]) -> None:
    told(command)
    outcome = command.run(*words, said=b"yes\n")
    assert outcome.code == 2
    assert outcome.is_one_sentence(), outcome
    assert len(command.json("facts")["facts"]) == 2


def test_a_person_sees_what_goes_and_may_say_no(command: Command) -> None:
    told(command)
    code, seen = answered(command, "forget", fact_about(command, "allergic_to"), answer="no")
    assert code == 1
    assert "I am allergic to peanuts." in seen
    assert "Nothing was erased." in seen
    assert len(command.json("facts")["facts"]) == 2


def test_a_person_who_agrees_has_it_erased_to_the_last_byte(command: Command) -> None:
    told(command)
    code, seen = answered(command, "forget", fact_about(command, "allergic_to")[-8:], answer="yes")
    assert (code, "Erased: 1 fact," in seen) == (0, True), seen
    assert bytes_left(command, b"peanuts") == 0
    assert [fact["object"] for fact in command.json("facts")["facts"]] == ["Globex"]


def test_yes_erases_without_asking_and_json_says_what_went(command: Command) -> None:
    told(command)
    fact_id = fact_about(command, "allergic_to")
    gone = command.json("forget", fact_id, "--yes")
    assert gone["fact_ids"] == [fact_id]
    assert [erased["facts"] for erased in gone["erased"]] == [1]
    assert bytes_left(command, b"peanuts") == 0


def test_one_message_or_one_entity_can_be_forgotten(command: Command) -> None:
    told(command)
    episode = command.json("facts", "--predicate", "allergic_to")["facts"][0]["episode_id"]
    command.done("forget", "--episode", episode, "--yes")
    command.done("forget", "--entity", "globex", "--yes")
    assert command.json("facts", "--history")["facts"] == []
    assert bytes_left(command, b"peanuts") == bytes_left(command, b"globex") == 0


def test_clearing_asks_and_removes_the_file(command: Command) -> None:
    told(command)
    command.done("-n", "other", "add", "I like chess.")
    code, _ = answered(command, "clear", "default", answer="")
    assert code == 1
    code, seen = answered(command, "clear", "default", answer="yes")
    assert code == 0, seen
    assert command.json("namespaces")["namespaces"] == ["other"]
    assert bytes_left(command, b"peanuts") == 0


def test_what_only_comes_nearest_to_a_question_is_not_erased(command: Command) -> None:
    told(command)
    command.done("add", "My favourite tea is oolong.")
    never_told = command.run("forget", "--matching", "pineapple", "--yes")
    assert never_told.code == 1
    assert "nothing was erased" in never_told.err
    command.done("forget", "--matching", "oolong", "--yes")
    left = command.done("facts")
    assert "oolong" not in left
    assert "peanuts" in left
    assert "Globex" in left
