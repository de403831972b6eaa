"""What cannot be done is told before anybody is asked, and what was not done is told as such."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from lean_memory_desktop.cli.main import run
from lean_memory_desktop.cli.opening import command_line
from lean_memory_desktop.cli.options import Options


@pytest.fixture(autouse=True)
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sits at a terminal, and what is piped in holds empty lines alone."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n \n"), encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["restore", "nosuch"], 1, "nosuch"),
        (["bring-in", "nofile.zip"], 1, "There is nothing at"),
        (["add", "--lines"], 2, "no line to remember"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_what_is_not_there_is_told_of_before_a_terminal_to_ask_at(
    words: list[str], code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--root", str(tmp_path)]) == code
    shown = capsys.readouterr()
    assert (told in shown.err, "terminal" in shown.err, shown.out) == (True, False, "")


def test_who_cannot_be_asked_is_told_that_nothing_was_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(tmp_path / "memory")]
    assert run(["add", "I like tea.", *root]) == 0
    assert run(["backup", str(tmp_path / "copy"), *root]) == 0
    export = tmp_path / "notes.txt"
    export.write_text("I like chess.", encoding="utf-8")
    capsys.readouterr()
    asked = {"erased": ["clear", "default"], "changed": ["restore", str(tmp_path / "copy")], "brought in": ["bring-in", str(export)]}
    for done, words in asked.items():
        assert run([*words, *root]) == 2
        assert f"no terminal to ask you at, so nothing was {done}" in capsys.readouterr().err


def test_a_number_that_is_none_is_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["retention", "set", "--days", "-3", "--root", str(tmp_path)])
    assert "argument --days: '-3' is no whole number from 1 on" in capsys.readouterr().err


def test_a_command_that_is_named_is_about_the_same_folder(tmp_path: Path) -> None:
    options = Options()
    assert command_line(options, "open") == "lean-memory open"
    options.root = str(tmp_path)
    assert command_line(options, "open") == f"lean-memory open --root {tmp_path}"
