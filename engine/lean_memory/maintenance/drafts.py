"""What the finders of maintenance take and give: a frozen picture of a namespace, and drafts of proposals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lean_memory.domain import Fact, FactId, Instant
from lean_memory.models.ports import CosineThresholds, Vectors
from lean_memory.proposals import ProposalKind, SearchEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How often a fact was served, and when last."""

    served: int
    last_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntity:
    """Somebody or something that facts are about, with the names that are its own by a person's decision already."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a run looks at: everything latest and hot of one namespace at one moment."""

    namespace: str
    now: Instant
    facts: tuple[Fact, ...]
    """The latest hot facts and summaries of any modality, open at `now`; the one recorded first comes first."""
    vectors: Vectors
    """Shape (len(facts), dims): the vector of each fact's text, of unit length; zeros where it has none yet."""
    thresholds: CosineThresholds
    """Those of the embedder that made the vectors."""
    access: Mapping[FactId, Access] = field(default_factory=dict[FactId, Access])
    """Facts that were never served are not in it."""
    said: Mapping[FactId, Instant] = field(default_factory=dict[FactId, Instant])
    """When facts were said again last; those that never were are not in it."""
    entities: tuple[KnownEntity, ...] = ()
    """Every entity that is the subject or the object of a fact. A fact whose subject has an alias carries the entity's own name."""
    held: frozenset[FactId] = frozenset()
    """Targets of proposals that wait for a decision: nothing else is proposed of them."""
    kept: frozenset[FactId] = frozenset()
    """What the person promoted, marked as important or decided to keep: never to be demoted again."""
    refused: frozenset[frozenset[FactId]] = frozenset()
    """Pairs of facts that the person decided not to merge with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A proposal before it is stored: what would be done to which facts, and everything a person needs to judge it."""

    kind: ProposalKind
    entity: str
    """Whom it is about, to group the review by."""
    facts: tuple[Fact, ...]
    """The targets; for a merge the survivor comes first, for a same-entity draft they are examples of either name."""
    reason: str
    """A sentence for a person."""
    text: str = ""
    """The proposed text of a summary; of a same-entity draft the alias, which would be read as `entity`."""
    lost: tuple[str, ...] = ()
    """What a summary no longer says, as sentences of its sources."""
    demotes: tuple[FactId, ...] = ()
    """The sources of a summary that it still says, so that they may go cold when it is approved."""
    rests_on: tuple[Fact, ...] = ()
    """Facts to which nothing would be done, and without which it would not be proposed: it is stale once they stand otherwise."""
    cosine: float | None = None
    scores: tuple[tuple[str, float], ...] = ()
    choices: tuple[str, ...] = ()
    """What may be chosen of a conflict (the facts' values) or a same-entity draft (the name to keep), and `BOTH`."""
    effects: tuple[SearchEffect, ...] = ()

    @property
    def fact_ids(self) -> tuple[FactId, ...]:
        return tuple(fact.id for fact in self.facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit of a search as the effects of a proposal are told by: whose it is (`None` for a passage without one), and its text."""

    fact_id: FactId | None
    text: str


Search = Callable[[str, int], Sequence[Found]]
"""What a latest search for a question finds, best first, at most so many."""
