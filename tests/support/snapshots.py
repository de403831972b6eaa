"""Pictures of a namespace for the finders of maintenance: facts told in one line each, with vectors of the built-in embedder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from lean_memory.domain import (
    STATES,
    EpisodeId,
    Fact,
    FactId,
    Instant,
    Modality,
    Polarity,
    RecordKind,
    Tier,
    Trust,
)
from lean_memory.maintenance.drafts import Access, KnownEntity, Snapshot
from lean_memory.models.builtin import BuiltinEmbedder

DAY = 86_400_000
NOW = Instant(1_790_000_000_000)

SALIENCE = {STATES: 4.0, "likes": 5.0}


def fact(
    text: str,
    *,
    subject: str = "user",
    predicate: str = STATES,
    value: str | None = None,
    days: int = 200,
    salience: float | None = None,
    polarity: Polarity = Polarity.POSITIVE,
    modality: Modality = Modality.ASSERTED,
    trust: Trust = Trust.USER,
    kind: RecordKind = RecordKind.FACT,
) -> Fact:
    """A current fact that was told so many days ago; its id is its text, so that tests can name it."""
    at = Instant(NOW - days * DAY)
    return Fact(
        id=FactId(text),
        namespace="ana",
        subject=subject,
        predicate=predicate,
        object=text if value is None else value,
        fact_text=text,
        valid_at=at,
        valid_to=None,
        recorded_at=at,
        retired_at=None,
        is_latest=True,
        superseded_by=None,
        polarity=polarity,
        modality=modality,
        confidence=0.9,
        salience=SALIENCE.get(predicate, 5.0) if salience is None else salience,
        is_inference=False,
        record_kind=kind,
        tier=Tier.HOT,
        trust=trust,
        episode_id=EpisodeId("e"),
    )


def likes(*values: str, days: int = 200) -> list[Fact]:
    """What the user likes, a fact each."""
    return [fact(f"I like {value}.", predicate="likes", value=value, days=days) for value in values]


def snapshot(
    facts: Iterable[Fact | str],
    *,
    access: Mapping[FactId, Access] | None = None,
    entities: Iterable[KnownEntity] = (),
    kept: Iterable[FactId] = (),
) -> Snapshot:
    """A picture of facts; a text stands for a plain statement of the user's."""
    told = tuple(each if isinstance(each, Fact) else fact(each) for each in facts)
    numbered = tuple(replace(each, recorded_at=Instant(each.recorded_at + place)) for place, each in enumerate(told))
    embedder = _embedder()
    return Snapshot(
        namespace="ana",
        now=NOW,
        facts=numbered,
        vectors=embedder.embed([each.fact_text for each in numbered]),
        thresholds=embedder.thresholds,
        access=access or {},
        entities=tuple(entities),
        kept=frozenset(kept),
    )


@cache
def _embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()
