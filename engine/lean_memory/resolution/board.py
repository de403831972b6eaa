"""The statements of one episode about a slot, beside what is stored of it, as the events of one timeline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lean_memory.changes import Window, WindowEvidence, WindowFact
from lean_memory.domain import Act, Candidate, EndReason, Instant, Trust, outranks, value_key
from lean_memory.resolution.contradiction import names
from lean_memory.resolution.statements import Statement
from lean_memory.resolution.timeline import Event, Order, Value

Origin = WindowFact | WindowEvidence | int
"""Where an event comes from: a stored fact, a stored confirmation or retraction, or the statement of that index."""


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

    def take(self, index: int, said: Statement) -> None:
        """Add the statement of that index (they come in order)."""
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
        facts = [f for f in self.window.facts if f.is_latest and f.row not in self.struck and _may_correct(said.candidate, f)]
        named = [f for f in facts if names(wrong, f.object_key)] if wrong else facts
        return max(named, key=lambda f: (f.recorded_at, f.row), default=None)

    def events(self) -> tuple[list[Event], dict[Order, Origin]]:
        """What counts in the timeline, and where each event comes from, by its order."""
        origins: dict[Order, Origin] = {}
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
        """The place of a statement among everything said about the same moment."""
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


def _may_correct(candidate: Candidate, fact: WindowFact) -> bool:
    return fact.modality is candidate.modality and not outranks(fact.trust, candidate.trust)


def _rank(act: Act) -> int:
    """At one moment of one episode ("I left Acme and joined Globex") what ends comes before what begins."""
    return 0 if act is Act.RETRACT else 1


def _fact_events(fact: WindowFact, origins: dict[Order, Origin]) -> list[Event]:
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
