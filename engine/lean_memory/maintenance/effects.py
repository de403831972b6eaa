"""Which searches would answer otherwise after a proposal: a few questions made from the facts themselves, asked of a search given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lean_memory.domain import STATES, Fact, FactId
from lean_memory.maintenance.drafts import Draft, Found, Search
from lean_memory.maintenance.wording import Kind, wording
from lean_memory.proposals import ProposalKind, SearchEffect

HITS = 5
QUESTIONS = 2
_LONGEST_QUESTION = 8


def with_effects(draft: Draft, search: Search) -> Draft:
    """The draft with the searches that it would change, at most two; only of those kinds that take facts out of searches."""
    gone = _gone(draft)
    if not gone:
        return draft
    found = (_effect(question, draft, gone, search) for question in _questions(draft))
    return replace(draft, effects=tuple(effect for effect in found if effect is not None))


def _gone(draft: Draft) -> frozenset[FactId]:
    """What a latest search would no longer give, once the draft is approved."""
    match draft.kind:
        case ProposalKind.MERGE:
            return frozenset(draft.fact_ids[1:])
        case ProposalKind.DEMOTION:
            return frozenset(draft.fact_ids)
        case ProposalKind.SUMMARY:
            return frozenset(draft.demotes)
        case ProposalKind.CONFLICT | ProposalKind.SAME_ENTITY | ProposalKind.FORGET:
            return frozenset()


def _questions(draft: Draft) -> Iterator[str]:
    """Questions that the facts answer: their slot, and what one that goes away says."""
    gone = next((fact for fact in reversed(draft.facts) if fact.id in _gone(draft)), draft.facts[0])
    asked = dict.fromkeys(question for question in (_of_slot(gone), _of_text(gone)) if question)
    yield from list(asked)[:QUESTIONS]


def _of_slot(fact: Fact) -> str:
    return "" if fact.predicate == STATES else f"{fact.subject} {fact.predicate.replace('_', ' ')}"


def _of_text(fact: Fact) -> str:
    said = wording(fact.fact_text)
    words = [word.shown for word in said.words if word.kind in {Kind.NAME, Kind.WORD, Kind.NUMBER, Kind.CRITICAL}]
    return " ".join(words[:_LONGEST_QUESTION]) if said.spaced else fact.fact_text


def _effect(question: str, draft: Draft, gone: frozenset[FactId], search: Search) -> SearchEffect | None:
    hits = search(question, HITS + len(gone))
    before, after = _texts(hits[:HITS]), _texts(_after(hits, draft, gone)[:HITS])
    return None if before == after else SearchEffect(query=question, before=before, after=after)


def _after(hits: Sequence[Found], draft: Draft, gone: frozenset[FactId]) -> list[Found]:
    """The hits without what goes; a summary comes where the first of its sources stood."""
    left: list[Found] = []
    is_told = draft.kind is not ProposalKind.SUMMARY
    for hit in hits:
        if hit.fact_id is None or hit.fact_id not in gone:
            left.append(hit)
        elif not is_told:
            left.append(Found(fact_id=None, text=draft.text))
            is_told = True
    return left


def _texts(hits: Sequence[Found]) -> tuple[str, ...]:
    return tuple(hit.text for hit in hits)
