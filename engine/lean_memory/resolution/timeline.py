"""The timeline of a slot: a pure fold over everything said about it, in world time.

The result depends on the events alone, not on the order in which they became known; of two events at the same moment
the one recorded later wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from lean_memory.domain import Act, Cardinality, EndReason, Instant, Modality, Polarity, Trust, outranks
from lean_memory.resolution.contradiction import buckets, by_words

_DAY_MS = 86_400_000

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
    said_at: Instant | None = None
    """When it was said, where that is known."""


@dataclass(slots=True, kw_only=True)
class Interval:
    """A span in which one value held, the assertions it rests on (oldest first), and what ended it."""

    value: Value
    start: Instant
    end: Instant | None = None
    reason: EndReason | None = None
    closer: Event | None = None
    members: list[Event] = field(default_factory=list[Event])
    trust: Trust
    """That of the most trusted of its assertions."""

    def confirm(self, event: Event) -> None:
        """Take in an assertion of the same value made while it is open; an end that it names counts."""
        self.members.append(event)
        self.end = event.until if event.until is not None else self.end
        self.trust = event.trust if outranks(event.trust, self.trust) else self.trust


def fold(events: Iterable[Event], cardinality: Cardinality, opened: Iterable[Interval] = ()) -> list[Interval]:
    """The intervals that the events add up to, in order of their start.

    `opened` are those that are open when the first event comes, as a fold over what came before left them; they are taken on from there.
    """
    slot = _OpenSlot(functional=cardinality is Cardinality.FUNCTIONAL)
    for interval in sorted(opened, key=lambda i: i.start):
        slot.take_on(interval)
    ordered = sorted(events, key=lambda e: (e.at, e.order))
    called_off = _called_off(ordered)
    for event in ordered:
        slot.expire(event.at)
        if event.order in called_off:
            slot.call_off(event, called_off[event.order])
        elif event.act is Act.RETRACT:
            slot.retract(event)
        else:
            slot.assert_(event)
    return slot.finish()


class _OpenSlot:
    """What is open in a slot at the moment the fold has reached."""

    def __init__(self, *, functional: bool) -> None:
        self._functional = functional
        self._open: dict[Value, Interval] = {}
        self._marked: dict[str, dict[Value, Interval]] = {}
        """The open intervals by the marks of their keys, so that a retraction looks only at values it can mean."""
        self._ends: list[tuple[Instant, int, Interval]] = []
        self._serials = count()
        self._closed: list[Interval] = []

    def expire(self, now: Instant) -> None:
        """Close what its own statement ended by now."""
        while self._ends and self._ends[0][0] <= now:
            until, _, interval = heappop(self._ends)
            if interval.end == until and self._open.get(interval.value) is interval:
                self._close(interval, until, EndReason.ENDED, None)

    def take_on(self, interval: Interval) -> None:
        """Start with a value that is open already; where two are the same, because their subjects are one, they are one."""
        held = self._open.get(interval.value)
        if held is None:
            self._hold(interval)
            return
        for member in interval.members:
            held.confirm(member)
            self._expect_end(held, member.until)

    def assert_(self, event: Event) -> None:
        """Open the value, closing what it displaces; or confirm it where it is open."""
        held = self._open.get(event.value)
        for interval in self._rivals(event):
            if self._displaces(event, interval) and _lets(held, interval):
                self._close(interval, event.at, EndReason.SUPERSEDED, event)
        if held is None:
            self._hold(Interval(value=event.value, start=event.at, end=event.until, members=[event], trust=event.trust))
            return
        held.confirm(event)
        self._expect_end(held, event.until)

    def call_off(self, plan: Event, by: Event) -> None:
        """A plan that was called off before its time: it held at no moment, and ends when that was said."""
        at = by.at if by.said_at is None else by.said_at
        gone = Interval(value=plan.value, start=at, end=at, reason=EndReason.RETRACTED, closer=by, members=[plan], trust=plan.trust)
        self._closed.append(gone)

    def retract(self, event: Event) -> None:
        """Close the values that the retraction means: all of them, or those that the surest rung finds."""
        able = [i for i in self._meant(event) if _ends(event, i.value, i.trust) and not _is_planned_anew(i, event)]
        meant = set(by_words(event.value.key, (i.value.key for i in able))) if event.value.key else {i.value.key for i in able}
        for interval in able:
            if interval.value.key in meant:
                self._close(interval, event.at, EndReason.RETRACTED, event)

    def finish(self) -> list[Interval]:
        """Every interval, in order of its start."""
        for interval in self._open.values():
            interval.reason = EndReason.ENDED if interval.end is not None else None
        return sorted([*self._closed, *self._open.values()], key=lambda i: (i.start, i.members[0].order))

    def _rivals(self, event: Event) -> list[Interval]:
        """What an assertion might displace: anything in a functional slot, else only other stances to the same value."""
        if self._functional and event.value.polarity is Polarity.POSITIVE:
            return list(self._open.values())
        stances = (Value(key=event.value.key, polarity=p, modality=m) for p in Polarity for m in Modality)
        return [self._open[stance] for stance in stances if stance in self._open]

    def _meant(self, event: Event) -> list[Interval]:
        if not event.value.key:
            return list(self._open.values())
        found: dict[Value, Interval] = {}
        for mark in buckets(event.value.key):
            found.update(self._marked.get(mark, {}))
        return list(found.values())

    def _hold(self, interval: Interval) -> None:
        self._open[interval.value] = interval
        for mark in buckets(interval.value.key):
            self._marked.setdefault(mark, {})[interval.value] = interval
        self._expect_end(interval, interval.end)

    def _expect_end(self, interval: Interval, until: Instant | None) -> None:
        if until is not None:
            heappush(self._ends, (until, next(self._serials), interval))

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
        for mark in buckets(interval.value.key):
            self._marked[mark].pop(interval.value, None)


def _lets(held: Interval | None, rival: Interval) -> bool:
    """A confirmation ends only what stood beside its value for being more trusted, until now that the value is as trusted."""
    return held is None or (rival is not held and outranks(rival.trust, held.trust))


def _called_off(events: Sequence[Event]) -> dict[Order, Event]:
    """Of the plans that were called off between their making and their time: what did so first, by the order of the plan."""
    plans: dict[str, dict[Order, Event]] = defaultdict(dict)
    for event in events:
        if (
            event.act is not Act.RETRACT
            and event.value.modality is Modality.PLANNED
            and event.said_at is not None
            and event.at > event.said_at
        ):
            for mark in ("", *buckets(event.value.key)):
                plans[mark][event.order] = event
    found: dict[Order, Event] = {}
    for off in sorted((event for event in events if plans and event.act is Act.RETRACT), key=_said):
        key = off.value.key
        able = {
            order: plan for mark in (buckets(key) if key else ("",)) for order, plan in plans[mark].items() if _comes_between(off, plan)
        }
        meant = set(by_words(key, (plan.value.key for plan in able.values())))
        for order, plan in able.items():
            if not key or plan.value.key in meant:
                found.setdefault(order, off)
    return found


def _said(event: Event) -> Instant:
    return event.at if event.said_at is None else event.said_at


def _comes_between(off: Event, plan: Event) -> bool:
    """Whether a retraction was said after the plan and before its time; one that names a day means what is planned for that day."""
    said = _said(off)
    of_that_day = off.at <= said or abs(off.at - plan.at) < _DAY_MS
    return _said(plan) < said < plan.at and of_that_day and _ends(off, plan.value, plan.trust)


def _ends(event: Event, value: Value, trust: Trust) -> bool:
    """A retraction ends what it speaks of; one that is certain ("no longer") also ends the plan of the same thing."""
    if value.polarity is not event.value.polarity or outranks(trust, event.trust):
        return False
    mine, theirs = event.value.modality, value.modality
    return mine is theirs or (mine is Modality.ASSERTED and theirs is Modality.PLANNED)


def _is_planned_anew(interval: Interval, event: Event) -> bool:
    """Whether a plan was made after a retraction that speaks of a time to come was said: it is not what was meant."""
    if interval.value.modality is not Modality.PLANNED or event.said_at is None:
        return False
    made = max((member.said_at for member in interval.members if member.said_at is not None), default=event.said_at)
    return made > event.said_at
