"""What the window asks to look through a memory that may be large: entities with counts, facts by the page, and two moments side by side."""

from __future__ import annotations

from typing import Literal

from lean_memory_bridge.schemas.base import Answer
from lean_memory_bridge.schemas.memory import FactView

Axis = Literal["true", "known"]
"""Whether a moment asks for what was true then, or for what the memory knew then."""


class EntityView(Answer):
    """A person or a thing that facts are about."""

    name: str
    facts: int
    newest: int
    """When the memory last learned something of it."""


class Browsed(Answer):
    """One page of a memory's facts, the newest first, and the entities that all its facts are about."""

    namespace: str
    entities: tuple[EntityView, ...]
    """With the most facts first, and the person before all others; at most 1,000."""
    facts: tuple[FactView, ...]
    total: int
    """Facts that fit what was asked, on all pages."""


class ComparedPair(Answer):
    """What held then beside what holds now; one of the two is null where nothing took its place or nothing was there before."""

    then: FactView | None
    now: FactView | None


class Compared(Answer):
    """What changed between a moment and now, and how much stayed."""

    namespace: str
    at: int
    axis: Axis
    pairs: tuple[ComparedPair, ...]
    """Differences, the newest first; at most 200."""
    changes: int
    """Differences in all."""
    stayed: tuple[FactView, ...]
    """What is the same, the newest first; at most 200."""
    same: int
    """Facts that are the same, in all."""


class Moments(Answer):
    """The moments at which something changed, oldest first; of many, at most 400 that are spread evenly over the changes."""

    namespace: str
    axis: Axis
    moments: tuple[int, ...]
