"""`lean-memory` without a command where there is no tray, pausing, and making way for one that has a tray."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from lean_memory_bridge import pausing
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.refusals import PausedError
from lean_memory_bridge.runtime import admin_token, find
from lean_memory_desktop import instance
from lean_memory_desktop.taking_over import taken_over
from support.service import running_service, send
from support.shim import environment
from support.supervised import live, running_supervisor


@contextlib.contextmanager
def started(root: Path) -> Generator[subprocess.Popen[str]]:
    """`lean-memory` on a machine without a screen, until the block ends."""
    seen = {name: value for name, value in environment(root).items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    command = [sys.executable, "-P", "-m", "lean_memory_desktop", "--root", str(root)]
    process = subprocess.Popen(command, env=seen, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def said(process: subprocess.Popen[str], lines: int) -> str:
    assert process.stdout is not None
    return "".join(process.stdout.readline() for _ in range(lines))


def test_without_a_screen_it_works_and_prints_a_way_in_and_so_does_a_second_start(root: Path) -> None:
    with started(root) as first:
        text = said(first, 2)
        assert "no screen" in text
        link = re.search(r"http://127\.0\.0\.1:(\d+)/#code=([\w-]+)", text)
        assert link is not None
        body = f'{{"code": "{link[2]}"}}'.encode()
        headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{link[1]}"}
        assert send(int(link[1]), "POST", "/api/v1/window/session", headers, body).status == 200
        before = live(root)
        with started(root) as second:
            out, _ = second.communicate(timeout=60)
        assert (second.returncode, "#code=" in out, first.poll()) == (0, True, None)
        assert live(root).instance == before.instance
    assert find(root) is None


def test_one_with_a_tray_takes_over_and_nothing_that_was_said_is_lost(root: Path) -> None:
    with running_supervisor(root) as headless:
        service = ServiceClient(root, live(root), admin_token(root))
        service.add("I live in Porto.")
        with taken_over(root) as mine:
            assert mine
            assert headless.wait(60) == 0
            assert find(root) is None
            with instance.claimed(root) as again:
                assert not again
        with running_supervisor(root):
            assert [fact.object for fact in ServiceClient(root, live(root), admin_token(root)).facts().facts] == ["Porto"]


def test_one_that_does_not_leave_is_not_waited_for_without_end(root: Path) -> None:
    root.mkdir()
    with instance.claimed(root) as other, taken_over(root, patience=0.2) as mine:
        assert (other, mine) == (True, False)


def test_while_it_is_paused_no_assistant_reads_or_writes_and_the_person_does(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        assistant, person = service.client("cursor"), service.client()
        assistant.add("I live in Porto.")
        pausing.pause(service.root)
        with pytest.raises(PausedError):
            assistant.add("I live in Lisbon.")
        with pytest.raises(PausedError):
            assistant.search("where")
        assert person.snapshot().paused
        assert [fact.object for fact in person.facts().facts] == ["Porto"]
        pausing.resume(service.root)
        pausing.resume(service.root)
        assert assistant.search("where").hits
        assert not person.snapshot().paused


@pytest.mark.skipif(os.name != "posix", reason="folders that nobody may write to are made otherwise there")
def test_a_data_folder_that_cannot_be_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with started(tmp_path / "file" / "memory") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cannot start with the data folder" in errors
    assert "Traceback" not in errors
