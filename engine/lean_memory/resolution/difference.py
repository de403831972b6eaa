"""From the intervals that a slot's events add up to, to what must be written so that its stored rows say the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from lean_memory.changes import ChangeSet, FactChange, FactRef, NewEvidence, NewFact, Relink, Window, WindowEvidence, WindowFact
from lean_memory.domain import Act, Candidate, EndReason
from lean_memory.resolution.board import Board, Origin
from lean_memory.resolution.followers import share_ends
from lean_memory.resolution.timeline import Event, Interval, Order


@dataclass(slots=True, kw_only=True)
class Difference:
    """The difference between the stored rows of a window and the intervals that its events add up to."""

    board: Board
    origins: dict[Order, Origin]
    intervals: list[Interval]
    first_new: int
    facts: list[NewFact] = field(default_factory=list[NewFact])
    changed: list[FactChange] = field(default_factory=list[FactChange])
    evidence: list[NewEvidence] = field(default_factory=list[NewEvidence])
    relinks: list[Relink] = field(default_factory=list[Relink])
    existing: list[int] = field(default_factory=list[int])
    holders: dict[Order, FactRef] = field(default_factory=dict[Order, FactRef])
    """The fact that stands for each event, by the event's order."""
    survivors: dict[int, int] = field(default_factory=dict[int, int])
    """For the row of each fact that goes on as a duplicate, the row of the one it follows."""
    inserted: int = 0
    stored: dict[int, WindowFact] = field(init=False)

    def __post_init__(self) -> None:
        self.stored = {fact.row: fact for fact in self.board.window.facts}

    def changes(self) -> ChangeSet:
        """What to write so that the rows say what the intervals say."""
        held = [self._holder(interval) for interval in self.intervals]
        self._share_ends([ref for ref, _ in held])
        for interval, (ref, origin) in zip(self.intervals, held, strict=True):
            self._write_interval(interval, ref, origin)
        self._strike()
        self._record_retractions()
        return ChangeSet(
            facts=tuple(self.facts),
            changes=tuple(c for c in self.changed if _differs(c, self.stored[c.row])),
            evidence=tuple(self.evidence),
            relinks=tuple(self.relinks),
            existing=tuple(dict.fromkeys(self.existing)),
        )

    def _holder(self, interval: Interval) -> tuple[FactRef, Origin]:
        """The fact that stands for an interval: the stored one asserted first, else the oldest assertion, made a fact."""
        stored = [o for o in (self.origins[m.order] for m in interval.members) if isinstance(o, WindowFact)]
        if stored:
            origin: Origin = min(stored, key=lambda f: (f.asserted_at, f.recorded_at, f.row))
            ref = FactRef(row=origin.row)
        else:
            origin = self.origins[interval.members[0].order]
            ref = FactRef(new=self.first_new + self.inserted)
            self.inserted += 1
        for member in interval.members:
            self.holders[member.order] = ref
        return ref, origin

    def _share_ends(self, refs: list[FactRef]) -> None:
        held_by = {ref.row: interval for interval, ref in zip(self.intervals, refs, strict=True) if ref.row is not None}
        holders = {
            origin.row: ref.row
            for interval, ref in zip(self.intervals, refs, strict=True)
            for origin in (self.origins[member.order] for member in interval.members)
            if isinstance(origin, WindowFact) and ref.row is not None
        }
        self.survivors = share_ends(self.board.window.facts, held_by, holders)

    def _write_interval(self, interval: Interval, ref: FactRef, origin: Origin) -> None:
        for member in interval.members:
            self._write_member(member, self.origins[member.order], ref, origin)
        if ref.row in self.survivors:
            self.changed.append(_followed(interval, ref.row, self.survivors[ref.row]))
        elif ref.row is not None:
            self.changed.append(
                FactChange(
                    row=ref.row,
                    valid_at=interval.start,
                    valid_to=interval.end,
                    is_latest=_is_latest(interval),
                    superseded_by=self._successor(interval),
                    end_reason=self._reason(interval, ref.row),
                )
            )
        else:
            self.facts.append(self._new_fact(interval, origin))

    def _new_fact(self, interval: Interval, origin: Origin) -> NewFact:
        first = interval.members[0]
        return NewFact(
            candidate=self._candidate(origin),
            object_key=interval.value.key,
            asserted_at=first.at,
            asserted_until=first.until,
            valid_at=interval.start,
            valid_to=interval.end,
            is_latest=_is_latest(interval),
            superseded_by=self._successor(interval),
            end_reason=interval.reason,
            evidence=origin if isinstance(origin, WindowEvidence) else None,
        )

    def _write_member(self, member: Event, origin: Origin, ref: FactRef, holder: Origin) -> None:
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
            self.existing.append(self.survivors.get(ref.row, ref.row))

    def _successor(self, interval: Interval) -> FactRef | None:
        if interval.reason is not EndReason.SUPERSEDED or interval.closer is None:
            return None
        return self.holders.get(interval.closer.order)

    def _reason(self, interval: Interval, row: int) -> EndReason | None:
        forgotten = self.stored[row].end_reason is EndReason.FORGOTTEN and interval.reason is EndReason.RETRACTED
        return EndReason.FORGOTTEN if forgotten else interval.reason

    def _strike(self) -> None:
        for row, index in self.board.struck.items():
            right = self.holders.get(self.board.order(index))
            self.changed.append(_struck(self.stored[row], right))

    def _record_retractions(self) -> None:
        closed = {i.closer.order: i for i in reversed(self.intervals) if i.closer is not None}
        for index, said in enumerate(self.board.statements):
            if said.candidate.act is Act.RETRACT and index not in self.board.withdrawn:
                ended = closed.get(self.board.order(index))
                self.evidence.append(
                    NewEvidence(
                        candidate=said.candidate,
                        object_key=said.object_key,
                        act=Act.RETRACT,
                        valid_at=said.valid_at,
                        valid_to=None,
                        fact=self.holders.get(ended.members[0].order) if ended else None,
                    )
                )

    def _candidate(self, origin: Origin) -> Candidate:
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


def _is_latest(interval: Interval) -> bool:
    return interval.reason in {None, EndReason.ENDED}


def _followed(interval: Interval, row: int, survivor: int) -> FactChange:
    """A duplicate holds as long as its survivor does, and stays out of sight."""
    return FactChange(
        row=row,
        valid_at=interval.start,
        valid_to=interval.end,
        is_latest=False,
        superseded_by=FactRef(row=survivor),
        end_reason=EndReason.DUPLICATE,
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
