"""How much of a slot has to be read to plan with: what the statements at hand can touch, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from lean_memory.changes import Slot, Window
from lean_memory.domain import Act, Cardinality, Instant, value_key
from lean_memory.resolution.board import Board
from lean_memory.resolution.contradiction import buckets, names
from lean_memory.resolution.statements import Statement


class SlotReader(Protocol):
    """What is stored of slots."""

    def window(self, slot: Slot, values: frozenset[str] | None, since: Instant) -> Window:
        """What a slot holds from `since` on, of the values given or of all; see `Window`."""
        ...

    def values_marked(self, slot: Slot, marks: Iterable[str]) -> Sequence[str]:
        """The keys of the values that a slot ever held and in which one of the marks stands."""
        ...

    def values_merged(self, slot: Slot, values: Iterable[str]) -> Sequence[str]:
        """The keys of the values that hold on as duplicates of these in a slot, and of those that these are duplicates of."""
        ...


def touched(slots: SlotReader, slot: Slot, statements: Sequence[Statement]) -> Window:
    """What the statements, which all concern `slot`, can touch: from the earliest moment on that one of them speaks of or puts right."""
    since = min(said.reaches for said in statements)
    window = _read(slots, slot, statements, since)
    # Where a correction lands is known only once it is known what it corrects.
    start = Board.of(window, statements, since).reaches_back_to()
    return window if start >= since else _read(slots, slot, statements, start)


def _read(slots: SlotReader, slot: Slot, statements: Sequence[Statement], since: Instant) -> Window:
    """The window of the values that matter: those spoken of, and those that something said about one of them may mean instead."""
    named = {key for said in statements for key in _named(said)}
    if slot.cardinality is Cardinality.FUNCTIONAL or "" in named:
        return slots.window(slot, None, since)
    values = {said.object_key for said in statements}
    looked_up: set[str] = set()
    while True:
        values.update(value for key in named for value in slots.values_marked(slot, buckets(key)) if names(key, value))
        looked_up |= named
        values.update(slots.values_merged(slot, values))
        window = slots.window(slot, frozenset(values), since)
        ended = {said.object_key for said in window.evidence if said.act is Act.RETRACT and said.object_key} - looked_up
        named = {key for key in ended if any(names(key, value) for value in values)}
        if not named:
            return window


def _named(said: Statement) -> list[str]:
    """The keys by which a statement means values by their words; an empty one means any."""
    match said.candidate.act:
        case Act.RETRACT:
            return [said.object_key]
        case Act.CORRECT:
            return [value_key(said.candidate.corrects or "")]
        case Act.ASSERT | Act.ECHO:
            return []
