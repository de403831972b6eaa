"""`lean-memory bring-in` as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

from lean_memory.bringing_in import Kind
from lean_memory_desktop.cli import arguments
from support.command import Command
from support.exports import chatgpt_conversation, chatgpt_export
from support.older_files import older_file


def test_it_says_what_would_come_brings_it_in_and_brings_nothing_twice(command: Command, tmp_path: Path) -> None:
    talk = chatgpt_conversation("a", [("user", "I work at Acme."), ("assistant", "Noted."), ("user", "I now work at Globex.")])
    export = str(chatgpt_export(tmp_path / "export.zip", [talk]))
    shown = command.run("bring-in", export, "--dry-run")
    assert shown.code == 0
    assert "2 texts for “default”; 2 would be brought in" in shown.out
    assert "Left out, 1: What the assistant and its tools wrote" in shown.out
    done = command.json("bring-in", export, "--yes", "-n", "ana")
    assert (done["kind"], done["state"], done["added"], done["namespaces"]) == ("chatgpt", "done", 2, ["ana"])
    assert command.json("bring-in", export, "--yes", "-n", "ana")["added"] == 0


def test_what_breaks_off_says_what_came_until_then_and_why_it_ended(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mem.json"
    path.write_text('[{"id": "1", "memory": "Likes pizza", "created_at": "2025-01-03"}, {"id": "2", "mem', encoding="utf-8")
    broken = command.run("bring-in", str(path), "--yes")
    assert broken.code == 1
    assert "1 were brought in" in broken.out
    assert "It came as far as mem.json (100%)." in broken.out
    assert "the same command goes on from there" in broken.out
    assert "damaged or was cut off" in broken.err
    again = command.run("bring-in", str(path), "--yes", "--json")
    told = json.loads(again.out)
    assert (again.code, told["state"], told["added"], told["known"]) == (1, "stopped", 0, 1)
    assert "damaged" in told["error"]


def test_older_files_in_the_data_folder_are_named(command: Command) -> None:
    command.root.mkdir()
    path = older_file(command.root / "ana.db", 2)
    unasked = command.run("bring-in", str(path))
    assert (unasked.code, "add --yes" in unasked.err) == (2, True)
    listed = command.run("bring-in")
    assert (listed.code, str(path) in listed.out) == (0, True)
    done = command.run("bring-in", str(path), "--yes")
    assert "6 were brought in" in done.out
    assert "From schema version 2" in done.out


def test_help_names_every_kind() -> None:
    parser = arguments.build_parser()
    parsed = parser.parse_args(["bring-in", "x", "--from", Kind.CLAUDE.value])
    assert parsed.kind == Kind.CLAUDE
    assert tuple(Kind) == arguments.SOURCES
