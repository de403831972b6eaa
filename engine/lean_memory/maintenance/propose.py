"""Everything that maintenance should ask a person about a namespace: safest first, no fact in two proposals, no kind crowding out others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lean_memory.domain import FactId
from lean_memory.maintenance.candidates import Wordings
from lean_memory.maintenance.conflicts import conflicts
from lean_memory.maintenance.drafts import Draft, Snapshot
from lean_memory.maintenance.low_value import low_value
from lean_memory.maintenance.near_duplicates import near_duplicates, repeated_elsewhere
from lean_memory.maintenance.same_entity import same_entities
from lean_memory.maintenance.summaries import summaries
from lean_memory.models.ports import TypingModel
from lean_memory.proposals import ProposalKind

FIRST_OF_A_KIND = 15
"""So many of each kind come before any more of a safer kind, so that many demotions do not hide a conflict."""


def propose(snapshot: Snapshot, typing: TypingModel | None = None) -> Iterator[Draft]:
    """Drafts for the review, in the order in which they should be staged: `in_order` of all that the finders find.

    Takes time linear in the facts. With a `typing` model summaries are written by it where every name, number and denial can be traced.
    """
    texts = Wordings(snapshot.facts)
    found = [*near_duplicates(snapshot, texts), *conflicts(snapshot, texts), *same_entities(snapshot)]
    drafts = list(_apart(found))
    drafts += summaries(snapshot, typing, texts, without=_facts(drafts))
    drafts += repeated_elsewhere(snapshot, texts, without=_facts(drafts))
    drafts += low_value(snapshot, without=_facts(drafts))
    yield from in_order(drafts)


def in_order(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Safest kind first, what is about one entity together; of each kind the best few before the rest of any."""
    kinds: dict[ProposalKind, list[Draft]] = {kind: [] for kind in ProposalKind}
    for draft in drafts:
        kinds[draft.kind].append(draft)
    for found in kinds.values():
        yield from _by_entity(found[:FIRST_OF_A_KIND])
    for found in kinds.values():
        yield from _by_entity(found[FIRST_OF_A_KIND:])


def _by_entity(drafts: list[Draft]) -> Iterator[Draft]:
    """The drafts in their order, but each followed by those about the same entity."""
    entities: dict[str, list[Draft]] = {}
    for draft in drafts:
        entities.setdefault(draft.entity, []).append(draft)
    for found in entities.values():
        yield from found


def _apart(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Without those that speak of a fact that an earlier one changes; what only shows examples changes none."""
    taken: set[FactId] = set()
    for draft in drafts:
        if draft.kind is ProposalKind.SAME_ENTITY:
            yield draft
        elif taken.isdisjoint(draft.fact_ids):
            taken.update(draft.fact_ids)
            yield draft


def _facts(drafts: Iterable[Draft]) -> frozenset[FactId]:
    return frozenset(fact for draft in drafts for fact in draft.fact_ids)
