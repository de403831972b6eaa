"""Maintenance and review as typed calls of the service. Loads no engine code."""

from __future__ import annotations

from urllib.parse import quote

from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.schemas.maintenance import (
    Cancelled,
    CancelRequest,
    Decided,
    DecidedMany,
    DecideManyRequest,
    DecideRequest,
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


class MaintenanceClient(ServiceClient):
    """A `ServiceClient` that also tidies, reviews and decides."""

    def run_maintenance(self, asked: MaintainRequest) -> MaintenanceJob:
        """Tidy a namespace, or all; a job that goes on after `asked.wait` seconds is asked for with `job`."""
        return self._post("maintenance/run", asked, MaintenanceJob)

    def job(self, job_id: str) -> MaintenanceJob:
        """How a job stands. Raises `NotFoundError` for one that this instance of the service does not know."""
        return self._get(f"maintenance/jobs/{quote(job_id, safe='')}", MaintenanceJob)

    def cancel_maintenance(self, namespace: str | None = None) -> bool:
        """End the run that goes on in a namespace; whether there was one."""
        return self._post("maintenance/cancel", CancelRequest(namespace=namespace), Cancelled, again=True).cancelled

    def maintenance_state(self, namespace: str | None = None) -> MaintenanceState:
        """How maintenance of a namespace stands."""
        return self._get("maintenance/status", MaintenanceState, {"namespace": namespace})

    def schedule(self) -> ScheduleView:
        """The nightly run."""
        return self._get("maintenance/schedule", ScheduleView)

    def change_schedule(self, change: ScheduleChange) -> ScheduleView:
        """Set when the nightly run is, and what else the person allows."""
        return self._call("PATCH", "maintenance/schedule", ScheduleView, change.model_dump_json(exclude_none=True).encode(), again=True)

    def review(self, namespace: str | None = None, *, kind: str | None = None, entity: str | None = None, limit: int = 20) -> Review:
        """What waits for the person."""
        return self._get("review", Review, {"namespace": namespace, "kind": kind, "entity": entity, "limit": limit})

    def decided(self, namespace: str | None = None, *, limit: int = 20) -> tuple[ProposalView, ...]:
        """What was decided last, newest first."""
        return self._get("review/decided", ReviewPast, {"namespace": namespace, "limit": limit}).proposals

    def proposal(self, proposal_id: str, *, namespace: str | None = None) -> ProposalView:
        """One proposal, decided or not."""
        return self._get(f"review/{quote(proposal_id, safe='')}", ProposalView, {"namespace": namespace})

    def decide(self, proposal_id: str, asked: DecideRequest) -> Decided:
        """Record a verdict and carry it out."""
        return self._post(f"review/{quote(proposal_id, safe='')}/decide", asked, Decided)

    def decide_many(self, asked: DecideManyRequest) -> tuple[Decided, ...]:
        """Record several verdicts, each by itself."""
        return self._post("review/decide", asked, DecidedMany).results

    def promote(self, fact_id: str, *, namespace: str | None = None) -> Promoted:
        """Bring a fact back from the cold tier."""
        return self._post("promote", PromoteRequest(fact_id=fact_id, namespace=namespace), Promoted, again=True)

    def revert(self, wanted: str, *, namespace: str | None = None) -> Reverted:
        """Take back a run, or a decision by its proposal's id."""
        return self._post("revert", RevertRequest(id=wanted, namespace=namespace), Reverted)
