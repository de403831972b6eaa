"""The doctor finds what is wrong, says what to do, and changes nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import Command
from support.powers import WITHOUT_POWER


def file_of(command: Command) -> Path:
    return Path(command.json("status")["namespaces"][0]["path"])


def test_a_sound_folder_is_sound(command: Command) -> None:
    assert command.json("doctor")["sound"]
    command.done("add", "I work at Globex.")
    report = command.json("doctor")
    assert report["sound"], report
    assert "Everything is sound." in command.done("doctor")


def test_a_file_that_others_may_read_is_named_with_the_remedy(command: Command) -> None:
    command.done("add", "I work at Globex.")
    command.root.chmod(0o755)
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert f"chmod 700 '{command.root}'" in outcome.out


def test_a_foreign_file_is_listed_and_left_as_it_is(command: Command) -> None:
    command.done("add", "I work at Globex.")
    foreign = command.root / "old.memory.db"
    with sqlite3.connect(foreign) as con:
        con.execute("CREATE TABLE note (text)")
    con.close()
    foreign.chmod(0o600)
    before = foreign.read_bytes()
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert str(foreign) in outcome.out
    assert foreign.read_bytes() == before


def test_a_file_of_a_newer_version_is_told_apart(command: Command) -> None:
    command.done("add", "I work at Globex.")
    with sqlite3.connect(file_of(command)) as con:
        con.execute("PRAGMA user_version = 9999")
    con.close()
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert "newer" in outcome.out


@pytest.mark.parametrize("damage", ["cut", "scribble"])
def test_a_damaged_file_is_named(command: Command, damage: str) -> None:
    command.done("add", "I work at Globex.")
    command.done("-n", "other", "add", "I like chess.")
    path = command.root / "default.memory.db"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:4096] + b"\xa5" * (len(whole) - 4096))
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert "default.memory.db" in outcome.out
    assert "Traceback" not in outcome.err
    assert "'other' is sound" in outcome.out


def test_a_memory_whose_only_file_is_damaged_is_not_said_to_be_empty(command: Command) -> None:
    command.done("add", "I work at Globex.")
    path = command.root / "default.memory.db"
    path.write_bytes(path.read_bytes()[:4096] + b"\xa5" * 8192)
    outcome = command.run("namespaces")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("The namespace 'default' is there and cannot be used: ")


@pytest.mark.skipif(sys.platform == "win32", reason="files are made read-only in another way on Windows")
def test_a_file_that_can_only_be_read_is_to_be_made_writable_and_not_replaced(command: Command) -> None:
    command.done("add", "I work at Globex.")
    path = file_of(command)
    path.chmod(0o400)
    program = f"{WITHOUT_POWER}from lean_memory_desktop.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "doctor"], env=command.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"chmod u+w '{path}'" in done.stdout
    assert "backup" not in done.stdout


def test_links_and_half_made_files_are_named_and_hide_nothing(command: Command) -> None:
    command.done("add", "I work at Globex.")
    (command.root / "lost.memory.db").symlink_to(command.home / "nowhere")
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    draft = command.root / f"late.memory.db.new-{gone.stdout.strip()}-0a1b2c3d"
    draft.touch(mode=0o600)
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert "lost.memory.db is no namespace that can be used: It is a link" in outcome.out
    assert f"delete {draft}" in outcome.out
    assert "'default' is sound" in outcome.out
    assert [entry["name"] for entry in command.json("status")["namespaces"]] == ["default", "lost"]
    command.done("-n", "late", "add", "I like chess.")
    assert not draft.exists()


def test_a_tier_that_is_chosen_and_not_all_here_is_told_with_what_to_do(command: Command) -> None:
    command.done("add", "I work at Acme.")
    (command.root / "models.json").write_text('{"tier": "standard"}', "utf-8")
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert "The models of standard are in use and not all here; the built-in model does the work." in outcome.out
    assert "-> lean-memory models pull standard" in outcome.out
