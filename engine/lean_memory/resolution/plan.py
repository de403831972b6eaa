"""From what an episode says and what its slots hold, to everything that is to be written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lean_memory.changes import ChangeSet, FactChange, FactRef, NewEvidence, NewFact, Relink, Window, WindowEvidence, WindowFact
from lean_memory.domain import Act, Candidate, EndReason, Instant, Trust, value_key
from lean_memory.resolution.timeline import Event, Interval, Order, Value, fold, names


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A candidate placed in world time, with the key of its value.

    `object_key` is given where a rung of the contradiction ladder found that the candidate means a stored value
    that is spelled differently; otherwise it is the key of the candidate's own object.
    """

    candidate: Candidate
    valid_at: Instant
    object_key: str


def statement(candidate: Candidate, t_ref: Instant, object_key: str | None = None) -> Statement:
    """Place a candidate: what gives no date of its own holds from the moment it was said."""
    at = candidate.valid_at if candidate.valid_at is not None else t_ref
    key = (
        object_key
        if object_key is not None
        else value_key(candidate.object or ("" if candidate.act is Act.RETRACT else candidate.fact_text))
    )
    return Statement(candidate=candidate, valid_at=at, object_key=key)


def plan(window: Window, statements: Sequence[Statement], *, recorded_at: Instant, first_new: int = 0) -> ChangeSet:
    """What to write so that the slot's timeline includes `statements`, which all concern `window`'s slot.

    `recorded_at` is when their episode was recorded; `first_new` is the number of new facts already planned in the same change set: references to new facts count from it.
    """
    board = _Board(window=window, recorded_at=recorded_at)
    for index, said in enumerate(statements):
        board.take(index, said)
    return board.changes(first_new)


@dataclass(slots=True, kw_only=True)
class _Board:
    window: Window
    recorded_at: Instant
    statements: list[Statement] = field(default_factory=list[Statement])
    struck: dict[int, int] = field(default_factory=dict[int, int])
    """Rows of facts that were never so, with the index of the statement that says what was."""
    withdrawn: set[int] = field(default_factory=set[int])
    """Indexes of statements that a later one of the same episode takes back."""

    def take(self, index: int, said: Statement) -> None:
        if said.candidate.act is Act.CORRECT:
            said = self._correct(index, said)
        self.statements.append(said)

    def _correct(self, index: int, said: Statement) -> Statement:
        """Strike what was never so; the correction takes its place in world time."""
        earlier = self._newest_statement(said)
        if earlier is not None:
            self.withdrawn.add(earlier)
            return replace(said, valid_at=self.statements[earlier].valid_at)
        wrong = self._newest_fact(said)
        if wrong is None or wrong.object_key == said.object_key:
            return said
        self.struck[wrong.row] = index
        return replace(said, valid_at=wrong.valid_at)

    def _newest_statement(self, said: Statement) -> int | None:
        wrong = value_key(said.candidate.corrects or "")
        for index in range(len(self.statements) - 1, -1, -1):
            other = self.statements[index]
            asserts = other.candidate.act is not Act.RETRACT and index not in self.withdrawn
            if asserts and other.object_key != said.object_key and (not wrong or names(wrong, other.object_key)):
                return index
        return None

    def _newest_fact(self, said: Statement) -> WindowFact | None:
        wrong = value_key(said.candidate.corrects or "")
        facts = [f for f in self.window.facts if f.is_latest and f.row not in self.struck and f.modality is said.candidate.modality]
        named = [f for f in facts if names(wrong, f.object_key)] if wrong else facts
        return max(named, key=lambda f: (f.recorded_at, f.row), default=None)

    def changes(self, first_new: int) -> ChangeSet:
        events, origins = self._events()
        intervals = fold(events, self.window.slot.cardinality)
        return _Diff(board=self, origins=origins, intervals=intervals, first_new=first_new).changes()

    def _events(self) -> tuple[list[Event], dict[Order, _Origin]]:
        origins: dict[Order, _Origin] = {}
        events: list[Event] = []
        rows = self._standing()
        for fact in self.window.facts:
            if fact.row in rows:
                events.extend(_fact_events(fact, origins))
        for said in self.window.evidence:
            if said.act is Act.RETRACT or said.fact_row is None or said.fact_row in rows:
                order = (said.recorded_at, _rank(said.act), said.span.start, 2 * said.row + 1)
                origins[order] = said
                events.append(_evidence_event(said, order))
        for index, statement_ in enumerate(self.statements):
            if index not in self.withdrawn:
                order = self.order(index)
                origins[order] = index
                events.append(_statement_event(statement_, order))
        return events, origins

    def order(self, index: int) -> Order:
        said = self.statements[index].candidate
        return (self.recorded_at, _rank(said.act), said.span.start, index)

    def _standing(self) -> set[int]:
        """Rows whose statements count here; what only confirms a fact outside the window says nothing in it."""
        rows = {f.row for f in self.window.facts}
        return {
            f.row
            for f in self.window.facts
            if f.row not in self.struck and (f.end_reason is not EndReason.MERGED or f.superseded_by in rows)
        }


_Origin = WindowFact | WindowEvidence | int


def _rank(act: Act) -> int:
    """At one moment of one episode ("I left Acme and joined Globex") what ends comes before what begins."""
    return 0 if act is Act.RETRACT else 1


def _fact_events(fact: WindowFact, origins: dict[Order, _Origin]) -> list[Event]:
    order = (fact.recorded_at, _rank(Act.ASSERT), fact.position, 2 * fact.row)
    origins[order] = fact
    value = Value(key=fact.object_key, polarity=fact.polarity, modality=fact.modality)
    said = Event(
        at=fact.asserted_at, order=order, act=Act.ASSERT, value=value, until=fact.asserted_until, additive=fact.additive, trust=fact.trust
    )
    if fact.end_reason is not EndReason.FORGOTTEN or fact.valid_to is None:
        return [said]
    # What ended it was erased; the end itself stands.
    return [
        said,
        Event(
            at=fact.valid_to,
            order=(fact.recorded_at, _rank(Act.RETRACT), fact.position, 2 * fact.row),
            act=Act.RETRACT,
            value=value,
            trust=Trust.USER,
        ),
    ]


def _evidence_event(said: WindowEvidence, order: Order) -> Event:
    value = Value(key=said.object_key, polarity=said.polarity, modality=said.modality)
    return Event(at=said.valid_at, order=order, act=said.act, value=value, until=said.valid_to, additive=said.additive, trust=said.trust)


def _statement_event(said: Statement, order: Order) -> Event:
    c = said.candidate
    act = Act.RETRACT if c.act is Act.RETRACT else Act.ASSERT
    value = Value(key=said.object_key, polarity=c.polarity, modality=c.modality)
    return Event(at=said.valid_at, order=order, act=act, value=value, until=_until(said), additive=c.additive, trust=c.trust)


def _until(said: Statement) -> Instant | None:
    """An end that does not lie after the beginning says nothing."""
    end = said.candidate.valid_to
    return end if end is not None and end > said.valid_at else None


@dataclass(slots=True, kw_only=True)
class _Diff:
    """The difference between the stored rows of a window and the intervals that its events add up to."""

    board: _Board
    origins: dict[Order, _Origin]
    intervals: list[Interval]
    first_new: int
    facts: list[NewFact] = field(default_factory=list[NewFact])
    changed: list[FactChange] = field(default_factory=list[FactChange])
    evidence: list[NewEvidence] = field(default_factory=list[NewEvidence])
    relinks: list[Relink] = field(default_factory=list[Relink])
    existing: list[int] = field(default_factory=list[int])
    holders: dict[Order, FactRef] = field(default_factory=dict[Order, FactRef])
    """The fact that stands for each event, by the event's order."""

    def changes(self) -> ChangeSet:
        held = [self._holder(interval) for interval in self.intervals]
        for interval, (ref, origin) in zip(self.intervals, held, strict=True):
            self._write_interval(interval, ref, origin)
        self._strike()
        self._record_retractions()
        return ChangeSet(
            facts=tuple(self.facts),
            changes=tuple(c for c in self.changed if _differs(c, self._stored(c.row))),
            evidence=tuple(self.evidence),
            relinks=tuple(self.relinks),
            existing=tuple(dict.fromkeys(self.existing)),
            revived=tuple(dict.fromkeys(self.existing)),
        )

    def _holder(self, interval: Interval) -> tuple[FactRef, _Origin]:
        """The fact that stands for an interval: the stored one asserted first, else the oldest assertion, made a fact."""
        stored = [o for o in (self.origins[m.order] for m in interval.members) if isinstance(o, WindowFact)]
        if stored:
            origin: _Origin = min(stored, key=lambda f: (f.asserted_at, f.recorded_at, f.row))
            ref = FactRef(row=origin.row)
        else:
            origin = self.origins[interval.members[0].order]
            ref = FactRef(new=self.first_new + sum(1 for r in set(self.holders.values()) if r.new is not None))
        for member in interval.members:
            self.holders[member.order] = ref
        return ref, origin

    def _write_interval(self, interval: Interval, ref: FactRef, origin: _Origin) -> None:
        for member in interval.members:
            self._write_member(member, self.origins[member.order], ref, origin)
        successor = self._successor(interval)
        latest = interval.reason in {None, EndReason.ENDED}
        if ref.row is not None:
            self.changed.append(
                FactChange(
                    row=ref.row,
                    valid_at=interval.start,
                    valid_to=interval.end,
                    is_latest=latest,
                    superseded_by=successor,
                    end_reason=self._reason(interval, ref.row),
                )
            )
            return
        first = interval.members[0]
        self.facts.append(
            NewFact(
                candidate=self._candidate(origin),
                object_key=interval.value.key,
                asserted_at=first.at,
                asserted_until=first.until,
                valid_at=interval.start,
                valid_to=interval.end,
                is_latest=latest,
                superseded_by=successor,
                end_reason=interval.reason,
                evidence=origin if isinstance(origin, WindowEvidence) else None,
            )
        )

    def _write_member(self, member: Event, origin: _Origin, ref: FactRef, holder: _Origin) -> None:
        if isinstance(origin, WindowEvidence) and origin.fact_row != ref.row:
            self.relinks.append(Relink(row=origin.row, fact=ref))
        if origin is holder:
            return
        if isinstance(origin, WindowFact):
            self.changed.append(_absorbed(origin, ref))
        elif isinstance(origin, int):
            self._confirm(member, origin, ref)

    def _confirm(self, member: Event, index: int, ref: FactRef) -> None:
        said = self.board.statements[index]
        self.evidence.append(
            NewEvidence(
                candidate=said.candidate, object_key=said.object_key, act=Act.ASSERT, valid_at=member.at, valid_to=member.until, fact=ref
            )
        )
        if ref.row is not None:
            self.existing.append(ref.row)

    def _successor(self, interval: Interval) -> FactRef | None:
        if interval.reason is not EndReason.SUPERSEDED or interval.closer is None:
            return None
        return self.holders.get(interval.closer.order)

    def _reason(self, interval: Interval, row: int) -> EndReason | None:
        forgotten = self._stored(row).end_reason is EndReason.FORGOTTEN and interval.reason is EndReason.RETRACTED
        return EndReason.FORGOTTEN if forgotten else interval.reason

    def _strike(self) -> None:
        for row, index in self.board.struck.items():
            right = self.holders.get(self.board.order(index))
            self.changed.append(_struck(self._stored(row), right))

    def _record_retractions(self) -> None:
        for index, said in enumerate(self.board.statements):
            if said.candidate.act is Act.RETRACT and index not in self.board.withdrawn:
                closed = next((i for i in self.intervals if i.closer is not None and i.closer.order == self.board.order(index)), None)
                self.evidence.append(
                    NewEvidence(
                        candidate=said.candidate,
                        object_key=said.object_key,
                        act=Act.RETRACT,
                        valid_at=said.valid_at,
                        valid_to=None,
                        fact=self.holders.get(closed.members[0].order) if closed else None,
                    )
                )

    def _stored(self, row: int) -> WindowFact:
        return next(f for f in self.board.window.facts if f.row == row)

    def _candidate(self, origin: _Origin) -> Candidate:
        if isinstance(origin, int):
            return self.board.statements[origin].candidate
        if isinstance(origin, WindowEvidence):
            return _confirmed(origin, self.board.window)
        raise AssertionError("a stored fact is never inserted again")


def _confirmed(said: WindowEvidence, window: Window) -> Candidate:
    """The statement that a stored confirmation made, as a candidate again."""
    return Candidate(
        subject=window.slot.subject_key,
        predicate=window.slot.predicate,
        object=said.object,
        fact_text=said.fact_text,
        span=said.span,
        polarity=said.polarity,
        modality=said.modality,
        additive=said.additive,
        cardinality=window.slot.cardinality,
        valid_at=said.valid_at,
        valid_to=said.valid_to,
        trust=said.trust,
        rule="confirmation",
    )


def _struck(fact: WindowFact, right: FactRef | None) -> FactChange:
    """What was never so leaves the timeline; what was believed until now can still be asked for."""
    return FactChange(
        row=fact.row,
        valid_at=fact.valid_at,
        valid_to=fact.valid_to,
        is_latest=False,
        struck=True,
        superseded_by=right,
        end_reason=EndReason.CORRECTED,
    )


def _absorbed(fact: WindowFact, by: FactRef) -> FactChange:
    """Another fact says the same from earlier on; this one keeps its place as a confirmation, over no time of its own."""
    return FactChange(
        row=fact.row,
        valid_at=fact.asserted_at,
        valid_to=fact.asserted_at,
        is_latest=False,
        superseded_by=by,
        end_reason=EndReason.MERGED,
    )


def _differs(change: FactChange, stored: WindowFact) -> bool:
    by = change.superseded_by
    return change.struck or (
        change.valid_at,
        change.valid_to,
        change.is_latest,
        by.row if by else None,
        by.new if by else None,
        change.end_reason,
    ) != (
        stored.valid_at,
        stored.valid_to,
        stored.is_latest,
        stored.superseded_by,
        None,
        stored.end_reason,
    )
