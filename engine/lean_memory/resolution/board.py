"""The statements of one episode about a slot, beside what is stored of it, as a timeline to fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lean_memory.changes import Window, WindowEvidence, WindowFact
from lean_memory.domain import Act, Candidate, EndReason, Instant, Polarity, Trust, outranks, value_key
from lean_memory.resolution.contradiction import by_words
from lean_memory.resolution.statements import Statement
from lean_memory.resolution.timeline import Event, Interval, Order, Value

Origin = WindowFact | WindowEvidence | int
"""Where an event comes from: a stored fact, a stored confirmation or retraction, or the statement of that index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Everything that counts in a timeline from the window's beginning on."""

    opened: list[Interval]
    """What was open already when the window begins."""
    events: list[Event]
    origins: dict[Order, Origin]
    """Where each event comes from, those of `opened` among them, by its order."""


@dataclass(slots=True, kw_only=True)
class Board:
    """Everything said about a slot: what is stored of it, and the statements at hand, corrections already carried out."""

    window: Window
    recorded_at: Instant
    statements: list[Statement] = field(default_factory=list[Statement])
    struck: dict[int, int] = field(default_factory=dict[int, int])
    """Rows of facts that were never so, with the index of the statement that says what was."""
    withdrawn: set[int] = field(default_factory=set[int])
    """Indexes of statements that a later one of the same episode takes back."""

    @classmethod
    def of(cls, window: Window, statements: Iterable[Statement], recorded_at: Instant) -> Board:
        """The board with all statements of an episode, in the order they were said."""
        board = cls(window=window, recorded_at=recorded_at)
        for index, said in enumerate(statements):
            board.statements.append(board._correct(index, said) if said.candidate.act is Act.CORRECT else said)
        return board

    def reaches_back_to(self) -> Instant:
        """The earliest moment that changes: where a statement is placed, or where what was never so began."""
        wrong = (f.valid_at for f in self.window.facts if f.row in self.struck)
        return min([*wrong, *(said.reaches for said in self.statements)])

    def told(self) -> Told:
        """What counts in the timeline."""
        origins: dict[Order, Origin] = {}
        before: dict[int, list[Event]] = defaultdict(list)
        events: list[Event] = []
        facts = self._standing()
        for holder, event, origin in self._stored(facts):
            origins[event.order] = origin
            if holder is not None and event.at < self.window.since:
                before[holder].append(event)
            else:
                events.append(event)
        for index, said in enumerate(self.statements):
            if index not in self.withdrawn:
                order = self.order(index)
                origins[order] = index
                events.append(_statement_event(said, order))
        return Told(opened=[_opened(facts[row], members) for row, members in before.items()], events=events, origins=origins)

    def order(self, index: int) -> Order:
        """The place of a statement among everything said about the same moment."""
        said = self.statements[index].candidate
        return (self.recorded_at, _rank(said.act), said.span.start, index)

    def _correct(self, index: int, said: Statement) -> Statement:
        """Strike what was never so; the correction takes its place in world time, unless it gives a date of its own."""
        if said.candidate.polarity is Polarity.NEGATIVE:
            return said
        earlier = self._newest_statement(said)
        if earlier is not None:
            self.withdrawn.add(earlier)
            self.struck.update({row: index for row, by in self.struck.items() if by == earlier})
            return _in_place(said, self.statements[earlier].valid_at)
        wrong = self._newest_fact(said)
        if wrong is None or wrong.object_key == said.object_key:
            return said
        self.struck.update(dict.fromkeys(self._with_duplicates(wrong), index))
        return _in_place(said, wrong.valid_at)

    def _newest_statement(self, said: Statement) -> int | None:
        asserted = [
            index
            for index, other in enumerate(self.statements)
            if other.candidate.act is not Act.RETRACT
            and index not in self.withdrawn
            and other.object_key != said.object_key
            and _same_stance(said.candidate, other.candidate)
        ]
        named = _named(said, [self.statements[index].object_key for index in asserted])
        return max((index for index in asserted if self.statements[index].object_key in named), default=None)

    def _newest_fact(self, said: Statement) -> WindowFact | None:
        """The fact that a correction means: of those it can mean, which hold when it was said, the one that was said last."""
        facts = [f for f in self.window.facts if f.row not in self.struck and _holds(f, said.valid_at) and self._may_correct(said, f)]
        named = _named(said, [f.object_key for f in facts])
        return max((f for f in facts if f.object_key in named), key=lambda f: (f.recorded_at, f.row), default=None)

    def _with_duplicates(self, fact: WindowFact) -> set[int]:
        """The rows of a fact and of all that hold on as duplicates of it, or of the one it is a duplicate of."""
        first = _survivor(fact)
        return {fact.row, *(f.row for f in self.window.facts if _survivor(f) == first and f.row not in self.struck)}

    def _may_correct(self, said: Statement, fact: WindowFact) -> bool:
        c = said.candidate
        if not _same_stance(c, fact):
            return False
        rests_on = [fact.trust, *(e.trust for e in self.window.evidence if e.act is Act.ASSERT and e.fact_row == fact.row)]
        return not any(outranks(trust, c.trust) for trust in rests_on)

    def _standing(self) -> dict[int, WindowFact]:
        """The facts that count here, by row. What only confirms a fact that was struck, or one outside the window, does not."""
        facts = {f.row: f for f in self.window.facts if f.row not in self.struck}
        return {row: f for row, f in facts.items() if not _is_merged(f) or f.superseded_by in facts}

    def _stored(self, facts: dict[int, WindowFact]) -> Iterator[tuple[int | None, Event, Origin]]:
        """What the stored rows say, each with the row of the fact that it rests with, if any."""
        for fact in facts.values():
            yield fact.superseded_by if _is_merged(fact) else fact.row, _fact_event(fact), fact
            if fact.end_reason is EndReason.FORGOTTEN and fact.valid_to is not None:
                yield None, _forgotten_end(fact, fact.valid_to), fact
        for said in self.window.evidence:
            if said.act is Act.RETRACT:
                yield None, _evidence_event(said), said
            elif said.fact_row is None or said.fact_row in facts:
                yield said.fact_row, _evidence_event(said), said


def _named(said: Statement, keys: Sequence[str]) -> set[str]:
    """Those of the values that a correction says were never so: all of them where it names none."""
    wrong = value_key(said.candidate.corrects or "")
    return set(by_words(wrong, keys)) if wrong else set(keys)


def _in_place(said: Statement, valid_at: Instant) -> Statement:
    return said if said.candidate.valid_at is not None else replace(said, valid_at=valid_at)


def _same_stance(candidate: Candidate, other: Candidate | WindowFact) -> bool:
    return other.modality is candidate.modality and other.polarity is candidate.polarity


def _holds(fact: WindowFact, moment: Instant) -> bool:
    is_told = fact.is_latest or fact.end_reason is EndReason.DUPLICATE
    return is_told and (fact.valid_to is None or fact.valid_to > moment)


def _survivor(fact: WindowFact) -> int:
    return fact.superseded_by if fact.end_reason is EndReason.DUPLICATE and fact.superseded_by is not None else fact.row


def _is_merged(fact: WindowFact) -> bool:
    return fact.end_reason is EndReason.MERGED


def _opened(fact: WindowFact, said: list[Event]) -> Interval:
    """The interval of a fact as what was said before the window left it."""
    members = sorted(said, key=lambda e: (e.at, e.order))
    interval = Interval(value=_value(fact), start=fact.valid_at, trust=members[0].trust)
    for member in members:
        interval.confirm(member)
    return interval


def _rank(act: Act) -> int:
    """At one moment of one episode ("I left Acme and joined Globex") what ends comes before what begins."""
    return 0 if act is Act.RETRACT else 1


def _value(said: WindowFact | WindowEvidence) -> Value:
    return Value(key=said.object_key, polarity=said.polarity, modality=said.modality)


def _fact_event(fact: WindowFact) -> Event:
    order = (fact.recorded_at, _rank(Act.ASSERT), fact.position, 2 * fact.row)
    return Event(
        at=fact.asserted_at,
        order=order,
        act=Act.ASSERT,
        value=_value(fact),
        until=fact.asserted_until,
        additive=fact.additive,
        trust=fact.trust,
        said_at=fact.said_at,
    )


def _forgotten_end(fact: WindowFact, end: Instant) -> Event:
    """What ended the fact was erased; the end itself stands."""
    order = (fact.recorded_at, _rank(Act.RETRACT), fact.position, 2 * fact.row)
    return Event(at=end, order=order, act=Act.RETRACT, value=_value(fact), trust=Trust.USER)


def _evidence_event(said: WindowEvidence) -> Event:
    order = (said.recorded_at, _rank(said.act), said.span.start, 2 * said.row + 1)
    return Event(
        at=said.valid_at,
        order=order,
        act=said.act,
        value=_value(said),
        until=said.valid_to,
        additive=said.additive,
        trust=said.trust,
        said_at=said.said_at,
    )


def _statement_event(said: Statement, order: Order) -> Event:
    c = said.candidate
    act = Act.RETRACT if c.act is Act.RETRACT else Act.ASSERT
    value = Value(key=said.object_key, polarity=c.polarity, modality=c.modality)
    return Event(
        at=said.valid_at,
        order=order,
        act=act,
        value=value,
        until=_until(said),
        additive=c.additive,
        trust=c.trust,
        said_at=said.said_at,
    )


def _until(said: Statement) -> Instant | None:
    """An end that does not lie after the beginning says nothing."""
    end = said.candidate.valid_to
    return end if end is not None and end > said.valid_at else None
