"""`lean-memory connect`, `disconnect` and `clients` as a person uses them, in a home of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory_desktop.instance import say_failed, supervisor_pid
from support.command import Command
from support.supervised import has_ended, is_alive


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """The command with an empty home; what it starts is ended afterwards."""
    nothing = dict.fromkeys(("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "APPDATA", "LOCALAPPDATA"), "")
    made = Command(home=tmp_path, environ=nothing)
    yield made
    pid = supervisor_pid(made.root)
    if pid not in (None, os.getpid()) and is_alive(pid):
        os.kill(pid, signal.SIGTERM)
        assert has_ended(pid)


def test_where_no_assistant_is_nothing_is_configured_and_it_says_so(command: Command) -> None:
    outcome = command.run("connect")
    assert outcome.code == 1
    assert outcome.is_one_sentence()
    assert outcome.err.startswith("0 clients configured.")
    assert list(command.home.rglob("*.json")) == []


def test_an_unknown_assistant_is_bad_use_and_the_known_ones_are_named(command: Command) -> None:
    outcome = command.run("connect", "clippy")
    assert outcome.code == 2
    assert "cursor" in outcome.err


def test_an_installed_assistant_is_connected_tried_out_and_disconnected_again(command: Command) -> None:
    cursor = command.home / ".cursor"
    cursor.mkdir()
    before = b'{\n  // mine\n  "mcpServers": {"other": {"command": "x"},},\n}\n'
    (cursor / "mcp.json").write_bytes(before)
    said = command.run("connect")
    assert "Cursor: connected in" in said.out
    held = command.json("connect", "cursor")
    assert held["configured"] == 1
    assert held["clients"][0]["outcome"] == "unchanged"
    handshake = held["clients"][0]["handshake"]
    assert handshake["server"] == "lean-memory"
    assert handshake["trouble"] is None
    assert "memory_search" in handshake["tools"]
    listed = {entry["client"]: entry["standing"] for entry in command.json("clients")["clients"]}
    assert listed["cursor"] == "connected"
    assert listed["zed"] == "not connected"
    assert "disconnected" in command.done("disconnect")
    assert (cursor / "mcp.json").read_bytes() == before


def test_a_file_that_cannot_be_edited_is_refused_with_a_sentence_and_counts_as_nothing(command: Command) -> None:
    folder = command.home / ".lmstudio"
    folder.mkdir()
    (folder / "mcp.json").write_text("{broken", encoding="utf-8")
    outcome = command.run("connect")
    assert outcome.code == 1
    assert not outcome.out
    assert "LM Studio" in outcome.err
    assert "not touched" in outcome.err
    assert "0 clients configured." in outcome.err
    assert (folder / "mcp.json").read_text(encoding="utf-8") == "{broken"


def test_a_connection_whose_memory_does_not_work_is_no_success(command: Command) -> None:
    command.root.write_text("this is no folder", encoding="utf-8")
    outcome = command.run("connect", "cursor")
    assert outcome.code == 1
    assert "Traceback" not in outcome.err


def test_disconnecting_where_nothing_is_connected_is_fine(command: Command) -> None:
    assert command.done("disconnect").strip() == "No assistant was connected."
    assert "was not connected" in command.done("disconnect", "zed")


def test_a_token_for_a_script_is_alone_on_standard_output(command: Command) -> None:
    outcome = command.run("clients", "token", "backup-script")
    assert outcome.code == 0
    assert len(outcome.out.split()) == 1
    assert len(outcome.out.strip()) >= 32
    assert outcome.out != command.done("clients", "token", "backup-script")
    assert "backup-script has a token" in command.done("clients")


def test_a_snippet_for_any_other_assistant_can_be_copied(command: Command) -> None:
    entry = json.loads(command.done("clients", "snippet"))["mcpServers"]["lean-memory"]
    assert Path(entry["command"]).is_absolute()
    assert entry["env"]["LM_CLIENT"] == "other"
    assert command.run("clients", "dance").code == 2


def test_the_doctor_tells_of_connections_and_repairs_those_of_another_installation(command: Command) -> None:
    file = command.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    command.run("connect", "cursor")
    assert "cursor" in {finding["subject"] for finding in command.json("doctor")["findings"]}
    ledger = command.root / "connections.json"
    here, elsewhere = json.dumps(str(Path(sys.executable).parent))[1:-1], "/another/installation"
    for path in (file, ledger):
        path.write_text(path.read_text(encoding="utf-8").replace(here, elsewhere), encoding="utf-8")
    outdated = command.run("doctor")
    assert outdated.code == 1
    assert "lean-memory doctor --repair" in outdated.out
    assert "connected anew" in command.done("doctor", "--repair")
    assert elsewhere not in file.read_text(encoding="utf-8")


def test_the_doctor_quotes_why_the_service_could_not_be_kept_running(command: Command) -> None:
    command.root.mkdir()
    say_failed(command.root, "The service ended 6 times.")
    outcome = command.run("doctor")
    assert outcome.code == 1
    assert "The service ended 6 times." in outcome.out
