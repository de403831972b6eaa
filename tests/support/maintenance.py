"""A namespace with its caretaker, whose proposers are whatever a test wants proposed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Act, Candidate, Cardinality, Fact, FactId, Instant, Span, Visibility
from lean_memory.maintenance.caretaker import Caretaker
from lean_memory.maintenance.deciding import Decision
from lean_memory.maintenance.drafts import Draft, Snapshot
from lean_memory.maintenance.run import Request
from lean_memory.models.ports import CosineThresholds
from lean_memory.proposals import BOTH, MaintenanceReport, Proposal, ProposalKind, Verdict
from lean_memory.store.namespace_store import NamespaceStore
from support.statements import MODEL, SteadyClock, day, open_store, say, vector, within


class TextEmbedder:
    """Gives every text the vector that `say` gives it."""

    identity = MODEL
    thresholds = CosineThresholds(duplicate=0.95, near_certain=0.97, conflict_candidate=0.6, object_match=0.9)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector(text) for text in texts]) if texts else np.zeros((0, MODEL.dims), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return vector(text)


@dataclass(slots=True, kw_only=True)
class House:
    """A namespace, its clock, its caretaker, and what the next runs propose."""

    root: Path
    clock: SteadyClock = field(default_factory=lambda: SteadyClock(day(1000)))
    drafts: list[Draft] = field(default_factory=list[Draft])
    store: NamespaceStore = field(init=False)
    care: Caretaker = field(init=False)

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """Open the file, as a new process would."""
        self.store = open_store(self.root, clock=self.clock)
        self.care = Caretaker(store=self.store, embedder=TextEmbedder(), proposers=(self._propose,))

    def close(self) -> None:
        self.store.close()

    def wait(self, days: float) -> None:
        """Let time pass."""
        self.clock.now = Instant(self.clock.now + int(days * 86_400_000))

    def said(self, *candidates: Candidate, at: Instant | None = None) -> Fact:
        """Say something now, or at a moment; gives the fact that came of it."""
        text = " ".join(candidate.fact_text for candidate in candidates)
        placed = [within(text, candidate) for candidate in candidates]
        applied = say(self.store, *placed, at=self.clock.now if at is None else at, text=text)
        return self.store.fact((applied.fact_ids or applied.existing)[0])

    def run(self, *drafts: Draft, apply: bool = True, force: bool = True, auto_only: bool = False) -> MaintenanceReport:
        """A run that proposes these drafts."""
        self.drafts = list(drafts)
        return self.care.run(Request(apply=apply, force=force, auto_only=auto_only))

    def proposed(self, draft: Draft) -> Proposal:
        """The proposal that a run makes of a draft."""
        known = {each.id for each in self.waiting()}
        self.run(draft)
        [new] = [each for each in self.waiting() if each.id not in known]
        return new

    def waiting(self) -> list[Proposal]:
        """What waits for a decision."""
        queue = self.care.queue(kind=None, limit=1000, entity=None)
        return [proposal for group in queue.groups for proposal in group.proposals]

    def fact(self, fact: Fact | FactId) -> Fact:
        """A fact as it stands now."""
        return self.store.fact(fact if isinstance(fact, str) else fact.id)

    def latest(self, *, include_cold: bool = False) -> list[str]:
        """The texts of what holds now, sorted."""
        found = self.store.facts(visibility=Visibility(now=self.clock.now, include_cold=include_cold), modalities=None)
        return sorted(fact.fact_text for fact in found)

    def as_of(self, moment: Instant) -> list[tuple[str, str, int]]:
        """What the store's predicate lets through at a moment, in its order."""
        found = self.store.facts(visibility=Visibility(now=self.clock.now, as_of=moment), modalities=None)
        return [(fact.id, fact.fact_text, fact.valid_at) for fact in found]

    def known_at(self, moment: Instant) -> list[Fact]:
        """Everything as it was believed at a moment, to the last column."""
        return self.store.facts(visibility=Visibility(now=self.clock.now, known_at=moment, latest_only=False), modalities=None)

    def _propose(self, snapshot: Snapshot) -> Iterator[Draft]:
        present = {fact.id for fact in snapshot.facts}
        yield from (draft for draft in self.drafts if present.issuperset(draft.fact_ids))


def about(subject: str, predicate: str, value: str, *, functional: bool = False, text: str | None = None, **changes: object) -> Candidate:
    """A statement about somebody."""
    said = text or f"{subject} {predicate} {value}."
    cardinality = Cardinality.FUNCTIONAL if functional else Cardinality.MULTI
    plain = {"subject": subject, "predicate": predicate, "object": value, "fact_text": said, "span": Span(start=0, end=len(said))}
    return Candidate(**plain | {"cardinality": cardinality} | changes)


def over(subject: str, predicate: str, value: str = "", *, functional: bool = False) -> Candidate:
    """That a value, or whatever the slot holds, is over."""
    said = f"{subject} no longer {predicate} {value}."
    return about(subject, predicate, value, functional=functional, text=said, act=Act.RETRACT)


def merge(survivor: Fact, *others: Fact) -> Draft:
    return Draft(kind=ProposalKind.MERGE, entity=survivor.subject, facts=(survivor, *others), reason="They say the same.", cosine=0.97)


def demotion(*facts: Fact) -> Draft:
    return Draft(kind=ProposalKind.DEMOTION, entity=facts[0].subject, facts=facts, reason="Of little value.")


def summary(text: str, sources: Iterable[Fact], demotes: Iterable[Fact] = ()) -> Draft:
    facts = tuple(sources)
    gone = tuple(fact.id for fact in demotes)
    return Draft(kind=ProposalKind.SUMMARY, entity=facts[0].subject, facts=facts, text=text, demotes=gone, reason="Many facts say it.")


def conflict(*facts: Fact) -> Draft:
    choices = (*(fact.object for fact in facts), BOTH)
    return Draft(kind=ProposalKind.CONFLICT, entity=facts[0].subject, facts=facts, choices=choices, reason="Both may be current.")


def same_entity(one: Fact, other: Fact) -> Draft:
    """That the subject of the second fact is the first one's."""
    choices = (one.subject, other.subject, BOTH)
    return Draft(
        kind=ProposalKind.SAME_ENTITY, entity=one.subject, text=other.subject, facts=(one, other), choices=choices, reason="Alike."
    )


def verdict(word: str, *, text: str | None = None, choice: str | None = None, revision: int | None = None) -> Decision:
    """What a person says to a proposal."""
    return Decision(verdict=Verdict(word), edited_text=text, choice=choice, revision=revision)
