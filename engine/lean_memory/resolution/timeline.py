"""The timeline of a slot: a pure fold over everything said about it, in world time.

The result depends on the events alone, not on the order in which they became known; of two events at the same moment
the one recorded later wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lean_memory.domain import Act, Cardinality, EndReason, Instant, Modality, Polarity, Trust, outranks

Order = tuple[int, int, int, int]
"""Breaks ties between events at one moment; greater means said later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What can be open in a slot: a value, said or denied, in one modality."""

    key: str
    polarity: Polarity
    modality: Modality


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One statement about a slot."""

    at: Instant
    order: Order
    act: Act
    value: Value
    """For a retraction, an empty key names every value of the slot."""
    until: Instant | None = None
    additive: bool = False
    trust: Trust = Trust.USER


@dataclass(slots=True, kw_only=True)
class Interval:
    """A span in which one value held, the assertions it rests on (oldest first), and what ended it."""

    value: Value
    start: Instant
    end: Instant | None = None
    reason: EndReason | None = None
    closer: Event | None = None
    members: list[Event] = field(default_factory=list[Event])

    @property
    def trust(self) -> Trust:
        """That of the most trusted of its assertions."""
        return min((m.trust for m in self.members), key=_RANK.index)


_RANK = tuple(Trust)


def fold(events: Iterable[Event], cardinality: Cardinality) -> list[Interval]:
    """The intervals that the events add up to, in order of their start."""
    slot = _OpenSlot(functional=cardinality is Cardinality.FUNCTIONAL)
    for event in sorted(events, key=lambda e: (e.at, e.order)):
        slot.expire(event.at)
        if event.act is Act.RETRACT:
            slot.retract(event)
        else:
            slot.assert_(event)
    return slot.finish()


def names(key: str, other: str) -> bool:
    """Whether a retraction of `key` means the value `other`: equal, or all words of one occur in the other."""
    if key == other:
        return True
    mine, theirs = set(key.split()), set(other.split())
    return bool(mine and theirs) and (mine <= theirs or theirs <= mine)


class _OpenSlot:
    def __init__(self, *, functional: bool) -> None:
        self._functional = functional
        self._open: dict[Value, Interval] = {}
        self._closed: list[Interval] = []

    def expire(self, now: Instant) -> None:
        for interval in list(self._open.values()):
            until = interval.end
            if until is not None and until <= now:
                self._close(interval, until, EndReason.ENDED, None)

    def assert_(self, event: Event) -> None:
        held = self._open.get(event.value)
        if held is not None:
            held.members.append(event)
            held.end = event.until if event.until is not None else held.end
            return
        for interval in list(self._open.values()):
            if self._displaces(event, interval):
                self._close(interval, event.at, EndReason.SUPERSEDED, event)
        self._open[event.value] = Interval(value=event.value, start=event.at, end=event.until, members=[event])

    def retract(self, event: Event) -> None:
        for interval in list(self._open.values()):
            same_sign = interval.value.polarity is event.value.polarity
            if same_sign and _retractable(interval, event) and (not event.value.key or names(event.value.key, interval.value.key)):
                self._close(interval, event.at, EndReason.RETRACTED, event)

    def finish(self) -> list[Interval]:
        for interval in self._open.values():
            interval.reason = EndReason.ENDED if interval.end is not None else None
        return sorted([*self._closed, *self._open.values()], key=lambda i: (i.start, i.members[0].order))

    def _displaces(self, event: Event, interval: Interval) -> bool:
        """Only an asserted present retires: another value of a functional slot, the denial of this one, the plan it fulfils.

        What is more trusted stays: the newcomer then holds beside it, and the person decides.
        """
        if event.value.modality is not Modality.ASSERTED or outranks(interval.trust, event.trust):
            return False
        same_key = interval.value.key == event.value.key
        if interval.value.modality is Modality.PLANNED:
            return same_key
        if interval.value.modality is not Modality.ASSERTED:
            return False
        if interval.value.polarity is not event.value.polarity:
            return same_key
        return self._functional and not event.additive and event.value.polarity is Polarity.POSITIVE

    def _close(self, interval: Interval, at: Instant, reason: EndReason, closer: Event | None) -> None:
        interval.end, interval.reason, interval.closer = at, reason, closer
        self._closed.append(self._open.pop(interval.value))


def _retractable(interval: Interval, event: Event) -> bool:
    """A retraction ends what it speaks of; one that is certain ("no longer") also ends the plan of the same thing."""
    if outranks(interval.trust, event.trust):
        return False
    mine, theirs = event.value.modality, interval.value.modality
    return mine is theirs or (mine is Modality.ASSERTED and theirs is Modality.PLANNED)
