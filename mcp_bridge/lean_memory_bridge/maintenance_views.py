"""The engine's values of maintenance as the wire shows them. The command shows the same, so that there is one form of a proposal."""

from __future__ import annotations

from lean_memory.domain import Fact
from lean_memory.errors import LeanMemoryError
from lean_memory.proposals import (
    Conflict,
    MaintenanceReport,
    MaintenanceRun,
    MaintenanceStatus,
    Outcome,
    Proposal,
    Reverted as TakenBack,
    ReviewQueue,
    Settled,
    Stale,
)
from lean_memory_bridge.nights import NightRecord, NightSettings
from lean_memory_bridge.schemas.maintenance import (
    Decided,
    EffectView,
    MaintainRequest,
    MaintenanceState,
    Promoted,
    ProposalView,
    ReportView,
    Reverted,
    Review,
    ReviewGroup,
    RunView,
    ScheduleView,
    Upkeep,
)
from lean_memory_bridge.views import fact_view, fact_views

_DONE = {
    "approve": "Approved and carried out",
    "edit": "Approved in the words that were given",
    "choose": "Settled as chosen",
    "reject": "Rejected: everything stays as it is, and it is not proposed again on the same evidence",
    "promote": "Kept at hand, for good",
}


def proposal_view(proposal: Proposal) -> ProposalView:
    """A proposal with its evidence."""
    return ProposalView(
        id=proposal.id,
        namespace=proposal.namespace,
        kind=proposal.kind.value,
        state=proposal.state.value,
        revision=proposal.revision,
        entity=proposal.entity,
        facts=fact_views(proposal.facts),
        text=proposal.text,
        lost=proposal.lost,
        cosine=proposal.cosine,
        scores=dict(proposal.scores),
        effects=tuple(EffectView(query=one.query, before=one.before, after=one.after) for one in proposal.effects),
        reason=proposal.reason,
        choices=proposal.choices,
        created_at=proposal.created_at,
        expires_at=proposal.expires_at,
        decided_at=proposal.decided_at,
        verdict=proposal.verdict.value if proposal.verdict else None,
        run_id=proposal.run_id,
    )


def review_view(queue: ReviewQueue) -> Review:
    """The queue."""
    return Review(
        namespace=queue.namespace,
        groups=tuple(
            ReviewGroup(entity=group.entity, proposals=tuple(proposal_view(proposal) for proposal in group.proposals))
            for group in queue.groups
        ),
        total=queue.total,
        by_kind=dict(queue.by_kind),
        as_of=queue.as_of,
    )


def decided_view(outcome: Outcome) -> Decided:
    """What came of a decision."""
    proposal = proposal_view(outcome.proposal)
    match outcome:
        case Settled(changed=changed):
            if proposal.kind == "forget" and proposal.state == "approved":
                # What was just erased is not repeated.
                bare = proposal.model_copy(update={"facts": ()})
                return Decided(outcome="settled", proposal=bare, sentence="Erased for good. It will not be learned again.")
            touched = f"; {len(changed)} fact(s) stand otherwise now" if changed else ""
            return Decided(
                outcome="settled", proposal=proposal, changed=changed, sentence=f"{_DONE[proposal.verdict or 'approve']}{touched}."
            )
        case Conflict(sentence=sentence):
            return Decided(outcome="conflict", proposal=proposal, sentence=sentence)
        case Stale(sentence=sentence):
            return Decided(outcome="stale", proposal=proposal, sentence=sentence)


def report_view(report: MaintenanceReport) -> ReportView:
    """What a run did."""
    return ReportView(
        namespace=report.namespace,
        state=report.state,
        run_id=report.run_id,
        dry_run=report.dry_run,
        started_at=report.started_at,
        ended_at=report.ended_at,
        facts=report.facts,
        merged=report.merged,
        demoted=report.demoted,
        proposed=dict(report.proposed),
        held_back=report.held_back,
        expired=report.expired,
        sentence=report.sentence,
        trigger=report.trigger,
    )


def failed_view(namespace: str, asked: MaintainRequest, *, started_at: int, ended_at: int, error: LeanMemoryError) -> ReportView:
    """A run that was asked for and did not come about, with what went wrong."""
    return ReportView(
        namespace=namespace,
        state="failed",
        dry_run=not asked.apply,
        started_at=started_at,
        ended_at=ended_at,
        sentence=str(error),
        trigger=asked.trigger,
    )


def run_view(run: MaintenanceRun) -> RunView:
    """A run as it is recorded."""
    return RunView(
        id=run.id,
        namespace=run.namespace,
        state=run.state,
        trigger=run.trigger,
        started_at=run.started_at,
        ended_at=run.ended_at,
        heartbeat_at=run.heartbeat_at,
        report=None if run.report is None else report_view(run.report),
        reverted_at=run.reverted_at,
        progress=run.progress,
    )


def schedule_view(settings: NightSettings, record: NightRecord | None) -> ScheduleView:
    """The nightly run; `record` is `None` where no schedule ever ran."""
    held = record or NightRecord()
    return ScheduleView(
        at=f"{settings.at:%H:%M}",
        paused=settings.paused,
        agents_decide=settings.agents_decide,
        next_at=None if settings.paused else held.next_at,
        waiting_for=held.waiting_for,
        last_night=held.done,
        last_ended_at=held.ended_at,
        last_sentence=held.sentence,
        problem=settings.problem,
    )


def state_view(status: MaintenanceStatus, schedule: ScheduleView) -> MaintenanceState:
    """How maintenance of a namespace stands."""
    return MaintenanceState(
        namespace=status.namespace,
        running=None if status.running is None else run_view(status.running),
        last=None if status.last is None else run_view(status.last),
        runs=tuple(run_view(run) for run in status.runs),
        pending=dict(status.pending),
        new_facts=status.new_facts,
        is_due=status.is_due,
        cold=status.cold,
        schedule=schedule,
    )


def upkeep_view(status: MaintenanceStatus) -> Upkeep:
    """The same in short, for a snapshot."""
    last = status.last
    return Upkeep(
        namespace=status.namespace,
        pending=sum(count for _, count in status.pending),
        by_kind=dict(status.pending),
        running=status.running is not None,
        progress=status.running.progress if status.running is not None else None,
        last_run_at=None if last is None else last.ended_at,
        last_sentence="" if last is None or last.report is None else last.report.sentence,
        is_due=status.is_due,
    )


def reverted_view(namespace: str, taken_back: TakenBack) -> Reverted:
    """What taking back did."""
    return Reverted(
        namespace=namespace, id=taken_back.run_id, changed=taken_back.changed, left=taken_back.left, sentence=taken_back.sentence
    )


def promoted_view(namespace: str, fact: Fact) -> Promoted:
    """A fact that was brought back."""
    return Promoted(namespace=namespace, fact=fact_view(fact))
