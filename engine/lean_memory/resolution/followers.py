"""Facts that hold on as duplicates of another one: they keep an interval of their own, and close together.

The fold takes a duplicate for what it is without the merge. Here the ends are shared out afterwards, so that taking the merge back
gives what would have been without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lean_memory.changes import WindowFact
from lean_memory.domain import EndReason, outranks
from lean_memory.resolution.timeline import Interval


def share_ends(facts: Iterable[WindowFact], held_by: Mapping[int, Interval], holders: Mapping[int, int]) -> dict[int, int]:
    """Let each duplicate and its survivor end where the first of them ends; gives the survivors of those that go on as duplicates.

    `held_by` are the intervals by the row of the fact that stands for them; `holders` the row that stands for each stored fact.
    What is more trusted than that which ended the other stays, and so does what began only afterwards: it stands on its own again.
    """
    survivors = dict(_pairs(facts, held_by, holders))
    for survivor in set(survivors.values()):
        rows = [survivor, *(row for row, kept in survivors.items() if kept == survivor)]
        _share([held_by[row] for row in rows])
    return {row: survivor for row, survivor in survivors.items() if _follows(held_by[row], held_by[survivor])}


def _pairs(facts: Iterable[WindowFact], held_by: Mapping[int, Interval], holders: Mapping[int, int]) -> Iterable[tuple[int, int]]:
    for fact in facts:
        if fact.end_reason is not EndReason.DUPLICATE or fact.superseded_by is None:
            continue
        survivor = holders.get(fact.superseded_by)
        if survivor is not None and survivor != fact.row and fact.row in held_by and survivor in held_by:
            yield fact.row, survivor


def _share(intervals: Sequence[Interval]) -> None:
    ended = sorted((i for i in intervals if i.end is not None), key=lambda i: i.end or 0)
    for first in ended:
        for other in intervals:
            if other is not first and _is_reached(other, first):
                other.end, other.reason, other.closer = first.end, first.reason, first.closer


def _is_reached(other: Interval, first: Interval) -> bool:
    if first.end is None or other.start >= first.end or (other.end is not None and other.end <= first.end):
        return False
    return first.closer is None or not outranks(other.trust, first.closer.trust)


def _follows(duplicate: Interval, survivor: Interval) -> bool:
    return duplicate.end == survivor.end and (survivor.end is None or duplicate.start < survivor.end)
