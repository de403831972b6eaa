"""Starts the benchmark's own children with the same interpreter and import path, and reads what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

TIMEOUT_S = 1800

Said = dict[str, Any]


def ask_child(*arguments: str | Path) -> dict[str, Any]:
    """What a child said last. Raises CalledProcessError where it failed."""
    done = subprocess.run(_command(*arguments), env=_environment(), check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
    return json.loads(done.stdout.splitlines()[-1])


def seconds_to_first_line(command: list[str]) -> float:
    """From the process's start to its first line on stdout. Raises RuntimeError where it ends without one."""
    before = perf_counter()
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        elapsed = perf_counter() - before
        child.stdout.read()
    if not line:
        raise RuntimeError(f"{command[-3:]} said nothing (exit code {child.returncode})")
    return elapsed


def first_answer_command(root: Path, namespace: str) -> list[str]:
    return _command("first-answer", root, namespace)


@contextmanager
def running_writer(root: Path, namespace: str) -> Generator[dict[str, Any]]:
    """A process that adds to the namespace all the while; afterwards the dict says how many it `added`."""
    said: dict[str, Any] = {}
    child = subprocess.Popen(
        _command("write", root, namespace), env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdout.readline()
        yield said
    finally:
        child.stdin.close()
        last = child.stdout.read()
        child.wait(timeout=TIMEOUT_S)
    said |= json.loads(last.splitlines()[-1])


@contextmanager
def running_child(*arguments: str | Path) -> Generator[Iterator[Said]]:
    """A child and what it says, line by line; whatever it is at is ended by SIGKILL when the block ends. Raises CalledProcessError where it failed."""
    command = _command(*arguments)
    child = subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield map(json.loads, child.stdout)
    finally:
        child.kill()
        child.stdout.close()
        code = child.wait(timeout=TIMEOUT_S)
    if code not in {0, -9}:
        raise subprocess.CalledProcessError(code, command)


def _command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "bench.children", *map(str, arguments)]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
