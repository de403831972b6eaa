"""Whatever the console can show, and whatever the text holds, the output survives and drives nothing."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from support.command import PATIENCE, Command

TEXTS = ("I live in Zürich.", "My friend Zoë likes 咖啡.", "我住在台北。", "I like 🦜 parrots.", "اسمي ليلى.")


@pytest.mark.parametrize("encoding", ["cp1252", "cp950"])
def test_every_command_survives_a_console_that_lacks_characters(command: Command, encoding: str) -> None:
    command.done("add", "--lines", said="\n".join(TEXTS).encode())
    narrow = Command(home=command.home, environ={"PYTHONIOENCODING": encoding})
    (first, *_) = narrow.json("facts", "--history")["facts"]
    for words in (
        ["add", "I like 北京烤鸭 and 🍣."],
        ["search", "where? 住"],
        ["facts", "--history", "--verbose"],
        ["history", first["id"]],
        ["status"],
        ["doctor"],
    ):
        outcome = narrow.run(*words)
        assert outcome.code == 0, outcome
        assert outcome.out
    demo = narrow.done("demo", "Zoë", "咖啡屋", "--say", "I like 🍣.")
    assert "Traceback" not in demo


def test_json_is_ascii_and_loses_nothing(command: Command) -> None:
    narrow = Command(home=command.home, environ={"PYTHONIOENCODING": "ascii"})
    narrow.done("add", said="I live in Zürich.".encode())
    assert narrow.json("facts")["facts"][0]["object"] == "Zürich"


def test_control_characters_in_a_text_never_reach_the_terminal(command: Command) -> None:
    command.done("add", said="I live in \x1b]0;owned\x07Lisbon\x1b[2J.\u202e".encode())
    command.done("add", said=b"I like \x9b31m chess.".decode("latin-1").encode())
    for words in (["facts", "--history", "--verbose"], ["search", "where does the user live?"], ["status"]):
        shown = command.done(*words)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_a_reader_that_leaves_early_is_no_error_to_read_about(command: Command) -> None:
    command.done("add", "--lines", said=b"\n".join(b"I visited place %d." % number for number in range(300)))
    process = subprocess.Popen(
        command.arguments("facts", "--json"), env=command.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    process.wait(PATIENCE)
    assert complaint == b""


def test_the_help_says_what_to_try(command: Command) -> None:
    shown = command.done("--help")
    assert "lean-memory demo" in shown
    assert not command.root.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["add", ""], 2),
        (["add", "   "], 2),
        (["add", "hello", "--t-ref", "yesterday-ish"], 2),
        (["add", "hello", "--tz", "Mars/Olympus"], 2),
        (["facts", "--as-of", "99999-01-01"], 2),
        (["search", " "], 2),
        (["history", "none"], 1),
        (["history", ""], 2),
        (["-n", "", "add", "I like chess."], 2),
        (["forget"], 2),
        (["forget", "none", "--yes"], 1),
        (["forget", "a", "--entity", "b", "--yes"], 2),
        (["clear", "--yes"], 2),
        (["clear", "none", "--yes"], 1),
        (["-n", "none", "status"], 1),
        (["demo", "a", "b", "c", "d"], 2),
        (["demo", "--json", "--interactive"], 2),
        (["add", "--lines", "text"], 2),
    ],
)
def test_what_cannot_be_done_is_one_sentence(command: Command, words: list[str], code: int) -> None:
    outcome = command.run(*words)
    assert outcome.code == code, outcome
    assert outcome.is_one_sentence(), outcome


def test_a_data_folder_that_is_a_file_is_one_sentence(command: Command) -> None:
    command.root.write_text("not a folder", encoding="utf-8")
    outcome = command.run("add", "I like chess.")
    assert outcome.code == 1
    assert outcome.is_one_sentence(), outcome


@pytest.mark.skipif(os.name != "posix", reason="only a POSIX shell starts a program with a stream closed")
@pytest.mark.parametrize("words", [["facts"], ["search", "tea", "--json"]])
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_a_stream_that_is_closed_from_the_start_leads_nowhere(command: Command, words: list[str], closed: str) -> None:
    command.done("add", "I like tea.")
    line = f"{shlex.join(command.arguments(*words))} {closed}"
    done = subprocess.run(["sh", "-c", line], env=command.environment(), capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [fact["object"] for fact in command.json("facts")["facts"]] == ["tea"]


@pytest.mark.parametrize("words", [["add", "I like tea."], ["doctor"]])
def test_an_empty_root_is_refused_and_nothing_is_made(command: Command, words: list[str]) -> None:
    outcome = subprocess.run(
        command.arguments(*words, "--root", ""),
        env=command.environment(),
        cwd=command.home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert outcome.returncode == 2
    assert "the name is empty; name a folder" in outcome.stderr
    assert list(command.home.iterdir()) == []
