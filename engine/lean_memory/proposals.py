"""The values maintenance speaks in: proposals and what came of them, runs and their reports, the queue a person decides.

Times are epoch milliseconds. Everything is frozen; nothing here knows of SQL, models or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lean_memory.domain import Fact, FactId, Instant


class ProposalKind(StrEnum):
    """What a proposal would do, safest first."""

    MERGE = "merge"
    """Keep one of several facts that say the same; the others close with it."""
    DEMOTION = "demotion"
    """Move facts of low value to the cold tier."""
    SUMMARY = "summary"
    """Add a fact that says in short what several say."""
    SAME_ENTITY = "same_entity"
    """Read two names as one entity."""
    CONFLICT = "conflict"
    """Choose between values that cannot both be current, or keep both."""
    FORGET = "forget"
    """Erase a fact, as an assistant was asked to."""


class ProposalState(StrEnum):
    """How far a proposal has got."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    """Nobody decided it in time; nothing was done."""
    STALE = "stale"
    """What it spoke of changed before it was decided; nothing was done."""
    REVERTED = "reverted"
    """It was carried out and taken back."""
    WITHDRAWN = "withdrawn"
    """Its evidence is gone: the run that made it was reverted, or what it spoke of was erased."""


class Verdict(StrEnum):
    """What a person says to a proposal."""

    APPROVE = "approve"
    REJECT = "reject"
    """Leave everything as it is, and do not ask again on the same evidence."""
    EDIT = "edit"
    """Approve a summary in the person's own words."""
    PROMOTE = "promote"
    """Leave the facts of a demotion hot, and never ask about them again."""
    CHOOSE = "choose"
    """Decide a conflict, or whether two names are one."""


BOTH = "both"
"""The choice that keeps the values of a conflict side by side, or two entities two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEffect:
    """A search that would answer otherwise: the texts of its hits, best first, as they are and as they would be."""

    query: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something a person may decide, with its evidence."""

    id: str
    namespace: str
    kind: ProposalKind
    state: ProposalState
    revision: int
    """Grows with every change of the proposal: a decision names the revision that was shown."""
    entity: str
    """Whom it is about; the queue is grouped by it."""
    facts: tuple[Fact, ...]
    """What it speaks of, as it stands now; of a merge the survivor first. What was erased since is missing."""
    text: str = ""
    """The proposed text of a summary, or the alias of a same entity; else empty."""
    lost: tuple[str, ...] = ()
    """What a summary no longer says."""
    cosine: float | None = None
    scores: tuple[tuple[str, float], ...] = ()
    """Names and figures in 0..1 that led to it."""
    effects: tuple[SearchEffect, ...] = ()
    reason: str
    """Why it is proposed, a sentence for a person."""
    choices: tuple[str, ...] = ()
    """What `choice` may be, `BOTH` among them; empty where there is nothing to choose."""
    created_at: Instant
    expires_at: Instant
    decided_at: Instant | None = None
    verdict: Verdict | None = None
    run_id: str | None = None
    """The run that made it; `None` for one that an assistant asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The decision was carried out; `changed` are the facts that stand otherwise because of it, new ones among them."""

    proposal: Proposal
    changed: tuple[FactId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """It was decided already, or shown in another revision; nothing was done. `sentence` tells the person which."""

    proposal: Proposal
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """What it speaks of changed since it was made; no fact was touched."""

    proposal: Proposal
    sentence: str


Outcome = Settled | Conflict | Stale


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGroup:
    """The pending proposals about one entity, safest first."""

    entity: str
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """What waits for a person, grouped by entity, the safest group first."""

    namespace: str
    groups: tuple[ReviewGroup, ...]
    total: int
    """How many wait in all, whatever the limit and the filter."""
    by_kind: tuple[tuple[str, int], ...]
    as_of: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What a run did, or (dry) would do."""

    namespace: str
    state: str
    """`dry-run`, `done`, `not-due`, `held` (another run holds the lease), `cancelled` or `failed`."""
    run_id: str | None = None
    """`None` where nothing was written."""
    dry_run: bool
    started_at: Instant
    ended_at: Instant
    facts: int = 0
    """Latest facts that were looked at."""
    merged: int = 0
    """Exact duplicates that were retired into their earliest."""
    demoted: int = 0
    """Facts moved to the cold tier by the strict band."""
    proposed: tuple[tuple[str, int], ...] = ()
    """New proposals by kind."""
    held_back: int = 0
    """Proposals beyond the budget of the run; the next one finds them again."""
    expired: int = 0
    """Proposals that nobody decided in time."""
    sentence: str
    """All of it in words."""
    trigger: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRun:
    """A run as it is recorded."""

    id: str
    namespace: str
    state: str
    """`running`, `done`, `cancelled`, `failed` or `abandoned` (its process died, or it lost its lease)."""
    trigger: str
    started_at: Instant
    ended_at: Instant | None
    heartbeat_at: Instant
    report: MaintenanceReport | None
    reverted_at: Instant | None
    progress: float | None
    """Of a run under way, how much of it is done, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceStatus:
    """How maintenance of a namespace stands."""

    namespace: str
    running: MaintenanceRun | None
    last: MaintenanceRun | None
    """The last one that ended."""
    runs: tuple[MaintenanceRun, ...]
    """Newest first, at most 20."""
    pending: tuple[tuple[str, int], ...]
    """Waiting proposals by kind."""
    new_facts: int
    """Facts recorded since the last complete run."""
    is_due: bool
    cold: int
    """Latest facts in the cold tier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """What taking back a run or a decision did."""

    run_id: str
    """The id that was given: a run's or a proposal's."""
    changed: int
    """Facts that stand again as they did before."""
    left: int
    """Facts left as they are, because something else happened to them since."""
    sentence: str
