"""Merging a fact into another one, with all that was merged into it before; written down so that each can be taken back to where it was."""

from __future__ import annotations

from lean_memory.domain import FactId
from lean_memory.store import journal, tiers
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import WriteTransaction

Placed = tuple[int, FactId]
"""A fact by its row and its id."""


def merge(tx: WriteTransaction, duplicate: Placed, survivor: Placed, *, run: int | None = None, proposal: int | None = None) -> None:
    """Let a fact, and what holds on as duplicates of it, hold on as duplicates of another one, for a run or a decision."""
    con, now = tx.connection, tx.recorded_at
    _, *followers = tiers.merge(con, duplicate[0], survivor[0], now)
    ids = [FactId(str(con.execute("SELECT uid FROM fact WHERE id = ?", (row,)).get)) for row in followers]
    # What followed comes first, as what is noted last is undone first: it then has a fact to follow again.
    for uid in ids:
        moved = Entry(verb=Verb.MERGE, target=uid, before={"survivor": duplicate[1]}, after={"survivor": survivor[1]})
        journal.note(con, moved, at=now, run=run, proposal=proposal)
    journal.note(con, Entry(verb=Verb.MERGE, target=duplicate[1], after={"survivor": survivor[1]}), at=now, run=run, proposal=proposal)
