"""Moving a fact to the cold tier, written down so that it can be taken back."""

from __future__ import annotations

from lean_memory.domain import Tier
from lean_memory.maintenance.merging import Placed
from lean_memory.store import journal, tiers
from lean_memory.store.guard import Guard
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import WriteTransaction


def demote(tx: WriteTransaction, fact: Placed, *, run: int | None = None, proposal: int | None = None) -> bool:
    """Let a fact leave the latest searches, for a run or a decision, unless the person keeps it; gives whether that was done."""
    con, now = tx.connection, tx.recorded_at
    row, uid = fact
    if tiers.is_kept_hot(con, row):
        return False
    guard = Guard.of(con, (row,))
    done = tiers.set_tier(con, row, Tier.COLD, now)
    guard.check(con, now)
    if done:
        journal.note(con, Entry(verb=Verb.DEMOTE, target=uid), at=now, run=run, proposal=proposal)
    return done
