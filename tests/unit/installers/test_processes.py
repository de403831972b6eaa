"""Finding what runs of an installation in Linux's table of processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lean_memory_setup.failing import SetupError
from lean_memory_setup.running import Processes, Supervisors

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the table of processes is Linux's")


def a_process(table: Path, home: Path, *words: str) -> subprocess.Popen[bytes]:
    """A process that waits, in a table that says of it what it was started with."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    entry = table / str(process.pid)
    entry.mkdir(parents=True)
    (entry / "cmdline").write_bytes("\0".join([f"{home}/env/bin/python", *words, ""]).encode())
    (entry / "environ").write_bytes(b"DISPLAY=:7\0")
    (entry / "cwd").symlink_to("/")
    (entry / "exe").symlink_to("/usr/bin/python3.11 (deleted)")
    (entry / "ns").mkdir()
    (entry / "ns" / "mnt").symlink_to(Path("/proc/self/ns/mnt").readlink())
    return process


@pytest.mark.parametrize(
    "words",
    [
        ("-P", "-m", "lean_memory_desktop", "--root", "/r", "--at-login"),
        ("/usr/bin/lean-memory",),
        ("-P", "-m", "lean_memory_desktop", "serve", "--root", "/r"),
        ("/opt/lean-memory/env/bin/lean-memory", "serve"),
        ("/opt/lean-memory/env/bin/lean-memory", "--tz", "UTC", "-n", "work", "serve"),
    ],
)
def test_a_tray_and_a_service_are_ended_and_can_be_started_again_as_they_were(tmp_path: Path, words: tuple[str, ...]) -> None:
    home, table = tmp_path / "home", tmp_path / "proc"
    with a_process(table, home, *words) as process:
        (started,) = Processes(home=home, table=table).stop()
        assert process.wait() != 0
    assert started.words[1:] == words
    assert started.environ == {"DISPLAY": ":7"}


@pytest.mark.parametrize(
    "words",
    [
        ("/opt/lean-memory/env/bin/lean-memory-mcp",),
        ("-P", "-m", "lean_memory_bridge", "--root", "/r", "--supervised"),
        ("/usr/bin/lean-memory", "add", "I like tea."),
        ("/usr/bin/lean-memory", "add", "serve", "the", "guests", "tea"),
        ("-P", "-m", "lean_memory_desktop", "--root", "/r", "search", "tea"),
        ("-m", "http.server"),
    ],
)
def test_what_belongs_to_an_assistant_or_ends_by_itself_is_left_alone(tmp_path: Path, words: tuple[str, ...]) -> None:
    home, table = tmp_path / "home", tmp_path / "proc"
    with a_process(table, home, *words) as process:
        assert Processes(home=home, table=table).stop() == []
        assert process.poll() is None
        process.communicate(b"\n")


def test_another_installation_is_left_alone(tmp_path: Path) -> None:
    table = tmp_path / "proc"
    with a_process(table, tmp_path / "elsewhere", "/usr/bin/lean-memory") as process:
        assert Processes(home=tmp_path / "home", table=table).stop() == []
        process.communicate(b"\n")


@pytest.mark.parametrize(("what", "truth"), [("exe", "/usr/bin/sudo"), ("ns/mnt", "mnt:[1]")])
def test_the_words_of_a_process_are_not_believed_where_the_system_knows_better(tmp_path: Path, what: str, truth: str) -> None:
    home, table = tmp_path / "home", tmp_path / "proc"
    with a_process(table, home, "-c", "whatever", "-m", "lean_memory_desktop") as process:
        (table / str(process.pid) / what).unlink()
        (table / str(process.pid) / what).symlink_to(truth)
        assert Processes(home=home, table=table).stop() == []
        assert process.poll() is None
        process.communicate(b"\n")


def test_a_tray_that_hangs_is_killed(tmp_path: Path) -> None:
    home, table = tmp_path / "home", Path("/proc")
    ignores = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
    python = home / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (tmp_path / "lean-memory").write_text(ignores)
    with subprocess.Popen([python, tmp_path / "lean-memory"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        (started,) = Processes(home=home, table=table, patience=0.1).stop()
        assert started.words == (str(python), str(tmp_path / "lean-memory"))
        assert process.wait() < 0


def test_where_one_cannot_be_ended_those_that_were_run_again(tmp_path: Path) -> None:
    home, table, mark = tmp_path / "home", tmp_path / "proc", tmp_path / "started"
    interpreter = home / "env" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(f"#!/bin/sh\n: > '{mark}'\n")
    interpreter.chmod(0o755)
    with a_process(table, home, "-m", "lean_memory_desktop") as ends, a_process(table, home, "-m", "lean_memory_desktop", "serve") as stays:
        # The table goes on saying that it lives, as it does of one that the system cannot end.
        (table / str(stays.pid) / "stat").write_bytes(b"1 (python) D 1")
        with pytest.raises(SetupError, match=f"still running .process {stays.pid}."):
            Processes(home=home, table=table, patience=0.0, last_patience=0.0).stop()
        assert ends.wait() != 0
    until_there(mark)


@pytest.mark.parametrize("answer", ["exit 11", "exec sleep 600"])
def test_where_one_root_does_not_make_way_what_ran_for_the_others_runs_again(tmp_path: Path, answer: str) -> None:
    mark, interpreter = tmp_path / "started", tmp_path / "python"
    interpreter.write_text(
        f"#!/bin/sh\ncase \"$*\" in\n*--at-login*) : > '{mark}' ;;\n*{tmp_path}/first) exit 10 ;;\n*) {answer} ;;\nesac\n"
    )
    interpreter.chmod(0o755)
    with pytest.raises(SetupError, match="second and did not end"):
        Supervisors(python=interpreter, roots=[tmp_path / "first", tmp_path / "second"], patience=6.0).stop()
    until_there(mark)


def until_there(file: Path) -> None:
    while not file.exists():
        os.sched_yield()
