"""What is answered holds no claim that is over: a fact whose sentence says something else that ended is told in its own words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lean_memory.domain import Fact, RecordKind, Visibility
from lean_memory.extraction.pipeline import own_words
from lean_memory.store.facts import partly_over
from lean_memory.store.namespace_store import NamespaceStore


def in_standing_words(store: NamespaceStore, facts: Sequence[Fact], visibility: Visibility) -> list[Fact]:
    """The facts in order; "I work at Hooli as a designer" is told as "I work as a designer" once the job at Hooli is over.

    Where no rule can tell what a sentence says of the fact alone it stays as it was said, and so does every text where the history, or
    what was believed at a moment, is asked for.
    """
    if visibility.known_at is not None or not (visibility.latest_only or visibility.as_of is not None):
        return list(facts)
    asked = [fact.id for fact in facts if fact.record_kind is RecordKind.FACT]
    moment = visibility.now if visibility.as_of is None else visibility.as_of
    over = store.look(lambda tx: partly_over(tx.connection, asked, moment)) if asked else set[str]()
    return [_standing(fact) if fact.id in over else fact for fact in facts]


def _standing(fact: Fact) -> Fact:
    told = own_words(fact.fact_text, (fact.subject, fact.predicate, fact.object))
    return fact if told is None else replace(fact, fact_text=told)
