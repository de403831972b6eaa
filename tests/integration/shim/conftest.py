"""A data root of its own for each test, in which nothing is left running."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory_desktop.instance import supervisor_pid
from support.supervised import has_ended, is_alive


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A data root; a supervisor that a shim started in it is ended with its service when the test is over."""
    folder = tmp_path / "memory"
    yield folder
    pid = supervisor_pid(folder)
    if pid is not None and is_alive(pid):
        os.kill(pid, signal.SIGTERM)
        assert has_ended(pid)
