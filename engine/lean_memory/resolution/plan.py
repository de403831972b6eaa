"""From what an episode says and what its slots hold, to everything that is to be written. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lean_memory.changes import ChangeSet, Window
from lean_memory.domain import Instant
from lean_memory.resolution.board import Board
from lean_memory.resolution.difference import Difference
from lean_memory.resolution.statements import Statement
from lean_memory.resolution.timeline import fold


def plan(window: Window, statements: Sequence[Statement], *, recorded_at: Instant, first_new: int = 0) -> ChangeSet:
    """What to write so that the slot's timeline includes `statements`, which all concern `window`'s slot.

    `recorded_at` is when their episode was recorded; `first_new` is the number of new facts already planned in the same change set: references to new facts count from it.
    """
    board = Board.of(window, statements, recorded_at)
    told = board.told()
    intervals = fold(told.events, window.slot.cardinality, told.opened)
    return Difference(board=board, origins=told.origins, intervals=intervals, first_new=first_new).changes()
