"""The kinds that values of the domain are of; import them from `lean_memory.domain`."""

from __future__ import annotations

from enum import StrEnum


class Source(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOC = "doc"
    IMPORT = "import"
    MAINTENANCE = "maintenance"


class Modality(StrEnum):
    """How a statement relates to the world. Only `ASSERTED` can retire another asserted fact."""

    ASSERTED = "asserted"
    PAST = "past"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"
    REPORTED = "reported"


class Polarity(StrEnum):
    """Whether the statement says that something is so, or that it is not."""

    POSITIVE = "+"
    NEGATIVE = "-"


class RecordKind(StrEnum):
    """What a hit stands for; only facts and summaries are stored as facts."""

    FACT = "fact"
    SUMMARY = "summary"
    PASSAGE = "passage"


class Tier(StrEnum):
    """Cold facts stay out of latest searches unless asked for."""

    HOT = "hot"
    COLD = "cold"


class Trust(StrEnum):
    """How far a fact may be believed, by where it came from; most trusted first."""

    USER = "user"
    TOOL = "tool"
    INFERRED = "inferred"
    IMPORTED = "imported"


def outranks(one: Trust, other: Trust) -> bool:
    """Whether `one` is more trusted than `other`."""
    return _TRUST_ORDER.index(one) < _TRUST_ORDER.index(other)


_TRUST_ORDER = tuple(Trust)


def trust_of(source: Source) -> Trust:
    """How far what comes from a source may be believed."""
    return _TRUST_OF[source]


_TRUST_OF = {
    Source.USER: Trust.USER,
    Source.TOOL: Trust.TOOL,
    Source.DOC: Trust.TOOL,
    Source.ASSISTANT: Trust.INFERRED,
    Source.MAINTENANCE: Trust.INFERRED,
    Source.IMPORT: Trust.IMPORTED,
}


class Act(StrEnum):
    """What a candidate does to its slot."""

    ASSERT = "assert"
    """Says that the value holds (or, with negative polarity, does not)."""
    RETRACT = "retract"
    """Says that the value no longer holds and names no other: an interval is closed, nothing is opened."""
    CORRECT = "correct"
    """Says that what was stored was never so: same `valid_at`, system time moves."""
    ECHO = "echo"
    """Gives back what the memory has just served: it is no evidence, and changes nothing."""


class EndReason(StrEnum):
    """Why a fact stopped being the latest."""

    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    CORRECTED = "corrected"
    ENDED = "ended"
    """Its own statement said until when it holds."""
    MERGED = "merged"
    """Another fact says the same over the whole span."""
    FORGOTTEN = "forgotten"
    """What came after it was erased by the person."""
    DUPLICATE = "duplicate"
    """Another fact says the same: it stays out of latest searches, holds for as long as the other does, and closes with it."""
    OUTDATED = "outdated"
    """Of a summary: something that it was made from no longer holds."""


class EpisodeState(StrEnum):
    """How far ingest has got with an episode."""

    STORED = "stored"
    UNREAD = "unread"
    """Reading it failed; it is found by its words, and tried again at the next start."""
    WAITING = "waiting"
    """The rules' facts of it are stored; a model may add to them later."""
    DONE = "done"


class Cardinality(StrEnum):
    """How many values a slot of a predicate holds at one moment."""

    FUNCTIONAL = "functional"
    MULTI = "multi"
