"""Signals that ask to end are heard, whoever took them away; and a process that cannot end in good order leaves without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.shim import PATIENCE

HEARS = """
import os, queue, signal, sys, types

later = []
sys.modules["gi"] = types.ModuleType("gi")
sys.modules["gi.repository"] = types.ModuleType("gi.repository")
sys.modules["gi.repository.GLib"] = loop = types.ModuleType("gi.repository.GLib")
loop.PRIORITY_HIGH = -100
loop.idle_add = lambda called, given, priority: later.append((called, given))
from lean_memory_desktop.ending import heeded, stop_on_signals

heard = queue.SimpleQueue()
signal.signal(signal.SIGHUP, signal.SIG_IGN)
assert set(heeded()) == {signal.SIGINT, signal.SIGTERM}
stop_on_signals(lambda: heard.put(True))
os.kill(os.getpid(), signal.SIGTERM)
assert heard.get(timeout=60)
# What the icon's loop does when it begins, and what any library might do.
signal.set_wakeup_fd(-1)
signal.signal(signal.SIGINT, signal.SIG_DFL)
assert [called(given) for called, given in later] == [False]
while not heard.empty():
    heard.get()
os.kill(os.getpid(), signal.SIGINT)
assert heard.get(timeout=60)
assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
print("heard")
"""
LEAVES = """
import logging, threading
from lean_memory_desktop.ending import leave_at_once

def hang():
    threading.Event().wait()

logging.basicConfig(level=logging.INFO)
threading.Thread(target=leave_at_once, args=("The icon did not end",)).start()
hang()
"""


def ran(script: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", script]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="only GTK's loop takes signals away")
def test_a_signal_is_heard_also_once_the_icons_loop_took_it_away_unless_it_was_ignored_from_the_start() -> None:
    done = ran(HEARS)
    assert (done.stdout, done.returncode) == ("heard\n", 0), done.stderr


def test_leaving_at_once_says_what_the_main_thread_was_at() -> None:
    done = ran(LEAVES)
    assert done.returncode == 1
    assert "The icon did not end" in done.stderr
    assert "in hang" in done.stderr or "in <module>" in done.stderr
