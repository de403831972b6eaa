"""Saying things to a store without the extraction: one statement, planned by the real resolution, written in the real two transactions."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lean_memory.clock import Clock
from lean_memory.domain import (
    USER,
    Candidate,
    Cardinality,
    Episode,
    Fact,
    Instant,
    Modality,
    ModelIdentity,
    Source,
    Span,
    Visibility,
)
from lean_memory.learning import resolve
from lean_memory.resolution.statements import statement
from lean_memory.settings import Settings
from lean_memory.store.apply import Applied
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode, WriteTransaction

MODEL = ModelIdentity(model_id="test", revision="1", dims=384)
DAY = 86_400_000
START = 1_700_000_000_000


def day(number: float) -> Instant:
    """A moment, in days after an arbitrary beginning."""
    return Instant(START + int(number * DAY))


class SteadyClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: Instant) -> None:
        self.now = now

    def __call__(self) -> Instant:
        return self.now


def open_store(
    root: Path, name: str = "ana", *, clock: Clock | None = None, create: bool = True, busy_timeout_ms: int = 20_000
) -> NamespaceStore:
    """A namespace of a data root, with a clock that stands still."""
    settings = Settings(root=root, busy_timeout_ms=busy_timeout_ms)
    return NamespaceStore.open(root, name, settings=settings, clock=clock or SteadyClock(day(1000)), create=create)


def works_at(company: str, text: str | None = None, **changes: object) -> Candidate:
    """A statement of the one employer of the user."""
    said = text or f"I work at {company}."
    candidate = Candidate(
        subject=USER,
        subject_type="person",
        predicate="works_at",
        object=company,
        object_type="organization",
        fact_text=said,
        span=Span(start=0, end=len(said)),
        cardinality=Cardinality.FUNCTIONAL,
    )
    return replace(candidate, **changes)


def likes(thing: str, text: str | None = None, **changes: object) -> Candidate:
    """A statement of one of the many things that the user likes."""
    said = text or f"I like {thing}."
    candidate = Candidate(
        subject=USER, subject_type="person", predicate="likes", object=thing, fact_text=said, span=Span(start=0, end=len(said))
    )
    return replace(candidate, **changes)


def within(text: str, candidate: Candidate, part: str | None = None) -> Candidate:
    """The candidate with its span where `part`, or its own text, stands in `text`."""
    words = part or candidate.fact_text
    start = text.index(words)
    return replace(candidate, span=Span(start=start, end=start + len(words)))


def record(store: NamespaceStore, text: str, at: Instant, passages: Sequence[Span] | None = None, client: str | None = None) -> Episode:
    """The first transaction."""
    whole = [Span(start=0, end=len(text))]
    new = NewEpisode(text=text, source=Source.USER, client=client, t_ref=at, tz="UTC", passages=whole if passages is None else passages)
    return store.record_episode(new)


def say(
    store: NamespaceStore, *candidates: Candidate, at: Instant, text: str | None = None, passages: Sequence[Span] | None = None
) -> Applied:
    """Both transactions. The text of the episode is that of its first candidate, if not given."""
    episode = record(store, text or candidates[0].fact_text, at, passages)
    with store.write() as tx:
        return learn(tx, episode, candidates, passages)


def learn(tx: WriteTransaction, episode: Episode, candidates: Iterable[Candidate], passages: Sequence[Span] | None = None) -> Applied:
    """The second transaction."""
    said = [statement(candidate, episode.t_ref) for candidate in candidates]
    texts = [episode.text[p.start : p.end] for p in passages or [Span(start=0, end=len(episode.text))]]
    texts += [s.candidate.fact_text for s in said]
    return tx.apply(resolve(tx, said, episode.recorded_at), episode=episode, embeddings={t: vector(t) for t in texts}, model=MODEL)


def vector(text: str) -> NDArray[np.float32]:
    """A unit vector that depends on the text alone."""
    made = np.random.default_rng(zlib.crc32(text.encode())).normal(size=MODEL.dims).astype(np.float32)
    return made / np.linalg.norm(made)


def current(store: NamespaceStore, **asked: str) -> list[Fact]:
    """What holds now, asserted."""
    return store.facts(visibility=Visibility(now=day(2000)), modalities=frozenset({Modality.ASSERTED}), **asked)


def objects(facts: Iterable[Fact]) -> list[str]:
    """What the facts say of their slots."""
    return [f.object for f in facts]
