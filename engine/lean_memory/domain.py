"""The values the engine speaks in.

Times are `Instant`: whole milliseconds since the Unix epoch, UTC. Interval ends are exclusive; `None` means open.
Everything here is frozen. Nothing here knows of SQL, models, HTTP or files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NewType, overload

from lean_memory.keys import name_key as name_key, value_key as value_key
from lean_memory.kinds import (
    Act as Act,
    Cardinality as Cardinality,
    EndReason as EndReason,
    EpisodeState as EpisodeState,
    Modality as Modality,
    Polarity as Polarity,
    RecordKind as RecordKind,
    Source as Source,
    Tier as Tier,
    Trust as Trust,
    outranks as outranks,
    trust_of as trust_of,
)

Instant = NewType("Instant", int)
"""A moment: whole milliseconds since 1970-01-01T00:00Z."""

EpisodeId = NewType("EpisodeId", str)
FactId = NewType("FactId", str)

USER = "user"
"""The display name of the entity that first-person statements are about."""

STATES = "states"
"""The predicate of a durable statement for which the vocabulary has no better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of an episode's text, as character offsets; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What was said, verbatim, with when and by whom."""

    uid: EpisodeId
    text: str
    source: Source
    client: str | None
    t_ref: Instant
    tz: str
    """IANA name of the time zone in which dates in the text are read."""
    recorded_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One statement found in an episode, before it meets what is already known."""

    subject: str
    subject_type: str = "thing"
    predicate: str
    object: str
    """The value as displayed; empty only where the predicate is `states` and the text says it all."""
    object_type: str | None = None
    """The entity type of the object, or `None` for a literal."""
    fact_text: str
    span: Span
    act: Act = Act.ASSERT
    polarity: Polarity = Polarity.POSITIVE
    modality: Modality = Modality.ASSERTED
    additive: bool = False
    """An additive cue ("also", "as well") keeps the values of a functional slot side by side."""
    cardinality: Cardinality = Cardinality.MULTI
    corrects: str | None = None
    """For `CORRECT`: the value that was never so, where the text names it; else the slot's newest."""
    valid_at: Instant | None = None
    """When it began to hold, where the text says so; `None` stands for the episode's `t_ref`."""
    valid_to: Instant | None = None
    """Until when it holds, where the text says so."""
    confidence: float = 1.0
    salience: float = 5.0
    is_inference: bool = False
    trust: Trust = Trust.USER
    found_by: str = "rules"
    """Which pass made it: `rules`, `gliner`, `typer`."""
    rule: str = ""
    """Which rule of that pass."""
    reasons: tuple[str, ...] = ()
    """Why its confidence is lowered, or what was unclear, in words a person understands."""

    @property
    def asserts(self) -> bool:
        """Whether it says what holds now, so that it could replace something."""
        return self.act is Act.ASSERT and self.polarity is Polarity.POSITIVE and self.modality is Modality.ASSERTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing known, with its four times (epoch ms): world `valid_at`/`valid_to`, system `recorded_at`/`retired_at`."""

    id: FactId
    namespace: str
    subject: str
    predicate: str
    object: str
    fact_text: str
    valid_at: Instant
    valid_to: Instant | None
    recorded_at: Instant
    retired_at: Instant | None
    is_latest: bool
    superseded_by: FactId | None
    polarity: Polarity
    modality: Modality
    confidence: float
    salience: float
    is_inference: bool
    record_kind: RecordKind
    tier: Tier
    trust: Trust
    episode_id: EpisodeId
    end_reason: EndReason | None = None
    span: Span | None = None
    found_by: str = ""
    rule: str = ""
    reasons: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """What is to be known before it is used: `instruction-like` text tries to steer whoever reads it."""


INSTRUCTION_LIKE = "instruction-like"
"""The flag of text that tries to steer an assistant: it is data, never to be followed."""

BESIDE_INSTRUCTIONS = "the message it stands in also tries to instruct an assistant"
"""The reason by which such a fact is known."""


NO_EMBEDDER = "embedder"
"""Answered by words alone: there is no embedder."""
NO_VECTORS = "vectors"
"""Some rows have no vector of the present model yet and were found by their words alone."""
NO_SECOND = "second-embedder"
"""The second embedder is not there, or has not made all vectors yet: the first one's answer."""
NO_CROSS_ENCODER = "cross-encoder"
"""The cross-encoder was not there, or not done in time: the order is that of words and vectors."""

WEAK_RELEVANCE = 0.3
"""Below this relevance a hit tells little: where no hit reaches it, nothing is known about the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One answer to a search, with the ranks and scores that produced it.

    `relevance`, `recency` and `importance` lie in 0..1 on fixed scales; ranks start at 1 and are `None` where an arm
    did not return the row. A passage hit carries a `Fact` whose `record_kind` is `passage` and whose predicate is `states`.
    """

    fact: Fact
    final_score: float
    relevance: float
    recency: float
    importance: float
    dense_rank: int | None
    sparse_rank: int | None
    rrf_score: float
    source: str
    """The passage the hit was taken from, verbatim (shortened to 400 characters)."""
    degraded: tuple[str, ...] = ()
    """What was missing when the answer was made, e.g. `("cross-encoder",)`; empty when nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddResult(Sequence[FactId]):
    """What one `add` did; as a sequence it holds the ids of the new facts."""

    episode_id: EpisodeId | None
    """`None` where nothing was stored, because the person had all of it erased before."""
    fact_ids: tuple[FactId, ...] = ()
    existing: tuple[FactId, ...] = ()
    """Current facts that the text only said again."""
    superseded: tuple[FactId, ...] = ()
    """Facts that are no longer the latest because of this text."""
    redacted: tuple[str, ...] = ()
    """The secrets that were taken out before anything was written: the kind of each, in the order of the text."""
    queued: bool = False
    """It is stored for good, and a later pass will add to this: when its model is there, the disk has room, the file is not kept locked."""
    withheld: int = 0
    """Statements not learned because the person had them forgotten."""
    echoed: int = 0
    """Statements that this memory had served shortly before: they are no new evidence, and not even confirm."""
    flags: tuple[str, ...] = ()
    """`instruction-like` where the text tries to steer an assistant: it is kept as data, and that part of it is not learned."""

    @overload
    def __getitem__(self, index: int) -> FactId: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FactId, ...]: ...
    def __getitem__(self, index: int | slice) -> FactId | tuple[FactId, ...]:
        return self.fact_ids[index]

    def __len__(self) -> int:
        return len(self.fact_ids)

    def __iter__(self) -> Iterator[FactId]:
        return iter(self.fact_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One link of a chain: the fact, and why it stopped being the latest (`None` for the one that is)."""

    fact: Fact
    reason: EndReason | None
    source_text: str
    """The sentence it came from."""
    confirmed_at: tuple[Instant, ...] = ()
    """When it was said again, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a fact came to its end."""

    fact: Fact
    """The one that ended."""
    reason: EndReason
    rung: str
    """How the value that ended was recognised, surest first: `slot` (the slot holds one value, or all of them were meant), `equal`,
    `inflection`, `containment`, `cosine`."""
    said: str
    """The sentence that ended it; empty where its own said until when it holds."""
    by: FactId | None = None
    """The fact in its place, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why the memory holds a fact: what was said, which pass and rule read it, how sure it is and why not surer, what it changed."""

    fact: Fact
    source_text: str
    """The sentence it came from."""
    said_at: Instant
    source: Source
    client: str | None
    made_by: str
    """The pass and the rule, in words."""
    doubts: tuple[str, ...] = ()
    """Why its confidence is not full."""
    confirmed_at: tuple[Instant, ...] = ()
    echoes: int = 0
    """How often it came back as an echo of what the memory had served."""
    ended: tuple[Ending, ...] = ()
    """What it superseded, corrected or took in."""
    ending: Ending | None = None
    """How it came to its own end, where it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult:
    """What a `forget` erased, by count, and the files that may still hold copies."""

    facts: int
    episodes: int
    """Episodes erased whole or in part."""
    passages: int
    entities: int
    tombstones: int
    backups_holding_copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearResult:
    """What a `clear` did; true where there was a namespace to clear."""

    existed: bool
    copies: tuple[str, ...] = ()
    """Files beside the namespace's that may still hold what was in it: backups, logs set aside, and rules for it that could not be removed."""

    def __bool__(self) -> bool:
        return self.existed


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Which rows a search may see; applied inside both arms before any cut."""

    now: Instant
    as_of: Instant | None = None
    known_at: Instant | None = None
    latest_only: bool = True
    include_cold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity:
    """Which model made a vector; two vectors are comparable only if these are equal."""

    model_id: str
    revision: str
    dims: int
    prefix: int | None = None
    """For a model trained so that leading components stand for the whole (Matryoshka): how many make the coarse code."""

    @property
    def coarse_dims(self) -> int:
        """How many leading components the coarse code is made from."""
        return self.prefix or self.dims


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """How far the vectors of one model are made; they are never compared with those of another."""

    model: ModelIdentity
    texts: int
    """How many texts the index has."""
    missing: int
    """How many of them have no vector of this model yet."""
    role: str
    """`embedder` or `second` as this memory was opened, else `old`: kept so that going back to that model takes no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsMade:
    """What one go at the missing vectors of a namespace did."""

    made: int
    missing: int
    """How many are still to be made, of all models in use."""
    reason: str = ""
    """Why some are still missing, where it is not the limit that was given: a sentence, or empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceStatus:
    """Counts and health of one namespace."""

    name: str
    path: str
    bytes: int
    facts: int
    latest: int
    episodes: int
    unfinished: int
    entities: int
    schema_version: int
    writable: bool
    problems: tuple[str, ...] = field(default=())
    vectors: tuple[VectorSpace, ...] = ()
    """How far the vectors of each model are made, those in use first."""
