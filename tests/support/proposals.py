"""A memory of which maintenance proposes something."""

from __future__ import annotations

import time
from pathlib import Path

from lean_memory import Memory

CHESS = "I like chess."
_LIKES = ("tea", "jazz", "long walks", "old maps", "quiet mornings", "chess")
_LONG_AGO = 200 * 24 * 3600 * 1000


def tell_of_old_likes(root: Path, namespace: str = "default") -> None:
    """Tell of so many things one likes, and so long ago, that maintenance proposes a summary."""
    then = time.time_ns() // 1_000_000 - _LONG_AGO
    with Memory(root=root, clock=lambda: then) as memory:
        memory.add_many(namespace, [f"I like {like}." for like in _LIKES])
