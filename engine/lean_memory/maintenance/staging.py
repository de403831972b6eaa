"""From drafts to stored proposals: checked against the file as it stands, within the budget of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations

from lean_memory.domain import Instant
from lean_memory.maintenance.drafts import Access, Draft, KnownEntity, Snapshot
from lean_memory.models.ports import CosineThresholds
from lean_memory.proposals import ProposalKind
from lean_memory.store import proposal_rows
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction
from lean_memory.store.picture import Picture
from lean_memory.store.proposal_rows import Evidence, NewProposal

BUDGET = 50
"""Proposals of one run; a person decides them over breakfast."""

Shown = Callable[[Draft], Draft]
"""Completes a draft that will be kept with the searches that it would change. Called without any transaction open."""

Proposer = Callable[[Snapshot], Iterable[Draft]]
"""Finds what may be proposed, safest first. Called without any transaction open."""


@dataclass(slots=True, kw_only=True)
class Staged:
    """What was proposed, by kind, and what must wait for the next run."""

    kinds: Counter[ProposalKind] = field(default_factory=Counter["ProposalKind"])
    held_back: int = 0

    @property
    def by_kind(self) -> tuple[tuple[str, int], ...]:
        return tuple((kind.value, self.kinds[kind]) for kind in ProposalKind if self.kinds[kind])


def as_it_is(draft: Draft) -> Draft:
    """The draft without more."""
    return draft


def snapshot_of(picture: Picture, namespace: str, thresholds: CosineThresholds, now: Instant, *, settled: frozenset[str]) -> Snapshot:
    """The picture as proposers see it; `settled` are facts that the run takes care of by itself."""
    return Snapshot(
        namespace=namespace,
        now=now,
        facts=picture.facts,
        vectors=picture.vectors,
        thresholds=thresholds,
        access={fact: Access(served=tally.times, last_at=tally.last_at) for fact, tally in picture.served.items()},
        said=picture.said,
        entities=tuple(KnownEntity(name=entity.name, type=entity.type, aliases=entity.aliases) for entity in picture.entities),
        held=picture.held | frozenset(fact.id for fact in picture.facts if fact.id in settled),
        kept=picture.hot,
        refused=frozenset(frozenset(pair) for facts in picture.refused for pair in combinations(sorted(facts), 2)),
    )


@dataclass(slots=True, kw_only=True)
class Stage:
    """Keeps the drafts of one run, or (dry, without a run) only counts them."""

    store: NamespaceStore
    run: int | None
    picture: Picture
    before: Callable[[WriteTransaction], None]
    """Called at the beginning of each transaction; what it raises ends the staging."""
    shown: Shown
    staged: Staged = field(default_factory=Staged)

    def take(self, draft: Draft) -> None:
        """Keep a draft whose facts stand as it shows them, unless the person was asked the same before."""
        if draft.kind is ProposalKind.MERGE and any(fact.id in self.picture.apart for fact in draft.facts[1:]):
            return
        is_new = self._is_new(draft)
        if is_new and sum(self.staged.kinds.values()) >= BUDGET:
            self.staged.held_back += 1
        elif is_new and (self.run is None or self._keep(self.shown(draft))):
            self.staged.kinds[draft.kind] += 1

    def _is_new(self, draft: Draft) -> bool:
        """Whether the person was not asked the same before; the file is looked at only where that may be."""
        if draft.kind is not ProposalKind.SAME_ENTITY and self.picture.asked.isdisjoint(draft.fact_ids):
            return True
        return self.store.look(lambda tx: proposal_rows.is_new(tx.connection, new_proposal(draft)))

    def _keep(self, draft: Draft) -> bool:
        return self.store.change(lambda tx: self._write(tx, draft), anew=False)

    def _write(self, tx: WriteTransaction, draft: Draft) -> bool:
        self.before(tx)
        if not proposal_rows.is_as_drafted(tx.connection, self.store.name, (*draft.facts, *draft.rests_on)):
            return False
        return proposal_rows.stage(tx.connection, new_proposal(draft), run=self.run, now=tx.recorded_at) is not None


def new_proposal(draft: Draft) -> NewProposal:
    """A draft as it is stored."""
    evidence = Evidence(
        text=draft.text,
        lost=list(draft.lost),
        demotes=list(draft.demotes),
        cosine=draft.cosine,
        scores=list(draft.scores),
        effects=[(effect.query, list(effect.before), list(effect.after)) for effect in draft.effects],
        reason=draft.reason,
        choices=list(draft.choices),
        names=[draft.entity, draft.text] if draft.kind is ProposalKind.SAME_ENTITY else [],
    )
    return NewProposal(
        kind=draft.kind,
        entity=draft.entity,
        targets=draft.fact_ids,
        evidence=evidence,
        rests_on=tuple(fact.id for fact in draft.rests_on),
    )
