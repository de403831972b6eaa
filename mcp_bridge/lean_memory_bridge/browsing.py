"""Looking through a memory by the page, by entity and at two moments: pure functions over its facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lean_memory.domain import Fact
from lean_memory.service import MemoryService
from lean_memory_bridge import views
from lean_memory_bridge.moments import milliseconds_of, moment_of
from lean_memory_bridge.schemas import Axis, Browsed, Compared, ComparedPair, EntityView, Moments, MomentText

THE_PERSON = "user"
MOST_ENTITIES = 1000
MOST_PAIRS = 200
MOST_MOMENTS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAsked:
    """One page: of one entity or of all, with or without history, holding some words or any."""

    entity: str | None = None
    text: str = ""
    include_history: bool = False
    include_cold: bool = False
    offset: int = 0
    limit: int = 100


def browse(memory: MemoryService, namespace: str, asked: PageAsked) -> Browsed:
    """One page of facts and the entities of all."""
    found = memory.facts(namespace, include_history=asked.include_history, include_cold=asked.include_cold)
    words = asked.text.casefold().split()
    chosen = [fact for fact in found if asked.entity in (None, fact.subject) and _holds(fact, words)]
    chosen.sort(key=lambda fact: (fact.recorded_at, fact.id), reverse=True)
    page = chosen[asked.offset : asked.offset + asked.limit]
    return Browsed(namespace=namespace, entities=_entities(found), facts=views.fact_views(page), total=len(chosen))


def compare(memory: MemoryService, namespace: str, at: MomentText, axis: Axis) -> Compared:
    """What held, or was known, at a moment beside what holds now."""
    moment = moment_of(at, "at")
    assert moment is not None, "only nothing gives nothing"
    before = memory.facts(namespace, as_of=moment) if axis == "true" else memory.facts(namespace, known_at=moment)
    now = memory.facts(namespace)
    known = {fact.id: fact for fact in now}
    gone = [fact for fact in before if fact.id not in known]
    shared = {fact.id for fact in before} & known.keys()
    pairs = _paired(gone, [fact for fact in now if fact.id not in shared])
    stayed = _newest_first(known[fact_id] for fact_id in shared)
    return Compared(
        namespace=namespace,
        at=milliseconds_of(moment),
        axis=axis,
        pairs=tuple(pairs[:MOST_PAIRS]),
        changes=len(pairs),
        stayed=views.fact_views(stayed[:MOST_PAIRS]),
        same=len(stayed),
    )


def moments(memory: MemoryService, namespace: str, axis: Axis) -> Moments:
    """When something changed in the world, or in what the memory knew of it."""
    found = memory.facts(namespace, include_history=True)
    times = {time for fact in found for time in _times(fact, axis) if time is not None}
    ordered = sorted(times)
    step = max(1, -(-len(ordered) // MOST_MOMENTS))
    # From the end, so that the last change is always among them.
    return Moments(namespace=namespace, axis=axis, moments=tuple(reversed(ordered[::-1][::step])))


def _times(fact: Fact, axis: Axis) -> tuple[int | None, int | None]:
    return (fact.valid_at, fact.valid_to) if axis == "true" else (fact.recorded_at, fact.retired_at)


def _holds(fact: Fact, words: Sequence[str]) -> bool:
    text = f"{fact.fact_text} {fact.subject} {fact.object}".casefold() if words else ""
    return all(word in text for word in words)


def _entities(facts: Iterable[Fact]) -> tuple[EntityView, ...]:
    counts: Counter[str] = Counter()
    newest: defaultdict[str, int] = defaultdict(int)
    for fact in facts:
        counts[fact.subject] += 1
        newest[fact.subject] = max(newest[fact.subject], fact.recorded_at)
    ordered = sorted(counts, key=lambda name: (name != THE_PERSON, -counts[name], name))
    return tuple(EntityView(name=name, facts=counts[name], newest=newest[name]) for name in ordered[:MOST_ENTITIES])


def _paired(gone: Sequence[Fact], come: Sequence[Fact]) -> list[ComparedPair]:
    """What went beside what took its place: where a subject has one of each for a predicate, they belong together."""
    slots: defaultdict[tuple[str, str], tuple[list[Fact], list[Fact]]] = defaultdict(lambda: ([], []))
    for side, facts in enumerate((gone, come)):
        for fact in facts:
            slots[fact.subject, fact.predicate][side].append(fact)
    found: list[tuple[Fact | None, Fact | None]] = []
    for before, after in slots.values():
        if len(before) == len(after) == 1:
            found.append((before[0], after[0]))
        else:
            found += [(fact, None) for fact in before] + [(None, fact) for fact in after]
    found.sort(key=lambda pair: max((fact.recorded_at, fact.id) for fact in pair if fact is not None), reverse=True)
    return [ComparedPair(then=then and views.fact_view(then), now=now and views.fact_view(now)) for then, now in found]


def _newest_first(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact.recorded_at, fact.id), reverse=True)
