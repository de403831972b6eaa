"""`lean-memory serve` keeps the service running, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lean_memory.models.installed import choose_tier
from lean_memory_bridge.runtime import EXIT_ALREADY_RUNNING, EXIT_BEGIN_ANEW, find
from lean_memory_desktop import instance
from lean_memory_desktop.supervisor import End, Patience, Program, Supervisor, worker_program
from support import worker
from support.service import start_service
from support.supervised import eventually, has_ended, is_alive, live, running_supervisor


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_it_and_its_service_in_good_order(root: Path, name: str) -> None:
    with running_supervisor(root) as supervisor:
        service = live(root)
        supervisor.send_signal(getattr(signal, name))
        assert supervisor.wait(timeout=60) == 0
        assert has_ended(service.pid)
    assert find(root) is None
    assert not (root / "runtime.json").exists()
    assert not (root / instance.STATE_FILE).exists()


def test_a_killed_supervisor_takes_the_service_along(root: Path) -> None:
    with running_supervisor(root) as supervisor:
        service = live(root)
        supervisor.kill()
        supervisor.wait()
        assert has_ended(service.pid)
    assert not (root / "runtime.json").exists()


def test_a_killed_service_is_started_again(root: Path) -> None:
    with running_supervisor(root):
        for _ in range(2):
            service = live(root)
            os.kill(service.pid, signal.SIGKILL)
            eventually(lambda before=service: (now := find(root)) is not None and now.instance != before.instance)


def test_it_says_where_the_service_is(root: Path) -> None:
    with running_supervisor(root) as supervisor:
        address = live(root).address
        assert supervisor.stdout is not None
        assert address.encode() in supervisor.stdout.readline()


def test_a_second_one_says_that_the_first_one_runs(root: Path) -> None:
    with running_supervisor(root) as first:
        address = live(root).address
        with running_supervisor(root) as second:
            out, errors = second.communicate(timeout=60)
        assert (first.poll(), second.returncode) == (None, EXIT_ALREADY_RUNNING)
    assert not out
    assert b"already runs" in errors
    assert address.encode() in errors
    assert b"To stop it" in errors


def test_a_service_that_was_told_to_end_ends_its_supervisor(root: Path) -> None:
    with running_supervisor(root) as supervisor:
        service = live(root)
        os.kill(service.pid, signal.SIGTERM)
        assert supervisor.wait(timeout=60) == 0


def test_a_service_that_somebody_else_started_is_left_alone_and_replaced_when_it_ends(root: Path, tmp_path: Path) -> None:
    other = start_service(root, tmp_path / "other.log").wait_until_up()
    try:
        with running_supervisor(root):
            log = root / "logs" / "service.log"
            eventually(lambda: log.exists() and b"already" in log.read_bytes())
            assert live(root).pid == other.process.pid
            other.kill()
            eventually(lambda: (now := find(root)) is not None and now.pid != other.process.pid)
    finally:
        if other.process.poll() is None:
            other.kill()


def child(body: str) -> Program:
    return Program(name="child", words=(sys.executable, "-c", textwrap.dedent(body)))


def supervised(
    root: Path, program: Program, *, worked: Callable[[int], bool] = lambda _: False, idle_exit: float | None = None
) -> Supervisor:
    return Supervisor(
        root,
        [program],
        in_use=lambda: False,
        elsewhere=lambda: False,
        worked=worked,
        answers=lambda: False,
        checkup=0.1,
        idle_exit=idle_exit,
        patience=Patience(pauses=(0.0, 0.0), window=60),
    )


def test_a_child_that_only_dies_is_given_up_with_its_last_words(root: Path) -> None:
    supervisor = supervised(root, child("import sys; sys.exit('no more cheese')"))
    assert supervisor.run() is End.FAILED
    assert "ended 3 times, the last time with code 1" in supervisor.reason
    assert "no more cheese" in supervisor.reason


def test_one_that_worked_and_then_is_mute_is_ended_and_started_again(root: Path) -> None:
    starts = root / "starts"
    mute = child(f"import sys; open({str(starts)!r}, 'ab').write(b'x'); sys.stdin.read()")
    supervisor = supervised(root, mute, worked=lambda _: starts.exists())
    ends: list[End] = []
    thread = threading.Thread(target=lambda: ends.append(supervisor.run()))
    thread.start()
    eventually(lambda: starts.exists() and len(starts.read_bytes()) >= 3)
    supervisor.stop()
    thread.join(60)
    assert ends == [End.ASKED]


def test_one_that_is_mute_before_it_ever_worked_is_still_starting(root: Path) -> None:
    slow = child("import sys, time; sys.stdin.read()")
    supervisor = supervised(root, slow, idle_exit=1.0)
    assert supervisor.run() is End.IDLE


def test_it_ends_when_nobody_needs_it_any_more(root: Path) -> None:
    assert supervised(root, child("import sys; sys.stdin.read()"), idle_exit=0.1).run() is End.IDLE


def test_a_child_that_does_not_listen_is_ended_all_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lean_memory_desktop.supervisor.LONGEST_GOODBYE", 0.2)
    monkeypatch.setattr("lean_memory_desktop.supervisor._INSISTING", 0.2)
    deaf = child(
        f"""
        import os, pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path({str(root / "deaf.tmp")!r}).write_text(str(os.getpid()))
        os.replace({str(root / "deaf.tmp")!r}, {str(root / "deaf")!r})
        time.sleep(600)
        """
    )
    supervisor = supervised(root, deaf)
    ends: list[End] = []
    thread = threading.Thread(target=lambda: ends.append(supervisor.run()))
    thread.start()
    eventually((root / "deaf").exists)
    supervisor.stop()
    thread.join(60)
    assert ends == [End.ASKED]
    assert not is_alive(int((root / "deaf").read_text(encoding="utf-8")))


def test_the_log_does_not_grow_for_ever(root: Path) -> None:
    log = root / "logs" / "child.log"
    log.parent.mkdir()
    log.write_bytes(b"x" * 1_000_001)
    supervised(root, child("print()"), idle_exit=0.1).run()
    assert log.stat().st_size < 1000
    assert log.with_suffix(".log.1").stat().st_size == 1_000_001


def test_nor_does_that_of_a_child_which_runs_on(root: Path) -> None:
    log = root / "logs" / "child.log"
    supervisor = supervised(root, child("import sys; sys.stderr.write('x' * 1_000_001); sys.stderr.flush(); sys.stdin.read()"))
    ends: list[End] = []
    thread = threading.Thread(target=lambda: ends.append(supervisor.run()))
    thread.start()
    eventually(lambda: log.with_suffix(".log.1").exists() and log.stat().st_size == 0)
    supervisor.stop()
    thread.join(60)
    assert (ends, log.with_suffix(".log.1").stat().st_size) == ([End.ASKED], 1_000_001)


def test_what_the_supervisor_says_of_itself_can_be_read(root: Path) -> None:
    assert instance.last_failure(root) is None
    instance.say_running(root)
    assert instance.supervisor_pid(root) == os.getpid()
    instance.say_failed(root, "It was tired.")
    assert instance.last_failure(root) == "It was tired."
    instance.say_gone(root)
    assert instance.supervisor_pid(root) is None


def optional(body: str, wanted: Callable[[], bool] = lambda: True) -> Program:
    return replace(child(body), without=True, wanted=wanted, patience=Patience(pauses=(0.0, 0.0)))


def running_beside(root: Path, program: Program) -> tuple[Supervisor, threading.Thread, list[End]]:
    """A supervisor of a program that is needed and of one that others can do without."""
    needed = replace(child("import sys; sys.stdin.read()"), name="needed")
    supervisor = Supervisor(
        root, [needed, program], in_use=lambda: True, elsewhere=lambda: False, worked=lambda _: True, answers=lambda: True
    )
    ends: list[End] = []
    thread = threading.Thread(target=lambda: ends.append(supervisor.run()))
    thread.start()
    return supervisor, thread, ends


def test_one_that_others_can_do_without_is_started_again_and_again_and_takes_nothing_along(root: Path) -> None:
    starts = root / "starts"
    supervisor, thread, ends = running_beside(root, optional(f"import sys; open({str(starts)!r}, 'ab').write(b'x'); sys.exit(1)"))
    eventually(lambda: starts.exists() and len(starts.read_bytes()) >= 6)
    assert thread.is_alive()
    supervisor.stop()
    thread.join(60)
    assert ends == [End.ASKED]


def test_one_that_others_can_do_without_runs_only_once_it_is_wanted(root: Path) -> None:
    starts, wish = root / "starts", root / "wish"
    program = optional(f"import sys; open({str(starts)!r}, 'ab').write(b'x'); sys.stdin.read()", wish.exists)
    supervisor, thread, ends = running_beside(root, program)
    eventually((root / "logs" / "needed.log").exists)
    assert not starts.exists()
    wish.touch()
    eventually(starts.exists)
    supervisor.stop()
    thread.join(60)
    assert (ends, starts.read_bytes()) == ([End.ASKED], b"x")


def test_a_service_that_wants_to_begin_anew_is_started_at_once(root: Path) -> None:
    starts = root / "starts"
    anew = child(f"import sys; file = open({str(starts)!r}, 'ab'); file.write(b'x'); file.close(); sys.exit({EXIT_BEGIN_ANEW})")
    supervisor = supervised(root, anew)
    ends: list[End] = []
    thread = threading.Thread(target=lambda: ends.append(supervisor.run()))
    thread.start()
    eventually(lambda: starts.exists() and len(starts.read_bytes()) >= 5)
    supervisor.stop()
    thread.join(60)
    assert ends == [End.ASKED]


def test_a_worker_is_wanted_where_models_are_chosen_there_and_can_be_loaded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = worker_program(root).wanted
    monkeypatch.setattr("lean_memory_desktop.supervisor.can_run", lambda _: False)
    worker.put_in_use(root)
    assert not wanted()
    monkeypatch.setattr("lean_memory_desktop.supervisor.can_run", lambda _: True)
    assert wanted()
    choose_tier(root, "builtin")
    assert not wanted()
