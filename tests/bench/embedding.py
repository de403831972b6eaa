"""The engine's built-in embedder, remembering what it has embedded; for quality, never for speed."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path

from bench.vectors import RememberingEmbedder
from lean_memory.models.ports import Embedder

log = logging.getLogger("bench")


def remembered_embedder(cache: Path) -> Embedder | None:
    """`None`, said aloud, where the engine has no built-in embedder."""
    try:
        builtin = importlib.import_module("lean_memory.models.builtin")
    except ModuleNotFoundError as missing:
        log.warning("no dense baseline: %s", missing)
        return None
    return RememberingEmbedder(builtin.BuiltinEmbedder(), cache)
