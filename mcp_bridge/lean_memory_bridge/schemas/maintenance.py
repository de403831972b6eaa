"""Maintenance and the queue a person decides: requests and answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lean_memory_bridge.schemas.base import MAX_BATCH, Answer, NamespaceName, Request
from lean_memory_bridge.schemas.memory import FactView

KindName = Literal["merge", "demotion", "summary", "same_entity", "conflict", "forget"]
Decision = Literal["approve", "reject", "edit", "promote", "choose"]
ProposalId = Annotated[str, Field(min_length=1, max_length=200)]
MAX_EDITED = 20_000
"""Characters of a summary that a person writes anew."""


class EffectView(Answer):
    """A search that would answer otherwise: the texts of its hits, best first, as they are and as they would be."""

    query: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class ProposalView(Answer):
    """Something a person may decide, with its evidence."""

    id: str
    namespace: str
    kind: str
    """merge, demotion, summary, same_entity, conflict or forget."""
    state: str
    """pending, approved, rejected, expired, stale, reverted or withdrawn."""
    revision: int
    """Name it in the decision: it grows with every change, and a decision on another one does nothing."""
    entity: str
    facts: tuple[FactView, ...] = ()
    """What it speaks of, as it stands now; of a merge the one that stays first."""
    text: str = ""
    """The proposed text of a summary, or the second name of a same entity."""
    lost: tuple[str, ...] = ()
    """What the summary no longer says."""
    cosine: float | None = None
    scores: dict[str, float] = Field(default_factory=dict[str, float])
    effects: tuple[EffectView, ...] = ()
    """Searches that would answer otherwise."""
    reason: str
    choices: tuple[str, ...] = ()
    """What `choice` may be; empty where there is nothing to choose."""
    created_at: int
    expires_at: int
    """Undecided until then, it lapses and nothing is done."""
    decided_at: int | None = None
    verdict: str | None = None
    run_id: str | None = None


class ReviewGroup(Answer):
    """The pending proposals about one entity, safest first."""

    entity: str
    proposals: tuple[ProposalView, ...]


class Review(Answer):
    """What waits for a person, grouped by entity, the safest group first."""

    namespace: str
    groups: tuple[ReviewGroup, ...] = ()
    total: int = 0
    """How many wait in all, whatever the limit and the filter."""
    by_kind: dict[str, int] = Field(default_factory=dict[str, int])
    as_of: int


class ReviewPast(Answer):
    """What was decided last, newest first."""

    namespace: str
    proposals: tuple[ProposalView, ...]


class Decided(Answer):
    """What came of a decision."""

    outcome: Literal["settled", "conflict", "stale", "declined", "refused"]
    """settled: carried out. conflict: decided already, or shown in another revision. stale: what it speaks of changed. declined: the person,
    asked, did not confirm it. refused: it could not be decided so. In all but the first nothing was done."""
    proposal: ProposalView | None
    """Null where it was refused."""
    changed: tuple[str, ...] = ()
    """Ids of the facts that stand otherwise because of it."""
    sentence: str


class DecidedMany(Answer):
    """What came of several decisions, in their order."""

    results: tuple[Decided, ...]


class ReportView(Answer):
    """What a run did, or (dry) would do."""

    namespace: str
    state: str
    """dry-run, done, not-due, held (another run is under way), cancelled or failed."""
    run_id: str | None = None
    dry_run: bool
    started_at: int
    ended_at: int
    facts: int = 0
    """Facts that were looked at."""
    merged: int = 0
    """Exact duplicates put together."""
    demoted: int = 0
    """Facts put away by the strict band."""
    proposed: dict[str, int] = Field(default_factory=dict[str, int])
    """New proposals by kind."""
    held_back: int = 0
    """Proposals beyond the budget; the next run finds them again."""
    expired: int = 0
    sentence: str
    trigger: str


class Tidied(Answer):
    """What `lean-memory maintain` and `lean-memory-maintain` print."""

    root: str
    dry_run: bool
    reports: tuple[ReportView, ...]
    """One for each namespace."""


class RunView(Answer):
    """A run as it is recorded."""

    id: str
    namespace: str
    state: str
    """running, done, cancelled, failed or abandoned."""
    trigger: str
    started_at: int
    ended_at: int | None = None
    heartbeat_at: int
    report: ReportView | None = None
    reverted_at: int | None = None
    progress: float | None = None
    """Of one under way, how much is done, 0 to 1."""


class ScheduleView(Answer):
    """The nightly run."""

    at: str
    """The time of day it is set to, local, as 03:30."""
    paused: bool
    agents_decide: bool
    """Whether an assistant may record a verdict where the person cannot be asked through it."""
    next_at: int | None = None
    """When the next one is due; past where it waits. Null while paused, and where no schedule runs."""
    waiting_for: str = ""
    """What a run that is due waits for."""
    last_night: str | None = None
    last_ended_at: int | None = None
    last_sentence: str = ""
    problem: str = ""
    """What was set and cannot be used."""


class Upkeep(Answer):
    """How maintenance of a namespace stands, in short."""

    namespace: str
    pending: int = 0
    by_kind: dict[str, int] = Field(default_factory=dict[str, int])
    running: bool = False
    progress: float | None = None
    last_run_at: int | None = None
    last_sentence: str = ""
    is_due: bool = False


class MaintenanceState(Answer):
    """How maintenance of a namespace stands."""

    namespace: str
    running: RunView | None = None
    last: RunView | None = None
    """The last one that ended."""
    runs: tuple[RunView, ...] = ()
    """Newest first."""
    pending: dict[str, int] = Field(default_factory=dict[str, int])
    new_facts: int = 0
    """Facts learned since the last complete run."""
    is_due: bool = False
    cold: int = 0
    """Facts that are put away."""
    schedule: ScheduleView


class MaintenanceJob(Answer):
    """Maintenance that the service was asked for, of one namespace or of all in turn."""

    id: str
    state: Literal["running", "done", "failed", "cancelled"]
    dry_run: bool
    trigger: str
    started_at: int
    ended_at: int | None = None
    namespace: str | None = None
    """Which one it is at; null for all, before the first begins."""
    progress: float | None = None
    reports: tuple[ReportView, ...] = ()
    """One for each namespace, once it has ended."""
    sentence: str = ""


class Promoted(Answer):
    """A fact that was brought back from the cold tier, and is not put away again."""

    namespace: str
    fact: FactView


class Reverted(Answer):
    """What taking back a run or a decision did."""

    namespace: str
    id: str
    changed: int
    """Facts that stand again as they did before."""
    left: int
    """Facts left as they are, because something else happened to them since."""
    sentence: str


class Cancelled(Answer):
    """Whether there was a run to end."""

    cancelled: bool


class MaintainRequest(Request):
    """Which namespaces to tidy, and how. A dry run writes nothing at all."""

    namespace: NamespaceName | None = None
    every: bool = False
    """All namespaces in turn, instead of one."""
    apply: bool = False
    auto_only: bool = False
    """Only what is done without asking: exact duplicates and the strict band."""
    force: bool = False
    """Even where little is new since the last run."""
    trigger: Annotated[str, Field(max_length=40, pattern=r"^[a-z][a-z-]*$")] = "person"
    """What asked for it, as `nightly` or `person`."""
    wait: Annotated[float, Field(ge=0, le=20)] = 20.0
    """Seconds to wait for the end before answering with a job that goes on."""


class CancelRequest(Request):
    """The run to end: that of a namespace."""

    namespace: NamespaceName | None = None


class DecideRequest(Request):
    """A person's verdict on a proposal."""

    decision: Decision
    namespace: NamespaceName | None = None
    edited_text: Annotated[str, Field(max_length=MAX_EDITED)] | None = None
    """With edit: the summary in the person's own words."""
    choice: Annotated[str, Field(max_length=1000)] | None = None
    """With choose: one of the proposal's `choices`."""
    revision: int | None = None
    """The revision that was shown; a proposal that changed since is not decided."""


class DecideItem(Request):
    """One of several verdicts."""

    id: ProposalId
    decision: Decision
    edited_text: Annotated[str, Field(max_length=MAX_EDITED)] | None = None
    choice: Annotated[str, Field(max_length=1000)] | None = None
    revision: int | None = None


class DecideManyRequest(Request):
    """Several verdicts, each carried out or told of by itself."""

    items: Annotated[tuple[DecideItem, ...], Field(min_length=1, max_length=MAX_BATCH)]
    namespace: NamespaceName | None = None


class PromoteRequest(Request):
    """The fact to bring back from the cold tier."""

    fact_id: Annotated[str, Field(min_length=1, max_length=200)]
    namespace: NamespaceName | None = None


class RevertRequest(Request):
    """The run or the decision to take back, by its id or its proposal's."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    namespace: NamespaceName | None = None


class ScheduleChange(Request):
    """What to change about the nightly run; what is left out stays."""

    at: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] | None = None
    paused: bool | None = None
    agents_decide: bool | None = None
