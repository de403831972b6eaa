"""Trying the models out at the start leaves nothing behind, also where an earlier start was ended in the middle of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.service import MemoryService
from lean_memory_bridge.__main__ import warm


def test_nothing_is_left_of_this_start_nor_of_one_that_was_ended_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise AssertionError("a folder that nobody would look for")

    left = root / "warming" / "warm.memory.db"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    embedder = BuiltinEmbedder()
    with MemoryService(root, embedder=embedder) as memory:
        warm(root, memory, embedder)
        assert memory.namespaces() == []
    assert not left.parent.exists()
