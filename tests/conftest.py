"""Fixtures that many tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lean_memory import Memory
from support.embedding import WordEmbedder

# Every run tries the same examples, so that what fails was changed; `--hypothesis-profile default` looks for new ones.
settings.load_profile("ci")


def pytest_configure() -> None:
    """What a script starts in the background ignores Ctrl-C, and under `nohup` the end of its terminal; the programs under test would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    """A memory with real SQLite and real extraction, and word vectors instead of a model."""
    with Memory(root=root, embedder=WordEmbedder()) as opened:
        yield opened
