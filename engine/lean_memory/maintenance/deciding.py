"""Carrying out what a person decides: compare-and-set on the proposal, its facts checked again, the verbs applied, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import FactId
from lean_memory.errors import InvalidInputError, ModelError
from lean_memory.maintenance import choosing, demoting, merging
from lean_memory.maintenance.traceability import says_still
from lean_memory.models.ports import Embedder
from lean_memory.proposals import BOTH, Conflict, Outcome, Proposal, ProposalKind, ProposalState, Settled, Stale, Verdict
from lean_memory.store import entities, journal, proposal_rows, summaries, tiers
from lean_memory.store.guard import Guard
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction
from lean_memory.store.proposal_rows import StoredProposal
from lean_memory.store.tiers import Keep

_ALLOWED: Mapping[ProposalKind, frozenset[Verdict]] = {
    ProposalKind.MERGE: frozenset({Verdict.APPROVE, Verdict.REJECT}),
    ProposalKind.DEMOTION: frozenset({Verdict.APPROVE, Verdict.REJECT, Verdict.PROMOTE}),
    ProposalKind.SUMMARY: frozenset({Verdict.APPROVE, Verdict.REJECT, Verdict.EDIT}),
    ProposalKind.CONFLICT: frozenset({Verdict.CHOOSE, Verdict.REJECT}),
    ProposalKind.SAME_ENTITY: frozenset({Verdict.APPROVE, Verdict.CHOOSE, Verdict.REJECT}),
    ProposalKind.FORGET: frozenset({Verdict.APPROVE, Verdict.REJECT}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided."""

    verdict: Verdict
    edited_text: str | None = None
    choice: str | None = None
    revision: int | None = None
    """The revision that was shown; `None` stands for the one that is stored."""
    by: str = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """Decides proposals of one namespace."""

    store: NamespaceStore
    embedder: Embedder
    timezone: str

    def decide(self, proposal_id: str, decision: Decision) -> Outcome:
        """Carry out a decision. Raises `NotFoundError`, and `InvalidInputError` for a verdict that the proposal does not know."""
        seen = self.store.look(lambda tx: proposal_rows.load(tx.connection, self.store.name, proposal_id))
        _check(seen.proposal, decision)
        vectors = self._vectors(seen, decision)
        outcome = self.store.change(partial(self._settle, proposal_id=proposal_id, decision=decision, vectors=vectors), anew=False)
        if isinstance(outcome, Settled) and outcome.proposal.kind is ProposalKind.FORGET and decision.verdict is Verdict.APPROVE:
            for fact in outcome.proposal.facts:
                self.store.forget(fact_id=fact.id)
        return outcome

    def _settle(self, tx: WriteTransaction, *, proposal_id: str, decision: Decision, vectors: Mapping[str, NDArray[np.float32]]) -> Outcome:
        con, now, name = tx.connection, tx.recorded_at, self.store.name
        proposal_rows.expire(con, now)
        stored = proposal_rows.load(con, name, proposal_id)
        refusal = _refusal(stored.proposal, decision)
        if refusal is not None:
            return Conflict(proposal=stored.proposal, sentence=refusal)
        if stored.changed and _acts(decision):
            proposal_rows.settle(con, stored.row, ProposalState.STALE, now=now)
            return Stale(proposal=proposal_rows.load(con, name, proposal_id).proposal, sentence=_STALE)
        changed = self._carry_out(tx, stored, decision, vectors)
        state = ProposalState.REJECTED if decision.verdict in {Verdict.REJECT, Verdict.PROMOTE} else ProposalState.APPROVED
        proposal_rows.settle(con, stored.row, state, now=now, verdict=decision.verdict, by=decision.by)
        return Settled(proposal=proposal_rows.load(con, name, proposal_id).proposal, changed=tuple(changed))

    def _carry_out(
        self, tx: WriteTransaction, stored: StoredProposal, decision: Decision, vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[FactId]:
        now = tx.recorded_at
        guard = Guard.of(tx.connection, [target.row for target in stored.targets])
        changed = self._apply(tx, stored, decision, vectors)
        guard.check(tx.connection, now)
        return changed

    def _apply(
        self, tx: WriteTransaction, stored: StoredProposal, decision: Decision, vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[FactId]:
        if decision.verdict in {Verdict.REJECT, Verdict.PROMOTE}:
            return _keep(tx, stored)
        match stored.proposal.kind:
            case ProposalKind.MERGE:
                return _merge(tx, stored)
            case ProposalKind.DEMOTION:
                return _demote(tx, stored, [target.row for target in stored.targets])
            case ProposalKind.SUMMARY:
                return self._summarise(tx, stored, _wanted_text(stored.proposal, decision), vectors)
            case ProposalKind.CONFLICT:
                return choosing.choose(tx, stored, decision.choice or BOTH)
            case ProposalKind.SAME_ENTITY:
                _alias(tx, stored, decision.choice)
            case ProposalKind.FORGET:
                pass
        return []

    def _summarise(
        self, tx: WriteTransaction, stored: StoredProposal, text: str, vectors: Mapping[str, NDArray[np.float32]]
    ) -> list[FactId]:
        con, now = tx.connection, tx.recorded_at
        sources = {target.fact.id: target for target in stored.targets}
        row, uid = summaries.insert_summary(con, text, [target.row for target in stored.targets], now, self.timezone)
        journal.note(con, Entry(verb=Verb.SUMMARISE, target=uid), at=now, proposal=stored.row)
        said = stored.demotes if text == stored.proposal.text else self._demotable(stored, text)
        changed = _demote(tx, stored, [target.row for fact_id, target in sources.items() if fact_id in said])
        for fact_id in changed:
            summaries.note_demoted(con, row, sources[fact_id].row)
        if text in vectors:
            summaries.set_vector(con, row, self.embedder.identity, vectors[text])
        return [uid, *changed]

    @staticmethod
    def _demotable(stored: StoredProposal, text: str) -> frozenset[str]:
        """Of what the proposed text would have let go cold, what an edited one still says."""
        candidates = [target.fact for target in stored.targets if target.fact.id in stored.demotes]
        return frozenset(fact.id for fact in candidates if says_still(text, fact.fact_text))

    def _vectors(self, seen: StoredProposal, decision: Decision) -> dict[str, NDArray[np.float32]]:
        """The vector of a summary's text, made before any transaction begins; none where the model cannot be had."""
        if seen.proposal.kind is not ProposalKind.SUMMARY or not _acts(decision):
            return {}
        text = _wanted_text(seen.proposal, decision)
        try:
            return {text: self.embedder.embed([text])[0]}
        except ModelError:
            return {}


_STALE = "Something this proposal speaks of has changed since it was made, so nothing was done; the next run looks at it again."


def _check(proposal: Proposal, decision: Decision) -> None:
    allowed = _ALLOWED[proposal.kind]
    if decision.verdict not in allowed:
        names = ", ".join(verdict.value for verdict in Verdict if verdict in allowed)
        raise InvalidInputError(f"A {proposal.kind.value} cannot be decided by “{decision.verdict.value}”; use one of {names}.")
    if decision.verdict is Verdict.EDIT and not (decision.edited_text or "").strip():
        raise InvalidInputError("The edited text is empty; give the summary as it should be, or reject it.")
    if decision.verdict is Verdict.CHOOSE and decision.choice not in proposal.choices:
        raise InvalidInputError(f"choice must be one of {', '.join(proposal.choices)}.")


def _refusal(proposal: Proposal, decision: Decision) -> str | None:
    if proposal.state is not ProposalState.PENDING:
        if proposal.verdict is None:
            return f"This can no longer be decided: it is {proposal.state.value}. Nothing was done."
        return f"This was decided already: it is {proposal.state.value} ({proposal.verdict.value}). Nothing more was done."
    if decision.revision is not None and decision.revision != proposal.revision:
        return "This proposal was changed after it was shown; look at it again before deciding. Nothing was done."
    return None


def _acts(decision: Decision) -> bool:
    """Whether a decision does something to the facts."""
    return decision.verdict not in {Verdict.REJECT, Verdict.PROMOTE} and decision.choice != BOTH


def _wanted_text(proposal: Proposal, decision: Decision) -> str:
    return (decision.edited_text or "").strip() if decision.verdict is Verdict.EDIT else proposal.text


def _keep(tx: WriteTransaction, stored: StoredProposal) -> list[FactId]:
    """Leave everything as it is; what was not to be demoted is not proposed, nor demoted, again."""
    if stored.proposal.kind is ProposalKind.DEMOTION:
        for target in stored.targets:
            tiers.keep(tx.connection, target.row, Keep.HOT)
            journal.note(tx.connection, Entry(verb=Verb.KEEP, target=target.fact.id), at=tx.recorded_at, proposal=stored.row)
    return []


def _merge(tx: WriteTransaction, stored: StoredProposal) -> list[FactId]:
    survivor, *others = stored.targets
    for other in others:
        merging.merge(tx, (other.row, other.fact.id), (survivor.row, survivor.fact.id), proposal=stored.row)
    return [other.fact.id for other in others]


def _demote(tx: WriteTransaction, stored: StoredProposal, rows: Sequence[int]) -> list[FactId]:
    """Move facts to the cold tier; what the person decided to keep stays."""
    chosen = [target for target in stored.targets if target.row in rows]
    return [target.fact.id for target in chosen if demoting.demote(tx, (target.row, target.fact.id), proposal=stored.row)]


def _alias(tx: WriteTransaction, stored: StoredProposal, choice: str | None) -> None:
    if choice == BOTH:
        return
    kept, other = stored.names
    if choice == other:
        kept, other = other, kept
    for alias, before, after in entities.read_as(tx.connection, other, kept):
        entry = Entry(verb=Verb.ALIAS, target=str(alias), before={"entity": before}, after={"entity": after})
        journal.note(tx.connection, entry, at=tx.recorded_at, proposal=stored.row)
