"""Fixtures that many tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lean_memory import Memory
from support.embedding import WordEmbedder

# Every run tries the same examples, so that what fails was changed; `--hypothesis-profile default` looks for new ones.
settings.load_profile("ci")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    """A memory with real SQLite and real extraction, and word vectors instead of a model."""
    with Memory(root=root, embedder=WordEmbedder()) as opened:
        yield opened
