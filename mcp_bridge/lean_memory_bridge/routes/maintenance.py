"""`/api/v1/maintenance`, `/api/v1/review`, `/api/v1/promote` and `/api/v1/revert`: tidying, and what the person decides."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from lean_memory_bridge.routes.parts import InNamespace, TheCaller, TheOwner, TheParts
from lean_memory_bridge.schemas.maintenance import (
    Cancelled,
    CancelRequest,
    Decided,
    DecidedMany,
    DecideManyRequest,
    DecideRequest,
    KindName,
    MaintainRequest,
    MaintenanceJob,
    MaintenanceState,
    Promoted,
    PromoteRequest,
    ProposalView,
    Reverted,
    RevertRequest,
    Review,
    ReviewPast,
    ScheduleChange,
    ScheduleView,
)

router = APIRouter(prefix="/api/v1", tags=["maintenance"])

TheProposal = Annotated[str, Path(min_length=1, max_length=200)]


@router.post("/maintenance/run")
async def run(asked: MaintainRequest, parts: TheParts, caller: TheCaller) -> MaintenanceJob:
    """Tidy a namespace, or all in turn; a dry run unless `apply`. Answers when it has ended, or after `wait` seconds while it goes on."""
    return await parts.maintenance.run(caller, asked)


@router.get("/maintenance/jobs/{job}")
async def job(job: Annotated[str, Path(max_length=64)], parts: TheParts, caller: TheCaller) -> MaintenanceJob:
    """How a run that was asked for stands."""
    return await parts.maintenance.job(caller, job)


@router.post("/maintenance/cancel")
async def cancel(asked: CancelRequest, parts: TheParts, caller: TheCaller) -> Cancelled:
    """End the run that goes on in a namespace, in good order: what it did stays, and can be reverted."""
    return await parts.maintenance.cancel(caller, asked)


@router.get("/maintenance/status")
async def status(parts: TheParts, caller: TheCaller, namespace: InNamespace = None) -> MaintenanceState:
    """The run that goes on, the last ones, what waits for the person, and the schedule. Loads no model."""
    return await parts.maintenance.state(caller, namespace)


@router.get("/maintenance/schedule")
async def schedule(parts: TheParts, caller: TheCaller) -> ScheduleView:
    """When the nightly run is, and how the last one went."""
    caller.must_be_let_in()
    return await parts.maintenance.schedule()


@router.patch("/maintenance/schedule")
async def change_schedule(change: ScheduleChange, parts: TheParts, _: TheOwner) -> ScheduleView:
    """Set the time, pause or resume the nightly run, or say whether assistants may record verdicts."""
    return await parts.maintenance.change_schedule(change)


@router.get("/review")
async def review(
    *,
    parts: TheParts,
    caller: TheCaller,
    namespace: InNamespace = None,
    kind: KindName | None = None,
    entity: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> Review:
    """What waits for the person, grouped by entity, with its evidence. Proposals that are overdue expire as a side effect."""
    return await parts.maintenance.review(caller, namespace, kind=kind, limit=limit, entity=entity)


@router.get("/review/decided")
async def decided(
    parts: TheParts, caller: TheCaller, namespace: InNamespace = None, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> ReviewPast:
    """What was decided last, newest first."""
    return ReviewPast(namespace=namespace or caller.namespace, proposals=await parts.maintenance.decided(caller, namespace, limit))


@router.post("/review/decide")
async def decide_many(asked: DecideManyRequest, parts: TheParts, caller: TheCaller) -> DecidedMany:
    """Several verdicts in turn, each carried out or told of by itself."""
    return DecidedMany(results=await parts.maintenance.decide_many(caller, asked.namespace, asked.items))


@router.get("/review/{proposal}")
async def proposal(proposal: TheProposal, parts: TheParts, caller: TheCaller, namespace: InNamespace = None) -> ProposalView:
    """One proposal, decided or not."""
    return await parts.maintenance.proposal(caller, namespace, proposal)


@router.post("/review/{proposal}/decide")
async def decide(proposal: TheProposal, asked: DecideRequest, parts: TheParts, caller: TheCaller) -> Decided:
    """Record the person's verdict and carry it out. Of two at once one settles it and the other is told so."""
    return await parts.maintenance.decide(caller, proposal, asked)


@router.post("/promote")
async def promote(asked: PromoteRequest, parts: TheParts, caller: TheCaller) -> Promoted:
    """Bring a fact back from the cold tier, for good."""
    return await parts.maintenance.promote(caller, asked.namespace, asked.fact_id)


@router.post("/revert")
async def revert(asked: RevertRequest, parts: TheParts, caller: TheCaller) -> Reverted:
    """Take back everything a run did, or one decision."""
    return await parts.maintenance.revert(caller, asked.namespace, asked.id)
