"""The second transaction of an addition: what was made of an episode is planned on the slots as they stand, and written.

Every model has had its say before it begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, Slot, joined
from lean_memory.domain import AddResult, Candidate, Episode, EpisodeId, Instant, ModelIdentity
from lean_memory.echoes import without_echoes
from lean_memory.extraction.echo import Ledger
from lean_memory.resolution.plan import plan
from lean_memory.resolution.reach import touched
from lean_memory.resolution.statements import Statement
from lean_memory.store.namespace_store import WriteTransaction
from lean_memory.store.tombstones import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An episode with everything that models had to say about it."""

    episode: Episode
    statements: tuple[Statement, ...] | None
    """`None` where the text could not be understood; it then waits, and is found by its words."""
    vectors: Mapping[str, NDArray[np.float32]]
    model: ModelIdentity
    waits: bool = False
    """A model may add to it later."""


def write_all(tx: WriteTransaction, *, prepared: Sequence[Prepared], again: frozenset[EpisodeId], served: Ledger) -> list[AddResult] | None:
    """Write what was made of episodes; nothing if one of them says something else by now."""
    if not all(tx.is_as_read(each.episode) for each in prepared):
        return None
    return [_write(tx, each, served, again=each.episode.uid in again) for each in prepared]


def _write(tx: WriteTransaction, prepared: Prepared, served: Ledger, *, again: bool) -> AddResult:
    episode = prepared.episode
    if tx.is_done(episode.uid):
        return AddResult(episode_id=episode.uid, fact_ids=tuple(tx.facts_of(episode.uid)))
    if prepared.statements is None:
        tx.note_unreadable(episode.uid)
        return AddResult(episode_id=episode.uid, queued=True)
    if again:
        for said in prepared.statements:
            tx.lift_tombstone(_claim(said.candidate))
    result = _write_known(tx, prepared, served)
    waits = prepared.waits and not result.echoed
    if waits:
        tx.let_wait(episode.uid)
    return replace(result, queued=result.queued or waits)


def write_more(tx: WriteTransaction, *, prepared: Prepared, served: Ledger) -> AddResult:
    """Write what a model found in an episode that waits for it, which is finished with that.

    Nothing is written where somebody else has finished it; where a part of it was erased meanwhile, it waits on.
    """
    uid = prepared.episode.uid
    if not tx.is_waiting(uid) or not tx.is_as_read(prepared.episode):
        return AddResult(episode_id=uid, queued=tx.is_waiting(uid))
    return _write_known(tx, prepared, served)


def _write_known(tx: WriteTransaction, prepared: Prepared, served: Ledger) -> AddResult:
    """Write the statements of an episode, except for what the person had erased and what only comes back."""
    episode, statements = prepared.episode, prepared.statements or ()
    kept = [s for s in statements if not tx.is_tombstoned(_claim(s.candidate))]
    said, echoes = without_echoes(tx, kept, episode, served)
    changes = joined([resolve(tx, said, episode.recorded_at), echoes.changes])
    applied = tx.apply(changes, episode=episode, embeddings=prepared.vectors, model=prepared.model)
    return AddResult(
        episode_id=episode.uid,
        fact_ids=applied.fact_ids,
        existing=tuple(dict.fromkeys((*applied.existing, *echoes.of))),
        superseded=applied.superseded,
        queued=not prepared.vectors,
        withheld=len(statements) - len(kept),
        echoed=len(kept) - len(said),
    )


def resolve(tx: WriteTransaction, statements: Sequence[Statement], recorded_at: Instant) -> ChangeSet:
    """Everything to write for the statements of one episode, recorded at `recorded_at`, as the slots stand in this transaction."""
    planned: list[ChangeSet] = []
    new = 0
    for slot, said in _by_slot(statements).items():
        window = touched(tx, slot, said)
        planned.append(plan(window, said, recorded_at=recorded_at, first_new=new))
        new += len(planned[-1].facts)
    return joined(planned)


def _by_slot(statements: Sequence[Statement]) -> dict[Slot, list[Statement]]:
    slots: dict[Slot, list[Statement]] = {}
    for said in statements:
        slots.setdefault(Slot.of(said.candidate), []).append(said)
    return slots


def _claim(c: Candidate) -> Claim:
    return Claim(sentence=c.fact_text, subject=c.subject, predicate=c.predicate, value=c.object, polarity=c.polarity)
