"""Stored piece by piece and in any order, statements give the intervals that one fold over all of them gives."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lean_memory.clock import system_clock
from lean_memory.domain import (
    Act,
    Candidate,
    Cardinality,
    EndReason,
    Instant,
    Modality,
    Polarity,
    Source,
    Span,
    Trust,
    Visibility,
)
from lean_memory.ingest import resolve
from lean_memory.resolution.statements import statement
from lean_memory.resolution.timeline import Event, Value, fold
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode

Told = tuple[Instant, Candidate]

acts = st.sampled_from([Act.ASSERT, Act.ASSERT, Act.ASSERT, Act.RETRACT])
moments = st.integers(10, 40).map(Instant)


@st.composite
def told(draw: st.DrawFn, cardinality: Cardinality) -> Told:
    at, act = draw(moments), draw(acts)
    asserts = act is Act.ASSERT
    value = draw(st.sampled_from(["a", "b", "c"] if asserts else ["a", "b", ""]))
    return at, Candidate(
        subject="ana",
        predicate="p",
        object=value,
        fact_text=f"{act} {value}",
        span=Span(start=0, end=1),
        act=act,
        cardinality=cardinality,
        polarity=draw(st.sampled_from([Polarity.POSITIVE] * 5 + [Polarity.NEGATIVE])) if asserts else Polarity.POSITIVE,
        modality=draw(st.sampled_from([Modality.ASSERTED] * 5 + [Modality.PLANNED, Modality.PAST])) if asserts else Modality.ASSERTED,
        additive=asserts and draw(st.integers(0, 4)) == 0,
        valid_to=Instant(at + draw(st.integers(1, 20))) if asserts and draw(st.integers(0, 5)) == 0 else None,
        trust=draw(st.sampled_from([Trust.USER, Trust.USER, Trust.USER, Trust.INFERRED])),
    )


stories = st.sampled_from(Cardinality).flatmap(lambda c: st.tuples(st.just(c), st.lists(told(c), min_size=1, max_size=8)))


def stored(root: Path, story: Sequence[Told]) -> list[tuple[str, str, str, int, int | None]]:
    store = NamespaceStore.open(root, "ana", settings=Settings(root=root), clock=system_clock)
    for at, candidate in story:
        episode = store.record_episode(NewEpisode(text="x", source=Source.USER, t_ref=at, tz="UTC", passages=()))
        with store.write() as tx:
            tx.apply(resolve(tx, [statement(candidate, at)], episode.recorded_at), episode=episode)
    assert store.check() == []
    facts = store.facts(visibility=Visibility(now=Instant(10**6), latest_only=False), modalities=None)
    store.close()
    return sorted(
        (f.object, f.polarity.value, f.modality.value, f.valid_at, f.valid_to)
        for f in facts
        if f.valid_to is None or f.valid_to > f.valid_at
    )


def folded(cardinality: Cardinality, story: Sequence[Told]) -> list[tuple[str, str, str, int, int | None]]:
    events = [
        Event(
            at=at,
            order=(number, 0, 0, 0),
            act=c.act,
            value=Value(key=c.object, polarity=c.polarity, modality=c.modality),
            until=c.valid_to,
            additive=c.additive,
            trust=c.trust,
        )
        for number, (at, c) in enumerate(story)
    ]
    intervals = fold(events, cardinality)
    assert all(i.reason is not EndReason.ENDED or i.end is not None for i in intervals)
    return sorted(
        (i.value.key, i.value.polarity.value, i.value.modality.value, i.start, i.end) for i in intervals if i.end is None or i.end > i.start
    )


@settings(max_examples=150, deadline=None)
@given(stories)
def test_what_is_stored_piece_by_piece_is_what_one_fold_gives(story: tuple[Cardinality, list[Told]]) -> None:
    cardinality, said = story
    with tempfile.TemporaryDirectory() as root:
        assert stored(Path(root), said) == folded(cardinality, said)
