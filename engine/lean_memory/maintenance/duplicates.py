"""Facts of one slot that say exactly the same. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from lean_memory.domain import Fact, FactId, Modality, Polarity, RecordKind, Trust, name_key, value_key

_Said = tuple[str, str, str, Polarity, Modality, Trust]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A fact that says what an earlier one says."""

    survivor: FactId
    duplicate: FactId


def exact_duplicates(facts: Iterable[Fact], *, without: Collection[FactId] = ()) -> Iterator[Duplicate]:
    """The open facts that say exactly what the earliest of their slot says; takes time linear in the facts.

    Equal are values of one key, said or denied in one modality by sources of equal trust, about one subject (aliases read as one by whoever
    took the picture). `without` are facts that are left alone.
    """
    alike: dict[_Said, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.record_kind is RecordKind.FACT and fact.is_latest and fact.valid_to is None and fact.id not in without:
            alike[_said(fact)].append(fact)
    for group in alike.values():
        if len(group) > 1:
            earliest = min(group, key=lambda fact: (fact.valid_at, fact.recorded_at, fact.id))
            yield from (Duplicate(survivor=earliest.id, duplicate=fact.id) for fact in group if fact is not earliest)


def _said(fact: Fact) -> _Said:
    value = value_key(fact.object or fact.fact_text)
    return name_key(fact.subject), fact.predicate, value, fact.polarity, fact.modality, fact.trust
