"""Fixtures that many tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from support.embedding import WordEmbedder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    """A memory with real SQLite and real extraction, and word vectors instead of a model."""
    with Memory(root=root, embedder=WordEmbedder()) as opened:
        yield opened
