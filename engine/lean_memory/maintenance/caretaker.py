"""Maintenance of one namespace: its runs, its queue, its decisions, and taking them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from lean_memory.domain import Fact, FactId, Tier
from lean_memory.errors import InvalidInputError, NotFoundError, quoted
from lean_memory.maintenance.deciding import Decider, Decision
from lean_memory.maintenance.reverting import Reverter
from lean_memory.maintenance.run import Request, Run
from lean_memory.maintenance.staging import Proposer, Shown, as_it_is
from lean_memory.models.ports import Embedder
from lean_memory.proposals import (
    MaintenanceReport,
    MaintenanceStatus,
    Outcome,
    Proposal,
    ProposalKind,
    Reverted,
    ReviewGroup,
    ReviewQueue,
)
from lean_memory.store import facts, journal, proposal_rows, runs, tiers
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import NamespaceStore, ReadTransaction, WriteTransaction
from lean_memory.store.proposal_rows import Evidence, NewProposal
from lean_memory.store.tiers import Keep

_ORDER = {kind: place for place, kind in enumerate(ProposalKind)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caretaker:
    """What maintenance does in one namespace. Thread-safe, as its store is; runs of several processes keep out of each other's way."""

    store: NamespaceStore
    embedder: Embedder
    proposers: Sequence[Proposer] = ()
    shown: Shown = as_it_is
    timezone: str = "UTC"

    def run(self, request: Request) -> MaintenanceReport:
        """Do a run, or say what one would do."""
        if request.apply:
            self._erase_what_was_approved()
        run = Run(
            store=self.store,
            embedder=self.embedder,
            proposers=self.proposers,
            request=request,
            started_at=self.store.clock(),
            shown=self.shown,
        )
        return run.perform()

    def cancel(self) -> bool:
        """Ask the run under way, whoever runs it, to stop; gives whether there is one."""
        return self.store.change(lambda tx: runs.ask_to_stop(tx.connection), anew=False)

    def queue(self, *, kind: ProposalKind | None, limit: int, entity: str | None) -> ReviewQueue:
        """What waits for a person; what nobody decided in time expires first."""
        now = self.store.clock()
        if self.store.writable and self.store.look(lambda tx: proposal_rows.overdue(tx.connection, now)):
            self.store.change(lambda tx: proposal_rows.expire(tx.connection, now), anew=False)
        return self.store.look(partial(self._queue, kind=kind, limit=limit, entity=entity))

    def proposal(self, proposal_id: str) -> Proposal:
        """A proposal, decided or not. Raises `NotFoundError`."""
        return self.store.look(lambda tx: proposal_rows.load(tx.connection, self.store.name, proposal_id)).proposal

    def decided(self, limit: int) -> list[Proposal]:
        """The proposals that are no longer pending, the one decided last first."""
        return [stored.proposal for stored in self.store.look(lambda tx: proposal_rows.decided(tx.connection, self.store.name, limit))]

    def decide(self, proposal_id: str, decision: Decision) -> Outcome:
        """Carry out what a person decided; see `Decider`."""
        return Decider(store=self.store, embedder=self.embedder, timezone=self.timezone).decide(proposal_id, decision)

    def ask_to_forget(self, fact_id: FactId) -> Proposal:
        """Propose that a fact be erased, as an assistant asks for it; a person decides. Raises `NotFoundError`."""
        uid = self.store.change(partial(self._ask_to_forget, fact_id=fact_id), anew=False)
        return self.proposal(uid)

    def promote(self, fact_id: FactId) -> Fact:
        """Bring a fact back to the hot tier for good: it is not demoted again. Raises `NotFoundError`."""
        return self.store.change(partial(self._promote, fact_id=fact_id), anew=False)

    def revert(self, run_or_proposal_id: str) -> Reverted:
        """Take back a run or a decision; see `Reverter`."""
        return Reverter(store=self.store, embedder=self.embedder).revert(run_or_proposal_id)

    def status(self) -> MaintenanceStatus:
        """How maintenance stands; loads no model."""
        return self.store.look(self._status)

    def is_auto_due(self) -> bool:
        """Whether nobody has gone over the namespace for so long that the safe band alone is worth a run."""
        now = self.store.clock()
        return self.store.look(lambda tx: runs.is_auto_due(tx.connection, now))

    def _queue(self, tx: ReadTransaction, *, kind: ProposalKind | None, limit: int, entity: str | None) -> ReviewQueue:
        waiting = [stored.proposal for stored in proposal_rows.pending(tx.connection, self.store.name, kind=kind, entity=entity)]
        by_kind = proposal_rows.pending_kinds(tx.connection)
        return ReviewQueue(
            namespace=self.store.name,
            groups=_grouped(waiting, limit),
            total=sum(count for _, count in by_kind),
            by_kind=by_kind,
            as_of=self.store.clock(),
        )

    def _status(self, tx: ReadTransaction) -> MaintenanceStatus:
        every = runs.recent_runs(tx.connection, self.store.name)
        work = runs.work(tx.connection, self.store.clock())
        return MaintenanceStatus(
            namespace=self.store.name,
            running=next((run for run in every if run.state == "running"), None),
            last=next((run for run in every if run.state != "running"), None),
            runs=every,
            pending=proposal_rows.pending_kinds(tx.connection),
            new_facts=work.new_facts,
            is_due=work.is_due,
            cold=work.cold,
        )

    def _promote(self, tx: WriteTransaction, *, fact_id: FactId) -> Fact:
        stored = facts.stored_fact(tx.connection, self.store.name, fact_id)
        tiers.keep(tx.connection, stored.row, Keep.HOT)
        proposal_rows.withdraw_of_fact(tx.connection, ProposalKind.DEMOTION, stored.row, tx.recorded_at)
        if tiers.set_tier(tx.connection, stored.row, Tier.HOT, tx.recorded_at):
            journal.note(tx.connection, Entry(verb=Verb.PROMOTE, target=fact_id), at=tx.recorded_at)
        return facts.stored_fact(tx.connection, self.store.name, fact_id).fact

    def _ask_to_forget(self, tx: WriteTransaction, *, fact_id: FactId) -> str:
        fact = facts.stored_fact(tx.connection, self.store.name, fact_id).fact
        reason = "An assistant asks to have this forgotten. Approving erases it for good, with everything that says the same."
        new = NewProposal(kind=ProposalKind.FORGET, entity=fact.subject, targets=(fact_id,), evidence=Evidence(reason=reason))
        waiting = proposal_rows.waiting_for(tx.connection, ProposalKind.FORGET, fact_id)
        uid = waiting or proposal_rows.stage(tx.connection, new, run=None, now=tx.recorded_at)
        if uid is None:
            raise InvalidInputError(f"The person was asked to have the fact {quoted(fact_id)} forgotten before, and kept it.")
        return uid

    def _erase_what_was_approved(self) -> None:
        """What a person approved to be forgotten just before the process died."""
        for fact_id in self.store.look(lambda tx: proposal_rows.approved_to_be_forgotten(tx.connection)):
            try:
                self.store.forget(fact_id=fact_id)
            except NotFoundError:
                continue


def _grouped(proposals: Sequence[Proposal], limit: int) -> tuple[ReviewGroup, ...]:
    """The proposals by entity, safest first: an entity's place is that of its safest one."""
    groups: dict[str, list[Proposal]] = {}
    for proposal in sorted(proposals, key=_safest):
        groups.setdefault(proposal.entity, []).append(proposal)
    shown, left = list[ReviewGroup](), limit
    for entity, members in groups.items():
        if left > 0:
            shown.append(ReviewGroup(entity=entity, proposals=tuple(members[:left])))
            left -= len(members)
    return tuple(shown)


def _safest(proposal: Proposal) -> tuple[int, float, str]:
    return _ORDER[proposal.kind], -(proposal.cosine or 0.0), proposal.id
