"""Tidying, reviewing and deciding from a terminal: what is printed, how it ends, and what a script reads."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lean_memory import Memory
from lean_memory.maintenance.cli import main as maintain
from lean_memory_bridge import nights
from lean_memory_desktop.cli.main import run
from support.command import PATIENCE, Command, Outcome
from support.printed import FILE, must_be_as_printed
from support.proposals import CHESS, tell_of_old_likes


class Shell:
    """Runs the commands in this process, as each start of another costs a second; `Command` starts real ones."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys

    def run(self, *words: str, start: Callable[[list[str]], int] = run) -> Outcome:
        """How a command ended."""
        self._capsys.readouterr()
        try:
            code = start(list(words))
        except SystemExit as left:
            code = int(str(left.code))
        said = self._capsys.readouterr()
        return Outcome(code=code, out=said.out, err=said.err)

    def done(self, *words: str) -> str:
        """What a command that must succeed prints."""
        outcome = self.run(*words)
        assert outcome.code == 0, outcome
        return outcome.out

    def maintained(self, *words: str) -> Outcome:
        """How `lean-memory-maintain` ended."""
        return self.run(*words, start=maintain)

    def json(self, *words: str) -> Any:
        """What a command that must succeed prints with `--json`."""
        return json.loads(self.done(*words, "--json"))


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("LM_DATA_ROOT", str(tmp_path / "data"))
    for name in ("LM_MAINT_AT", "LM_MAINT_AGENTS"):
        monkeypatch.delenv(name, raising=False)
    return Shell(tmp_path / "data", capsys)


def printed(outcome: Outcome, command: str, code: int = 0) -> Any:
    """What a command printed as JSON, which must be as the schema says."""
    assert outcome.code == code, outcome
    document = json.loads(outcome.out)
    must_be_as_printed(command, document)
    return document


def test_the_schema_is_made_from_what_the_service_answers() -> None:
    place = Path(__file__).parents[2] / "tools" / "make_output_schema.py"
    spec = importlib.util.spec_from_file_location("make_output_schema", place)
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert json.loads(FILE.read_bytes()) == json.loads(json.dumps(maker.schema()))


def test_a_dry_run_writes_nothing_and_one_that_applies_is_told_how_to_take_it_back(shell: Shell) -> None:
    tell_of_old_likes(shell.root)
    file = next(shell.root.glob("*.memory.db"))
    before = file.read_bytes()
    dry = printed(shell.maintained("--json"), "maintain")
    assert dry["dry_run"]
    assert [report["state"] for report in dry["reports"]] == ["dry-run"]
    assert file.read_bytes() == before
    (done,) = printed(shell.maintained("--apply", "--force", "--json"), "maintain")["reports"]
    assert (done["state"], done["proposed"]) == ("done", {"summary": 1})
    assert "lean-memory revert" in shell.done("maintain", "--apply", "--force")


def test_what_is_not_due_is_no_failure(shell: Shell) -> None:
    shell.done("add", "I like tea.")
    assert shell.maintained("--apply", "--force").code == 0
    (report,) = printed(shell.maintained("--apply", "--json"), "maintain")["reports"]
    assert report["state"] == "not-due"


def test_every_namespace_has_its_turn_and_one_that_is_damaged_fails_alone(shell: Shell) -> None:
    for name in ("alpha", "beta"):
        shell.done("add", "I like tea.", "-n", name)
    damaged = shell.root / "alpha.memory.db"
    held = damaged.read_bytes()
    damaged.write_bytes(held[:4096] + bytes(8192) + held[12_288:])
    for outcome in (shell.maintained("--json"), shell.run("maintain", "--json")):
        reports = printed(outcome, "maintain", 1)["reports"]
        assert [(report["namespace"], report["state"]) for report in reports] == [("alpha", "failed"), ("beta", "dry-run")]
        assert "damaged" in reports[0]["sentence"]
    assert shell.maintained("--namespace", "alpha").code == 1


def test_bad_use_is_told_apart_from_a_failure(shell: Shell) -> None:
    shell.done("add", "I like tea.")
    for words in [("--nonsense",), ("--root", "nowhere/at/all"), ("--namespace", "nobody"), ("--namespace", "")]:
        assert shell.maintained(*words).code == 2, words


def test_the_command_for_timers_starts_as_a_process(command: Command) -> None:
    arguments = [sys.executable, "-m", "lean_memory.maintenance.cli", "--json"]
    done = subprocess.run(arguments, env=command.environment(), capture_output=True, timeout=PATIENCE, check=False)
    must_be_as_printed("maintain", json.loads(done.stdout))
    assert done.returncode == 0


def test_a_proposal_is_shown_decided_and_taken_back(shell: Shell) -> None:
    tell_of_old_likes(shell.root)
    shell.done("maintain", "--apply", "--force")
    queue = printed(shell.run("review", "--json"), "review")
    (proposal,) = (one for group in queue["groups"] for one in group["proposals"])
    shown = shell.done("review")
    assert proposal["id"] in shown
    assert CHESS in shown
    decided = printed(shell.run("decide", proposal["id"][-10:], "approve", "--json"), "decide")
    assert decided["outcome"] == "settled"
    assert printed(shell.run("review", "--json"), "review")["total"] == 0
    (past,) = printed(shell.run("review", "--decided", "--json"), "review --decided")["proposals"]
    assert (past["id"], past["state"]) == (proposal["id"], "approved")
    again = shell.run("decide", proposal["id"], "reject", "--json")
    assert printed(again, "decide", 1)["outcome"] == "conflict"
    back = printed(shell.run("revert", proposal["id"], "--json"), "revert")
    assert back["id"] == proposal["id"]
    assert back["sentence"]


def test_all_about_one_entity_is_decided_at_once_after_a_yes(shell: Shell) -> None:
    tell_of_old_likes(shell.root)
    shell.done("maintain", "--apply", "--force")
    assert shell.run("decide", "--entity", "user", "approve").code == 2
    with Memory(root=shell.root) as memory:
        asked = memory.ask_to_forget("default", memory.add("default", "I am allergic to peanuts.")[0])
    outcome = shell.run("decide", "--entity", "user", "approve", "--yes", "--json")
    assert [result["outcome"] for result in printed(outcome, "decide --entity")["results"]] == ["settled"]
    assert "one by one" in outcome.err
    (left,) = (one for group in shell.json("review")["groups"] for one in group["proposals"])
    assert left["id"] == asked.id
    assert shell.run("decide", asked.id, "approve").code == 2
    assert printed(shell.run("decide", asked.id, "approve", "--yes", "--json"), "decide")["outcome"] == "settled"
    assert shell.run("decide", "--entity", "user", "approve", "--yes").is_one_sentence()


MISTAKES = [
    ("decide", "nothing-like-it", "approve"),
    ("decide", "x", "perhaps"),
    ("decide", "x"),
    ("decide", "x", "choose", "--text", "y"),
    ("revert", "nothing-like-it"),
    ("promote", "nothing-like-it"),
    ("maintain", "at", "half past three"),
    ("maintain", "whenever"),
    ("clients", "pause", "nobody"),
    ("clients", "access", "a", "b"),
]


def test_a_mistake_is_one_sentence(shell: Shell) -> None:
    shell.done("add", "I like tea.")
    for words in MISTAKES:
        outcome = shell.run(*words)
        assert outcome.code in (1, 2), words
        assert outcome.is_one_sentence(), outcome


def test_a_fact_that_was_put_away_comes_back(shell: Shell) -> None:
    shell.done("add", "I like tea.")
    (fact,) = shell.json("facts")["facts"]
    promoted = printed(shell.run("promote", fact["id"][-8:], "--json"), "promote")
    assert promoted["fact"]["tier"] == "hot"


def test_how_it_stands_and_when_it_is_next(shell: Shell) -> None:
    shell.done("add", "I like tea.")
    state = printed(shell.run("maintain", "status", "--json"), "maintain status")
    assert (state["schedule"]["at"], state["schedule"]["next_at"], state["last"]) == ("03:30", None, None)
    assert printed(shell.run("maintain", "at", "04:15", "--json"), "maintain at")["at"] == "04:15"
    assert printed(shell.run("maintain", "pause", "--json"), "maintain at")["paused"]
    assert not printed(shell.run("maintain", "agents", "off", "--json"), "maintain at")["agents_decide"]
    assert "paused" in shell.done("maintain", "status")
    shell.done("maintain", "resume")
    assert not nights.read_settings(shell.root, {}).paused
    assert printed(shell.run("maintain", "stop", "--json"), "maintain stop") == {"cancelled": False}


def test_an_assistant_is_paused_and_resumed_and_its_uses_are_listed_without_a_service(shell: Shell) -> None:
    shell.done("clients", "token", "my-script")
    assert "paused" in shell.done("clients", "pause", "my-script")
    assert [caller["paused"] for caller in shell.json("clients")["callers"]] == [True]
    shell.done("clients", "resume", "my-script")
    assert [caller["paused"] for caller in shell.json("clients")["callers"]] == [False]
    assert shell.json("clients", "access")["entries"] == []


def test_doctor_tells_of_a_time_that_is_none(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.done("add", "I like tea.")
    assert "The nightly tidying is at 03:30" in shell.run("doctor").out
    monkeypatch.setenv("LM_MAINT_AT", "late")
    outcome = shell.run("doctor", "--json")
    assert outcome.code == 1
    (found,) = (finding for finding in json.loads(outcome.out)["findings"] if finding["subject"] == "nightly tidying")
    assert "'late' is not a time of day" in found["sentence"]
