"""The worker with made up models as a process of its own, and waiting for what becomes of them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from lean_memory.models.manifest import Role
from lean_memory.models.remote import Link
from lean_memory.models.worker_file import State
from support.children import paths as environment
from support.supervised import eventually


def words(root: Path, *more: str) -> list[str]:
    """The command that starts it."""
    return [sys.executable, "-m", "support.slow_worker", "--root", str(root), *more]


def start(root: Path, *more: str) -> subprocess.Popen[bytes]:
    """A worker; closing its standard input ends one that is `--supervised`."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return subprocess.Popen(words(root, *more), stdin=subprocess.PIPE, env=environment())


@contextlib.contextmanager
def running(root: Path, *more: str) -> Generator[subprocess.Popen[bytes]]:
    """A worker until the block ends."""
    process = start(root, *more)
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.kill()
        process.wait()


def wait_for(link: Link, state: State, role: Role = Role.EMBEDDER) -> None:
    """Return once a model is that far."""
    eventually(lambda: link.look()[role].state is state)
