"""Which stored values a new statement may contradict where neither the slot nor words decide: the question for the typing model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lean_memory.changes import Slot
from lean_memory.domain import USER, Candidate, Cardinality, Fact, Modality, Polarity, Visibility, value_key
from lean_memory.errors import ModelError
from lean_memory.extraction.router import is_contestable
from lean_memory.models.ports import Embedder
from lean_memory.resolution.contradiction import names
from lean_memory.store.namespace_store import NamespaceStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """A new statement, and the stored fact that it may or may not replace."""

    candidate: Candidate
    fact: Fact


def current(store: NamespaceStore, candidate: Candidate) -> list[Fact]:
    """The facts of a candidate's slot that hold now with another value than the candidate's."""
    visible = Visibility(now=store.clock(), include_cold=True)
    held = store.facts(
        subject=candidate.subject or USER, predicate=candidate.predicate, visibility=visible, modalities=frozenset({Modality.ASSERTED})
    )
    return [fact for fact in held if fact.polarity is Polarity.POSITIVE and value_key(fact.object) != value_key(candidate.object)]


def rivalries(store: NamespaceStore, embedder: Embedder, candidates: Iterable[Candidate]) -> list[Rivalry]:
    """For each statement of which one may have many, the nearest stored value that it may replace, if one is near enough to be about the same."""
    found: list[Rivalry] = []
    for candidate in candidates:
        if candidate.asserts and candidate.cardinality is Cardinality.MULTI and is_contestable(candidate.predicate):
            rival = _nearest(store, embedder, candidate)
            if rival is not None:
                found.append(Rivalry(candidate=candidate, fact=rival))
    return found


def _nearest(store: NamespaceStore, embedder: Embedder, candidate: Candidate) -> Fact | None:
    slot = Slot.of(candidate)
    key, now = value_key(candidate.object), store.clock()
    if not store.look(lambda tx: tx.has_open_values(slot, now)):
        return None
    try:
        [vector] = embedder.embed([candidate.fact_text])
    except ModelError:
        return None
    floor = embedder.thresholds.conflict_candidate
    near = store.look(lambda tx: tx.nearest_values(slot, now, embedder.identity, vector, floor=floor))
    others = [value for value in near if not names(key, value)]
    held = {value_key(fact.object): fact for fact in current(store, candidate)} if others else {}
    return next((held[value] for value in others if value in held), None)
