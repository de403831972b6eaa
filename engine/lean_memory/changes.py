"""What resolution sees of a slot, and what it wants written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lean_memory.domain import (
    USER,
    Act,
    Candidate,
    Cardinality,
    EndReason,
    EpisodeId,
    Instant,
    Modality,
    Polarity,
    Span,
    Trust,
    name_key,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Everything said of one subject with one predicate."""

    subject_key: str
    """The subject's name key (NFC, case-folded, white space collapsed)."""
    predicate: str
    cardinality: Cardinality

    @classmethod
    def of(cls, candidate: Candidate) -> Slot:
        """The slot that a statement speaks of."""
        return cls(subject_key=name_key(candidate.subject or USER), predicate=candidate.predicate, cardinality=candidate.cardinality)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFact:
    """A fact of a slot that is stored and not struck, of any modality: what it said, and the interval the timeline gives it now."""

    row: int
    object: str
    object_key: str
    polarity: Polarity
    modality: Modality
    trust: Trust
    additive: bool
    asserted_at: Instant
    asserted_until: Instant | None
    recorded_at: Instant
    """When what was said became known: of two statements about one moment, the one recorded later wins."""
    valid_at: Instant
    valid_to: Instant | None
    is_latest: bool
    superseded_by: int | None
    end_reason: EndReason | None
    position: int
    """Where in its episode it was said (start of its span): of two statements of one episode about one moment, the later wins."""
    said_at: Instant | None = None
    """When it was said, where that is known; what it tells of may lie ahead of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEvidence:
    """A stored confirmation (`ASSERT`) or retraction (`RETRACT`) of a value of the slot."""

    row: int
    act: Act
    object: str
    object_key: str
    polarity: Polarity
    modality: Modality
    trust: Trust
    additive: bool
    valid_at: Instant
    valid_to: Instant | None
    recorded_at: Instant
    fact_row: int | None
    fact_text: str
    episode_id: EpisodeId
    span: Span
    said_at: Instant | None = None
    """When it was said, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a slot holds from the moment `since` on, of the values asked for; what ended before it is not in here.

    `facts` are those not struck whose `valid_to` is open or not before `since`, merged ones among them. `evidence` is what was said at
    or after `since`: confirmations of the values asked for, and every retraction. Of what was said before, it holds what still counts
    at `since` for facts that began earlier: the assertions (merged facts are with `facts`) that name an end or are of another trust
    than the fact, and all of those that a fact rests on which was itself asserted later.
    """

    slot: Slot
    since: Instant
    facts: tuple[WindowFact, ...] = ()
    evidence: tuple[WindowEvidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRef:
    """A fact that is stored (`row`), or the one at index `new` among the new facts of the same change set."""

    row: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact to insert. It comes from a candidate of the episode at hand, or (`evidence`) from an earlier confirmation
    that a late statement has cut off from the fact it confirmed; then text, span and episode are the confirmation's.
    """

    candidate: Candidate
    object_key: str
    asserted_at: Instant
    asserted_until: Instant | None
    valid_at: Instant
    valid_to: Instant | None
    is_latest: bool
    superseded_by: FactRef | None = None
    end_reason: EndReason | None = None
    evidence: WindowEvidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """How a stored fact stands from now on; the version before it is kept."""

    row: int
    valid_at: Instant
    valid_to: Instant | None
    is_latest: bool
    struck: bool = False
    superseded_by: FactRef | None = None
    end_reason: EndReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvidence:
    """A confirmation or retraction to insert; `fact` is the fact it confirms or closes, where there is one."""

    candidate: Candidate
    object_key: str
    act: Act
    valid_at: Instant
    valid_to: Instant | None
    fact: FactRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relink:
    """A stored confirmation (`row`) that from now on belongs to another fact."""

    row: int
    fact: FactRef


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Everything one episode writes in its second transaction."""

    facts: tuple[NewFact, ...] = ()
    changes: tuple[FactChange, ...] = ()
    evidence: tuple[NewEvidence, ...] = ()
    relinks: tuple[Relink, ...] = ()
    existing: tuple[int, ...] = ()
    """Rows of current facts that the episode only said again; those that are cold come back to the hot tier."""


def joined(sets: Iterable[ChangeSet]) -> ChangeSet:
    """One change set of several, in order; references to new facts must already count across them."""
    every = tuple(sets)
    return ChangeSet(
        facts=tuple(fact for s in every for fact in s.facts),
        changes=tuple(change for s in every for change in s.changes),
        evidence=tuple(said for s in every for said in s.evidence),
        relinks=tuple(link for s in every for link in s.relinks),
        existing=tuple(row for s in every for row in s.existing),
    )
