"""Two names that may stand for one: "Bob Smith" and "Bob", "Zoë" and "Zoe". Careful, and only with evidence beside the names."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lean_memory.domain import STATES, USER, Cardinality, Fact, Modality, Polarity, name_key, value_key
from lean_memory.extraction import vocabulary
from lean_memory.maintenance.drafts import Draft, KnownEntity, Snapshot
from lean_memory.proposals import BOTH, ProposalKind

_PERSON = "person"
_ANY = "thing"
_SHORTEST_MISTYPED = 6
_EXAMPLES = 3
_CROWD = 12
"""Of names that are alike in one way, so many are held against each other."""
_COMPANY = frozenset({"inc", "ltd", "llc", "gmbh", "corp", "co", "plc", "ag", "sa", "srl", "bv", "kg", "limited", "company", "corporation"})
_UNSPACED = re.compile(r"[\u3400-\u9fff\u3041-\u30ff]{2,6}")
_PARTS = re.compile(r"[\s.,·・/_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two entities by place, and why they may be one; `sure` names need no further evidence."""

    one: int
    other: int
    why: str
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of each name: its facts, what it is to others and what it has, by name key."""

    facts: Mapping[str, list[Fact]]
    links: Mapping[str, set[tuple[str, str, str]]]
    single: Mapping[str, dict[str, str]]


def same_entities(snapshot: Snapshot) -> Iterator[Draft]:
    """Pairs of entities that may be one, those that need least faith first. Nothing that speaks against it is known of them.

    A short name is taken for a longer one only where no other longer name has it, and something else connects the two.
    """
    entities = [entity for entity in snapshot.entities if name_key(entity.name) != USER]
    known = _what_is_known(snapshot)
    taken: set[int] = set()
    for pair in sorted(_pairs(entities), key=lambda pair: (not pair.sure, pair.one, pair.other)):
        if taken.isdisjoint((pair.one, pair.other)):
            draft = _draft(entities[pair.one], entities[pair.other], pair, known, snapshot)
            if draft is not None:
                taken.update((pair.one, pair.other))
                yield draft


def _pairs(entities: Sequence[KnownEntity]) -> Iterator[_Pair]:
    seen: set[tuple[int, int]] = set()
    for pair in (*_respelled(entities), *_mistyped(entities), *_shortened(entities)):
        key = (min(pair.one, pair.other), max(pair.one, pair.other))
        if key not in seen and _same_type(entities[pair.one], entities[pair.other]):
            seen.add(key)
            yield pair


def _same_type(one: KnownEntity, other: KnownEntity) -> bool:
    return one.type == other.type or _ANY in {one.type, other.type}


def _respelled(entities: Sequence[KnownEntity]) -> Iterator[_Pair]:
    """Equal but for accents, punctuation, blanks and the legal form of a company."""
    alike: dict[str, list[int]] = defaultdict(list)
    for place, entity in enumerate(entities):
        alike[_bare(entity.name)].append(place)
    for key, places in alike.items():
        if len(key) > 2:
            for one, other in _each_two(places):
                yield _Pair(one=one, other=other, why="are two spellings of one name", sure=True)


def _mistyped(entities: Sequence[KnownEntity]) -> Iterator[_Pair]:
    """Long names that differ in one letter, which is not their first; figures are never a slip."""
    alike: dict[str, list[int]] = defaultdict(list)
    for place, entity in enumerate(entities):
        bare = _bare(entity.name)
        if len(bare) >= _SHORTEST_MISTYPED and bare.isalpha() and bare.isascii():
            for at in range(1, len(bare)):
                alike[bare[:at] + "_" + bare[at + 1 :]].append(place)
                alike[bare[:at] + bare[at + 1 :]].append(place)
            alike[bare].append(place)
    for places in alike.values():
        for one, other in _each_two(list(dict.fromkeys(places))):
            if abs(len(_bare(entities[one].name)) - len(_bare(entities[other].name))) <= 1:
                yield _Pair(one=one, other=other, why="differ in one letter", sure=False)


def _shortened(entities: Sequence[KnownEntity]) -> Iterator[_Pair]:
    """A person's first or last name, and the only full name that has it."""
    longer: dict[str, list[int]] = defaultdict(list)
    for place, entity in enumerate(entities):
        for part in _ends(entity):
            longer[part].append(place)
    for place, entity in enumerate(entities):
        full = [other for other in longer.get(name_key(entity.name), ()) if other != place]
        if entity.type in {_PERSON, _ANY} and len(full) == 1:
            yield _Pair(one=full[0], other=place, why="could be the full and the short name of one person", sure=False)


def _ends(entity: KnownEntity) -> set[str]:
    """The names by which a person with a full name may be called alone."""
    if entity.type != _PERSON:
        return set()
    key = name_key(entity.name)
    if _UNSPACED.fullmatch(key):
        # A Chinese or Japanese given name stands behind the family name.
        return {key[1:]} if len(key) == 3 else {key[2:]} if len(key) == 4 else set()
    parts = key.split()
    return {parts[0], parts[-1]} if len(parts) > 1 else set()


def _each_two(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    few = places[:_CROWD]
    return ((one, other) for at, one in enumerate(few) for other in few[at + 1 :])


def _bare(name: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFKD", name_key(name)) if not unicodedata.combining(char))
    parts = [part for part in _PARTS.split(re.sub(r"['’\"]", "", plain)) if part]
    while len(parts) > 1 and parts[-1] in _COMPANY:
        parts.pop()
    return "".join(parts)


def _what_is_known(snapshot: Snapshot) -> _Known:
    facts: dict[str, list[Fact]] = defaultdict(list)
    links: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    single: dict[str, dict[str, str]] = defaultdict(dict)
    for fact in snapshot.facts:
        if fact.modality is not Modality.ASSERTED or fact.polarity is not Polarity.POSITIVE:
            continue
        subject, value = name_key(fact.subject), value_key(fact.object) if fact.object else ""
        facts[subject].append(fact)
        if not value or fact.predicate == STATES:
            continue
        facts[value].append(fact)
        links[subject].add(("has", fact.predicate, value))
        links[value].add(("is", fact.predicate, subject))
        if vocabulary.cardinality(fact.predicate) is Cardinality.FUNCTIONAL:
            single[subject][fact.predicate] = value
    return _Known(facts=facts, links=links, single=single)


def _draft(one: KnownEntity, other: KnownEntity, pair: _Pair, known: _Known, snapshot: Snapshot) -> Draft | None:
    keep, alias = (one, other) if len(one.name) >= len(other.name) else (other, one)
    first, second = name_key(keep.name), name_key(alias.name)
    if alias.name in keep.aliases or keep.name in alias.aliases or _speaks_against(first, second, known):
        return None
    shared = known.links.get(first, set()) & known.links.get(second, set())
    if not shared and not pair.sure:
        return None
    examples = [fact for key in (first, second) for fact in _examples(known.facts.get(key, []), snapshot)]
    facts = tuple({fact.id: fact for fact in examples}.values())
    if not facts:
        return None
    because = f", and {_told(sorted(shared)[0])}" if shared else ""
    return Draft(
        kind=ProposalKind.SAME_ENTITY,
        entity=keep.name,
        facts=facts,
        text=alias.name,
        scores=(("shared", min(1.0, len(shared) / _EXAMPLES)),),
        reason=f"“{keep.name}” and “{alias.name}” {pair.why}{because}. Are they one?",
        choices=(keep.name, alias.name, BOTH),
    )


def _speaks_against(first: str, second: str, known: _Known) -> bool:
    """One-valued things of which the two have different ones, or a fact that has one at either end."""
    mine, theirs = known.single.get(first, {}), known.single.get(second, {})
    if any(theirs.get(predicate, value) != value for predicate, value in mine.items()):
        return True
    return any(value == second for _, _, value in known.links.get(first, set()))


def _examples(facts: Sequence[Fact], snapshot: Snapshot) -> list[Fact]:
    return [fact for fact in facts if fact.id not in snapshot.held][:_EXAMPLES]


def _told(link: tuple[str, str, str]) -> str:
    how, predicate, value = link
    said = predicate.replace("_", " ")
    return f"both: {said} {value}" if how == "has" else f"of {value} both are: {said}"
