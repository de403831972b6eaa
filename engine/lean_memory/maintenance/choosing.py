"""Conflicts: the values that lose are taken back from now on, by the person's word; and given back from then on if that is undone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Act, Candidate, Cardinality, Fact, FactId, ModelIdentity, Source, Span, Trust
from lean_memory.learning import resolve
from lean_memory.proposals import BOTH
from lean_memory.resolution.statements import Statement
from lean_memory.store import journal
from lean_memory.store.apply import Applied
from lean_memory.store.journal import Entry, Verb
from lean_memory.store.namespace_store import NewEpisode, WriteTransaction
from lean_memory.store.proposal_rows import StoredProposal
from lean_memory.store.rows import StoredFact
from lean_memory.store.slots import slot_of

CLIENT = "lean-memory maintenance"
"""Who passes on what follows from a decision; nobody else's recent messages are looked up under this name."""


def choose(tx: WriteTransaction, stored: StoredProposal, choice: str) -> list[FactId]:
    """Take back the values that were not chosen; gives the facts that stand otherwise now."""
    if choice == BOTH:
        return []
    told = [target.row for target in stored.targets if target.fact.fact_text == choice]
    chosen = told or [target.row for target in stored.targets if target.fact.object == choice]
    losers = [target for target in stored.targets if target.row not in chosen]
    changed: list[FactId] = []
    for loser in losers:
        applied = _say(tx, loser, _statement(tx, loser, Act.RETRACT, Trust.USER), {}, None)
        changed += applied.superseded
        journal.note(tx.connection, Entry(verb=Verb.RETRACT, target=loser.fact.id), at=tx.recorded_at, proposal=stored.row)
        tx.tick()
    return changed


def give_back(tx: WriteTransaction, loser: StoredFact, vectors: Mapping[str, NDArray[np.float32]], model: ModelIdentity) -> None:
    """Say a value that lost again, beside the others, from now on."""
    _say(tx, loser, _statement(tx, loser, Act.ASSERT, loser.fact.trust), vectors, model)


def _say(
    tx: WriteTransaction,
    stored: StoredFact,
    said: Statement,
    vectors: Mapping[str, NDArray[np.float32]],
    model: ModelIdentity | None,
) -> Applied:
    text = stored.fact.fact_text
    # No passages: it is said in nobody's words, and found by nobody.
    episode = tx.record(NewEpisode(text=text, source=Source.MAINTENANCE, client=CLIENT, t_ref=tx.recorded_at, tz="UTC", passages=()))
    changes = resolve(tx, [said], episode.recorded_at)
    return tx.apply(changes, episode=episode, embeddings=vectors if vectors else None, model=model if vectors else None)


def _statement(tx: WriteTransaction, stored: StoredFact, act: Act, trust: Trust) -> Statement:
    fact, now = stored.fact, tx.recorded_at
    is_functional, key = slot_of(tx.connection, stored.row)
    return Statement(candidate=_candidate(fact, act, trust, is_functional=is_functional), valid_at=now, object_key=key, said_at=now)


def _candidate(fact: Fact, act: Act, trust: Trust, *, is_functional: bool) -> Candidate:
    return Candidate(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        fact_text=fact.fact_text,
        span=Span(start=0, end=len(fact.fact_text)),
        act=act,
        polarity=fact.polarity,
        modality=fact.modality,
        additive=True,
        cardinality=Cardinality.FUNCTIONAL if is_functional else Cardinality.MULTI,
        confidence=fact.confidence,
        salience=fact.salience,
        trust=trust,
        found_by="maintenance",
        rule="choice",
    )
