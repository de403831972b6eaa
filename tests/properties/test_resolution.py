"""Stored piece by piece and in any order, statements give the intervals that one fold over all of them gives.

A correction takes back what was known when it was told: the whole interval of the value that it puts right, with everything said for
it until then. So what it means depends on what came before it; but what came before may have come in any order, and so may what
comes after.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings, strategies as st

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
    outranks,
)
from lean_memory.learning import resolve
from lean_memory.resolution.contradiction import by_words
from lean_memory.resolution.statements import Statement, statement
from lean_memory.resolution.timeline import Event, Interval, Value, fold
from lean_memory.settings import Settings
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode
from support.statements import SteadyClock

Told = tuple[Instant, Candidate]
Spans = list[tuple[str, str, str, int, int | None]]

STEP = 1000
"""Between one thing told and the next, by the store's clock."""

any_act = st.sampled_from([Act.ASSERT] * 6 + [Act.RETRACT] * 2 + [Act.CORRECT])
plain_act = st.sampled_from([Act.ASSERT] * 3 + [Act.RETRACT])
correction = st.just(Act.CORRECT)
moments = st.integers(10, 40).map(Instant)
values = st.sampled_from(["tea", "green tea", "coffee", "water"])
# Each means one of the values at most: what is equal goes before what contains it.
named = st.sampled_from(["tea", "green", "coffee", "green tea"])


@st.composite
def told(draw: st.DrawFn, cardinality: Cardinality, acts: st.SearchStrategy[Act] = any_act) -> Told:
    at, act = draw(moments), draw(acts)
    asserts = act is not Act.RETRACT
    value = draw(values if asserts else st.one_of(named, st.just("")))
    plain = act is Act.CORRECT
    return at, Candidate(
        subject="ana",
        predicate="p",
        object=value,
        fact_text=f"{act} {value}",
        span=Span(start=0, end=1),
        act=act,
        corrects=draw(named) if act is Act.CORRECT else None,
        cardinality=cardinality,
        polarity=draw(st.sampled_from([Polarity.POSITIVE] * (9 if plain else 4) + [Polarity.NEGATIVE])) if asserts else Polarity.POSITIVE,
        modality=draw(st.sampled_from([Modality.ASSERTED] * 5 + [Modality.PLANNED, Modality.PAST])) if asserts else Modality.ASSERTED,
        additive=asserts and draw(st.integers(0, 4)) == 0,
        valid_at=Instant(at - draw(st.integers(0, 9))) if draw(st.integers(0, 5)) == 0 else None,
        valid_to=Instant(at + draw(st.integers(1, 20))) if asserts and draw(st.integers(0, 5)) == 0 else None,
        trust=draw(st.sampled_from([Trust.USER, Trust.USER, Trust.USER, Trust.INFERRED])),
    )


stories = st.sampled_from(Cardinality).flatmap(lambda c: st.tuples(st.just(c), st.lists(told(c), min_size=1, max_size=9)))


@st.composite
def around_a_correction(draw: st.DrawFn) -> tuple[Cardinality, list[Told], Told, list[Told]]:
    """What is told before a correction, the correction, and what is told after it; no two speak of the same moment."""
    cardinality = draw(st.sampled_from(Cardinality))
    plain = st.lists(told(cardinality, plain_act), max_size=5)
    before, after = draw(plain), draw(plain)
    at, right = draw(told(cardinality, correction))
    count = len(before) + len(after) + 1
    apart = iter(draw(st.permutations([Instant(100 * (n + 1)) for n in range(count)])))

    def placed(one: Candidate, old: Instant) -> Told:
        moment = next(apart)
        until = None if one.valid_to is None else Instant(moment + 37 * (one.valid_to - old))
        return moment, replace(one, valid_at=None, valid_to=until)

    return (
        cardinality,
        [placed(c, t) for t, c in before],
        placed(right, at),
        [placed(c, t) for t, c in after],
    )


def stored(root: Path, story: Sequence[Told], clock: SteadyClock | None = None) -> NamespaceStore:
    clock = clock or SteadyClock(Instant(STEP))
    store = NamespaceStore.open(root, "ana", settings=Settings(root=root), clock=clock)
    for at, candidate in story:
        tell(store, at, candidate)
        clock.now = Instant(clock.now + STEP)
    return store


def tell(store: NamespaceStore, at: Instant, candidate: Candidate) -> None:
    episode = store.record_episode(NewEpisode(text="x", source=Source.USER, t_ref=at, tz="UTC", passages=()))
    with store.write() as tx:
        tx.apply(resolve(tx, [statement(candidate, at)], episode.recorded_at), episode=episode)


def intervals_of(story: Sequence[Told]) -> Spans:
    with tempfile.TemporaryDirectory() as root:
        store = stored(Path(root), story)
        assert store.check() == []
        facts = store.facts(visibility=Visibility(now=Instant(10**6), latest_only=False), modalities=None)
        store.close()
    return sorted(
        (f.object, f.polarity.value, f.modality.value, f.valid_at, f.valid_to)
        for f in facts
        if (f.valid_to is None or f.valid_to > f.valid_at) and f.end_reason is not EndReason.CORRECTED
    )


def folded(cardinality: Cardinality, story: Sequence[Told]) -> Spans:
    """The intervals of one fold over everything that was said and not taken back."""
    events: list[Event] = []
    for number, (at, candidate) in enumerate(story):
        said = statement(candidate, at)
        lands = said.valid_at
        if candidate.act is Act.CORRECT:
            wrong = put_right(said, fold(events, cardinality))
            if wrong is not None:
                events = [event for event in events if event not in wrong.members]
                lands = wrong.start if candidate.valid_at is None else lands
        events.append(event_of(said, lands, number))
    intervals = fold(events, cardinality)
    assert all(i.reason is not EndReason.ENDED or i.end is not None for i in intervals)
    return sorted(
        (i.value.key, i.value.polarity.value, i.value.modality.value, i.start, i.end) for i in intervals if i.end is None or i.end > i.start
    )


def event_of(said: Statement, lands: Instant, number: int) -> Event:
    c = said.candidate
    return Event(
        at=lands,
        order=(number, 0, 0, 0),
        act=Act.RETRACT if c.act is Act.RETRACT else Act.ASSERT,
        value=Value(key=c.object, polarity=c.polarity, modality=c.modality),
        until=c.valid_to if c.valid_to is not None and c.valid_to > lands else None,
        additive=c.additive,
        trust=c.trust,
    )


def put_right(said: Statement, intervals: Sequence[Interval]) -> Interval | None:
    """The interval that a correction means: that of the value it names, if it holds then and is not more trusted; of several the one said last."""
    c = said.candidate
    able = {
        i.value.key: i
        for i in sorted(intervals, key=lambda i: i.members[0].order)
        if i.reason in {None, EndReason.ENDED}
        and (i.end is None or i.end > said.valid_at)
        and c.polarity is i.value.polarity is Polarity.POSITIVE
        and i.value.modality is c.modality
        and not outranks(i.trust, c.trust)
    }
    meant = by_words(c.corrects or "", able)
    assert len(meant) <= 1
    return able[meant[0]] if meant and meant[0] != c.object else None


@settings(max_examples=120, deadline=None)
@given(stories)
def test_what_is_stored_piece_by_piece_is_what_one_fold_gives(story: tuple[Cardinality, list[Told]]) -> None:
    cardinality, said = story
    assert intervals_of(said) == folded(cardinality, said)


@settings(max_examples=40, deadline=None)
@given(around_a_correction(), st.randoms(use_true_random=False))
def test_what_comes_before_and_after_a_correction_may_come_in_any_order(
    story: tuple[Cardinality, list[Told], Told, list[Told]], random: object
) -> None:
    _, before, correction, after = story
    in_order = intervals_of([*before, correction, *after])
    random.shuffle(before)  # type: ignore[attr-defined]
    random.shuffle(after)  # type: ignore[attr-defined]
    assert intervals_of([*before, correction, *after]) == in_order


@settings(max_examples=40, deadline=None)
@given(stories)
def test_no_statement_changes_what_was_answered_about_the_past(story: tuple[Cardinality, list[Told]]) -> None:
    _, said = story
    clock = SteadyClock(Instant(STEP))
    answers: list[tuple[Visibility, object]] = []
    with tempfile.TemporaryDirectory() as root:
        store = stored(Path(root), [], clock)
        for at, candidate in said:
            tell(store, at, candidate)
            assert store.check() == []
            known_at, clock.now = Instant(clock.now + STEP // 2), Instant(clock.now + STEP)
            for as_of in (None, Instant(15), Instant(25), Instant(45)):
                asked = Visibility(now=clock.now, as_of=as_of, known_at=known_at, latest_only=False)
                answers.append((asked, answer(store, asked)))
        assert [answer(store, asked) for asked, _ in answers] == [given for _, given in answers]
        store.close()


def answer(store: NamespaceStore, asked: Visibility) -> object:
    facts = store.facts(visibility=asked, modalities=None)
    return [(f.id, f.valid_at, f.valid_to, f.is_latest, f.superseded_by, f.retired_at, f.end_reason) for f in facts]
