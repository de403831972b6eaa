"""Taking back a run or a decision, from now on: what stands otherwise by then is left, and the past stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import EndReason, FactId, Tier
from lean_memory.errors import ModelError, NotFoundError, quoted
from lean_memory.maintenance import choosing
from lean_memory.maintenance.batches import in_batches
from lean_memory.models.ports import Embedder
from lean_memory.proposals import ProposalKind, ProposalState, Reverted
from lean_memory.store import entities, facts, journal, proposal_rows, runs, summaries, tiers
from lean_memory.store.guard import Guard
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction
from lean_memory.store.proposal_rows import StoredProposal
from lean_memory.store.rows import StoredFact
from lean_memory.store.tiers import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverter:
    """Takes back what maintenance did in one namespace."""

    store: NamespaceStore
    embedder: Embedder

    def revert(self, run_or_proposal_id: str) -> Reverted:
        """Take back a run (what it did by itself, and what it proposed and nobody decided), or a decision. Raises `NotFoundError`."""
        run = self.store.look(lambda tx: runs.run_row(tx.connection, run_or_proposal_id))
        if run is not None:
            return self._revert_run(run_or_proposal_id, run)
        try:
            seen = self.store.look(lambda tx: proposal_rows.load(tx.connection, self.store.name, run_or_proposal_id))
        except NotFoundError:
            raise NotFoundError(
                f"There is no run and no proposal {quoted(run_or_proposal_id)} in the namespace “{quoted(self.store.name)}”; nothing was changed."
            ) from None
        vectors = self._vectors(seen)
        return self.store.change(partial(self._revert_decision, proposal_id=run_or_proposal_id, vectors=vectors), anew=False)

    def _revert_run(self, run_id: str, run: int) -> Reverted:
        if self.store.look(lambda tx: runs.is_reverted(tx.connection, run)):
            return Reverted(run_id=run_id, changed=0, left=0, sentence="This run was taken back already; nothing was changed.")
        if not self.store.change(lambda tx: runs.end_if_dead(tx.connection, run, self.store.clock()), anew=False):
            told = "This run is still going, so nothing was changed. Stop it or wait until it has ended, then take it back."
            return Reverted(run_id=run_id, changed=0, left=0, sentence=told)
        entries = self.store.look(lambda tx: journal.entries(tx.connection, run=run))
        undone: list[bool] = []
        in_batches(self.store, entries, lambda tx, entry: undone.append(self._undo(tx, entry, {}, keep=True)))
        changed = sum(undone)
        withdrawn = self.store.change(lambda tx: _close(tx, run), anew=False)
        return Reverted(
            run_id=run_id, changed=changed, left=len(entries) - changed, sentence=_told(changed, len(entries) - changed, withdrawn)
        )

    def _revert_decision(self, tx: WriteTransaction, *, proposal_id: str, vectors: Mapping[str, NDArray[np.float32]]) -> Reverted:
        con, now = tx.connection, tx.recorded_at
        stored = proposal_rows.load(con, self.store.name, proposal_id)
        state = stored.proposal.state
        if state is ProposalState.REJECTED:
            return self._reopen(tx, stored)
        if state is not ProposalState.APPROVED:
            return Reverted(
                run_id=proposal_id, changed=0, left=0, sentence=f"There is nothing to take back: the proposal is {state.value}."
            )
        entries = journal.entries(con, proposal=stored.row)
        changed = sum(self._undo(tx, entry, vectors, keep=False) for entry in entries)
        proposal_rows.settle(con, stored.row, ProposalState.REVERTED, now=now)
        return Reverted(
            run_id=proposal_id, changed=changed, left=len(entries) - changed, sentence=_told(changed, len(entries) - changed, 0)
        )

    def _reopen(self, tx: WriteTransaction, stored: StoredProposal) -> Reverted:
        """A rejection taken back puts the proposal before the person again."""
        entries = journal.entries(tx.connection, proposal=stored.row)
        changed = sum(self._undo(tx, entry, {}, keep=False) for entry in entries)
        proposal_rows.reopen(tx.connection, stored.row, tx.recorded_at)
        return Reverted(
            run_id=stored.proposal.id,
            changed=changed,
            left=0,
            sentence="The rejection was taken back; the proposal waits for a decision again.",
        )

    def _undo(self, tx: WriteTransaction, entry: Entry, vectors: Mapping[str, NDArray[np.float32]], *, keep: bool) -> bool:
        """Undo one entry where it still stands; what a run did is then not done again by the next."""
        con, now = tx.connection, tx.recorded_at
        if entry.verb is Verb.ALIAS:
            return _read_apart(tx, entry)
        stored = facts.find_fact(con, self.store.name, FactId(entry.target))
        if stored is None:
            return False
        guard = Guard.of(con, (stored.row,))
        before = entry.before.get("survivor")
        if entry.verb is Verb.MERGE and before is not None:
            done = self._follow_again(tx, stored, FactId(str(before)))
        else:
            done = self._undo_fact(tx, entry.verb, stored, vectors, keep=keep)
        guard.check(con, now)
        return done

    def _follow_again(self, tx: WriteTransaction, stored: StoredFact, before: FactId) -> bool:
        """Let what followed a merged fact follow it again, where that stands on its own."""
        survivor = tiers.open_row(tx.connection, before)
        if survivor is None or stored.fact.end_reason is not EndReason.DUPLICATE or stored.fact.valid_to is not None:
            return False
        tiers.follow(tx.connection, stored.row, survivor, tx.recorded_at)
        return True

    def _undo_fact(
        self, tx: WriteTransaction, verb: Verb, stored: StoredFact, vectors: Mapping[str, NDArray[np.float32]], *, keep: bool
    ) -> bool:
        con, now, row = tx.connection, tx.recorded_at, stored.row
        done = True
        match verb:
            case Verb.MERGE:
                done = _part(tx, stored, keep=keep)
            case Verb.DEMOTE:
                if keep:
                    tiers.keep(con, row, Keep.HOT)
                done = tiers.set_tier(con, row, Tier.HOT, now)
            case Verb.SUMMARISE if stored.fact.is_latest:
                summaries.retire_summary(con, row, now, EndReason.RETRACTED, now)
            case Verb.RETRACT if stored.fact.end_reason is EndReason.RETRACTED:
                choosing.give_back(tx, stored, vectors, self.embedder.identity)
            case Verb.KEEP:
                tiers.unkeep(con, row, Keep.HOT)
            case _:
                done = False
        return done

    def _vectors(self, seen: StoredProposal) -> dict[str, NDArray[np.float32]]:
        """The vectors of values that are said again, made before any transaction begins; none where the model cannot be had."""
        if seen.proposal.kind is not ProposalKind.CONFLICT:
            return {}
        texts = [target.fact.fact_text for target in seen.targets]
        try:
            return dict(zip(texts, self.embedder.embed(texts), strict=True))
        except ModelError:
            return {}


def _read_apart(tx: WriteTransaction, entry: Entry) -> bool:
    """Read two names as two again; what was merged because they were one stands on its own."""
    before, after = entry.before.get("entity"), entry.after.get("entity")
    done = isinstance(after, int) and entities.read_apart(
        tx.connection, int(entry.target), after, before if isinstance(before, int) else None
    )
    if done:
        tiers.part_strangers(tx.connection, tx.recorded_at)
    return done


def _part(tx: WriteTransaction, stored: StoredFact, *, keep: bool) -> bool:
    """Let a duplicate stand on its own again, unless it ended with its survivor meanwhile."""
    if keep:
        tiers.keep(tx.connection, stored.row, Keep.APART)
    if stored.fact.end_reason is not EndReason.DUPLICATE or stored.fact.valid_to is not None:
        return False
    tiers.part(tx.connection, stored.row, tx.recorded_at)
    return True


def _close(tx: WriteTransaction, run: int) -> int:
    runs.note_reverted(tx.connection, run, tx.recorded_at)
    return proposal_rows.withdraw_of_run(tx.connection, run, tx.recorded_at)


def _told(changed: int, left: int, withdrawn: int) -> str:
    parts = [f"{changed:,} {'change' if changed == 1 else 'changes'} taken back"]
    if left:
        parts.append(f"{left:,} left as they are, because something else happened to them since")
    if withdrawn:
        parts.append(f"{withdrawn:,} undecided {'proposal' if withdrawn == 1 else 'proposals'} withdrawn")
    return "; ".join(parts) + "."
