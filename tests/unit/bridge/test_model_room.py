"""What the service does in the background with models goes on, whatever one namespace meets."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Event

import pytest

from lean_memory.models.in_use import RemoteModels
from lean_memory.service import MemoryService
from lean_memory.settings import Settings
from lean_memory_bridge.model_room import ModelRoom
from support.embedding import WordEmbedder

PATIENCE = 30.0


def test_a_defect_in_one_namespace_does_not_end_the_work_for_the_others(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reached = Event()
    settings = Settings(root=root)
    with MemoryService(settings=settings, embedder=WordEmbedder()) as memory:
        for namespace in ("ana", "ben"):
            memory.add(namespace, "I live in Porto.")
        finish = memory.finish_queued

        def finish_of(namespace: str, **limits: object) -> object:
            if namespace == "ana":
                raise TypeError("what somebody said")
            reached.set()
            return finish(namespace, **limits)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(memory, "finish_queued", finish_of)
        room = ModelRoom(memory, RemoteModels(settings), changed=lambda: None)
        room.start()
        try:
            assert reached.wait(PATIENCE)
        finally:
            room.close()
    (told,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "TypeError" in told.getMessage()
    assert "what somebody said" not in caplog.text
