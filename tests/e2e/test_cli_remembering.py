"""Telling, asking and listing from a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.command import Command

COMMANDS = Path(__file__).parents[2] / "docs" / "commands.md"


def tell_two_employers(command: Command) -> None:
    command.done("add", "--t-ref", "2024-01-10", "I work at Acme Corp.")
    command.done("add", "--t-ref", "2024-06-10T09:00+02:00", "I now work at Globex.")


def test_what_is_told_is_found_listed_and_its_past_kept(command: Command) -> None:
    tell_two_employers(command)
    headings, _, first, *_ = (line for line in command.done("search", "where does the user work?").splitlines() if line.strip())
    assert "why" in headings
    assert "I now work at Globex." in first
    current = command.done("facts")
    assert "Globex" in current
    assert "Acme" not in current
    assert "Acme" in command.done("facts", "--as-of", "2024-03-01")
    assert "superseded" in command.done("facts", "--history")


def test_a_date_without_an_offset_is_local_time(command: Command) -> None:
    added = command.json("add", "--t-ref", "2024-01-10", "I work at Acme Corp.")
    (fact,) = command.json("facts")["facts"]
    assert fact["id"] == added["fact_ids"][0]
    assert fact["valid_at"] == 1704841200000
    command.done("--tz", "Asia/Taipei", "-n", "other", "add", "--t-ref", "2024-01-10", "I work at Acme Corp.")
    (elsewhere,) = command.json("-n", "other", "facts")["facts"]
    assert fact["valid_at"] - elsewhere["valid_at"] == 7 * 3_600_000


def test_what_was_known_earlier_can_be_asked(command: Command) -> None:
    tell_two_employers(command)
    first = next(fact for fact in command.json("facts", "--history")["facts"] if "Acme" in fact["object"])
    (known,) = command.json("facts", "--known-at", str(first["recorded_at"]))["facts"]
    assert "Acme" in known["object"]


def test_the_history_of_a_fact_is_found_by_the_end_of_its_id(command: Command) -> None:
    tell_two_employers(command)
    (fact,) = command.json("facts")["facts"]
    entries = command.json("history", fact["id"])["history"]
    assert [entry["reason"] for entry in entries] == ["superseded", None]
    assert fact["id"][-8:] in command.done("history", fact["id"][-8:])
    missing = command.run("history", "no-such-fact")
    assert missing.code == 1
    assert missing.is_one_sentence()


def test_words_without_quotes_are_one_text(command: Command) -> None:
    command.done("add", "I", "work", "at", "Globex.")
    assert [fact["fact_text"] for fact in command.json("facts")["facts"]] == ["I work at Globex."]


@pytest.mark.parametrize("dash", [[], ["-"]])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_standard_input_is_one_text(command: Command, dash: list[str], encoding: str) -> None:
    command.done("add", *dash, said="I live in Zürich.".encode(encoding))
    assert [fact["object"] for fact in command.json("facts")["facts"]] == ["Zürich"]


def test_standard_input_that_is_no_text_is_refused(command: Command) -> None:
    outcome = command.run("add", said=b"\xff\xfa\x81 I live in Zurich.")
    assert outcome.code == 2
    assert outcome.is_one_sentence()


def test_every_line_is_a_statement_with_lines(command: Command) -> None:
    lines = "I work at Globex.\n\nI live in Lisbon.\nI like chess.\n"
    added = command.json("add", "--lines", said=lines.encode())
    assert (added["lines"], added["kept"], added["interrupted"]) == (3, 3, False)
    assert [entry["line"] for entry in added["added"]] == [1, 3, 4]
    assert {fact["predicate"] for fact in command.json("facts")["facts"]} == {"works_at", "lives_in", "likes"}


def test_a_line_that_cannot_be_stored_costs_none_of_the_others(command: Command) -> None:
    outcome = command.run("add", "--lines", said=b"I work at Globex.\nI live\0 in Lisbon.\nI like chess.\n")
    assert outcome.code == 1
    assert outcome.err.startswith("Line 2: ")
    assert "2 of 3 lines kept" in outcome.out


def test_namespaces_are_apart_and_listed_by_their_exact_names(command: Command) -> None:
    names = ["仕事", "私事", "client/a", "client_a", "CON", "../x"]
    for name in names:
        command.done("-n", name, "add", f"My name is {name}.")
    assert sorted(command.json("namespaces")["namespaces"]) == sorted(names)
    assert [entry["episodes"] for entry in command.json("status")["namespaces"]] == [1] * len(names)
    assert len(command.json("-n", "仕事", "status")["namespaces"]) == 1
    assert not (command.home / "x.memory.db").exists()


def test_options_may_stand_before_or_after_the_command(command: Command) -> None:
    command.done("--root", str(command.home / "elsewhere"), "add", "I work at Globex.")
    assert "Globex" in command.done("facts", "--root", str(command.home / "elsewhere"))
    assert not command.root.exists()


def test_asking_an_empty_memory_makes_no_file(command: Command) -> None:
    assert "Nothing is known" in command.done("search", "where do I live?")
    assert command.json("facts")["facts"] == []
    assert list(command.root.rglob("*.db")) == []


READING = (
    ["search", "where do I live?"],
    ["history", "abc"],
    ["forget", "--sentence", "I live in Porto.", "--yes"],
    ["review"],
    ["export", "never.leanmem"],
)


def test_a_namespace_that_was_never_told_anything_is_not_an_empty_one(command: Command) -> None:
    command.done("add", "I live in Porto.", "-n", "ana")
    for words in READING:
        missed = command.run(*words, "-n", "anna")
        assert (missed.code, missed.is_one_sentence()) == (1, True), missed
        assert "'anna'" in missed.err
        assert "There is 'ana'" in missed.err


def test_a_folder_that_is_not_there_is_not_an_empty_memory(command: Command) -> None:
    nowhere = command.home / "nowhere"
    for words in (["search", "tea"], ["namespaces"]):
        missed = command.run(*words, "--root", str(nowhere))
        assert (missed.code, missed.is_one_sentence()) == (1, True), missed
        assert str(nowhere) in missed.err
    assert not nowhere.exists()


def test_who_names_no_namespace_is_told_of_the_others_where_the_usual_one_is_empty(command: Command) -> None:
    command.done("add", "I live in Porto.", "-n", "ana")
    outcome = command.run("search", "where do I live?")
    assert outcome.code == 0
    assert "'ana'" in outcome.err


def documented_keys() -> set[str]:
    section = COMMANDS.read_text(encoding="utf-8").partition("## JSON")[2].partition("\n## ")[0]
    return set(re.findall(r"`([a-z_]+)`", section))


def keys_in(value: Any, *, inside_given: bool = False) -> set[str]:
    if isinstance(value, dict):
        own = set() if inside_given else set(value)
        return own.union(*(keys_in(entry, inside_given=key == "given") for key, entry in value.items()))
    return set().union(*(keys_in(entry) for entry in value)) if isinstance(value, list) else set()


def test_every_key_that_json_prints_is_documented(command: Command) -> None:
    tell_two_employers(command)
    (fact,) = command.json("facts")["facts"]
    answers = [
        command.json("add", "I like chess."),
        command.json("add", "--lines", said=b"I like tea.\n"),
        command.json("search", "work"),
        command.json("facts", "--history"),
        command.json("history", fact["id"]),
        command.json("namespaces"),
        command.json("status"),
        command.json("doctor"),
        command.json("demo"),
        command.json("forget", fact["id"], "--yes"),
        command.json("clear", "default", "--yes"),
    ]
    assert set().union(*map(keys_in, answers)) - documented_keys() == set()
