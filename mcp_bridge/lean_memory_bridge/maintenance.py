"""The verbs of maintenance and review, for tools and routes alike, with the rules of the house (`verbs.py`) and one of their own: what an
assistant records without the person having been asked through it never erases, and can be forbidden altogether."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lean_memory.errors import InvalidInputError, NotFoundError, StorageError
from lean_memory.proposals import ProposalKind
from lean_memory_bridge import maintenance_views as views, nights
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.client_book import OWNER
from lean_memory_bridge.jobs import Jobs
from lean_memory_bridge.refusals import NotAllowedError
from lean_memory_bridge.schemas.maintenance import (
    Cancelled,
    CancelRequest,
    Decided,
    DecideItem,
    DecideRequest,
    MaintainRequest,
    MaintenanceJob,
    MaintenanceState,
    Promoted,
    ProposalView,
    Reverted,
    Review,
    ScheduleChange,
    ScheduleView,
    Upkeep,
)
from lean_memory_bridge.verbs import Asked, Verbs

T = TypeVar("T")

PERSON = "person"


@dataclass(slots=True, kw_only=True)
class Maintenance:
    """Maintenance of one data root."""

    root: Path
    verbs: Verbs
    jobs: Jobs

    async def run(self, caller: Caller, asked: MaintainRequest) -> MaintenanceJob:
        """Tidy a namespace, or all, as far as it gets within `asked.wait` seconds; the rest goes on in the background."""
        if asked.every:
            caller.must_be_owner()
        namespace = None if asked.every else asked.namespace or caller.namespace

        def wanted() -> list[str]:
            # A damaged one is among them, so that it is told of and not passed over.
            names = [one.name for one in self.verbs.memory.status()]
            if namespace is not None and namespace not in names:
                raise NotFoundError(f"There is no namespace {namespace[:80]!r}; nothing was tidied.")
            return names if namespace is None else [namespace]

        names = await self._do(caller, "maintain", namespace, wanted)
        return await self.jobs.wait(self.jobs.begin(asked, names), asked.wait)

    async def job(self, caller: Caller, job_id: str) -> MaintenanceJob:
        """How a job stands."""
        caller.must_be_let_in()
        return self.jobs.look(job_id)

    async def cancel(self, caller: Caller, asked: CancelRequest) -> Cancelled:
        """End the run that goes on in a namespace, in good order."""
        where = asked.namespace or caller.namespace

        def cancel() -> bool:
            ours = self.jobs.cancel(where)
            return self.verbs.memory.cancel_maintenance(where) or ours

        return Cancelled(cancelled=await self._do(caller, "cancel-maintenance", where, cancel))

    async def state(self, caller: Caller, namespace: str | None) -> MaintenanceState:
        """How maintenance of a namespace stands."""
        where = namespace or caller.namespace
        status = await self._do(caller, "maintenance-status", where, lambda: self.verbs.memory.maintenance_status(where))
        return views.state_view(status, await self.schedule())

    async def review(
        self, caller: Caller, namespace: str | None, *, kind: str | None = None, limit: int = 20, entity: str | None = None
    ) -> Review:
        """What waits for the person; overdue proposals expire as a side effect."""
        where = namespace or caller.namespace
        chosen = None if kind is None else ProposalKind(kind)
        return await self._do(
            caller,
            "review",
            where,
            lambda: views.review_view(self.verbs.memory.review_queue(where, kind=chosen, limit=limit, entity=entity)),
            given=lambda queue: (sum(len(one.facts) for group in queue.groups for one in group.proposals), queue),
        )

    async def decided(self, caller: Caller, namespace: str | None, limit: int) -> tuple[ProposalView, ...]:
        """What was decided last, newest first."""
        where = namespace or caller.namespace
        found = await self._do(caller, "decided", where, lambda: self.verbs.memory.decided(where, limit))
        return tuple(views.proposal_view(proposal) for proposal in found)

    async def proposal(self, caller: Caller, namespace: str | None, proposal_id: str) -> ProposalView:
        """One proposal, decided or not."""
        where = namespace or caller.namespace
        return await self._do(
            caller,
            "proposal",
            where,
            lambda: views.proposal_view(self.verbs.memory.proposal(where, proposal_id)),
            given=lambda proposal: (len(proposal.facts), proposal),
        )

    async def decide(self, caller: Caller, proposal_id: str, asked: DecideRequest, *, person_asked: bool = False) -> Decided:
        """Record a verdict and carry it out. `person_asked` says that the person confirmed it through the assistant."""
        where = asked.namespace or caller.namespace
        await self._must_be_allowed_to_decide(caller, where, proposal_id, asked.decision, person_asked=person_asked)
        by = PERSON if caller.is_owner or person_asked else f"agent:{caller.name}"

        def decide() -> Decided:
            outcome = self.verbs.memory.decide(
                where,
                proposal_id,
                asked.decision,
                edited_text=asked.edited_text,
                choice=asked.choice,
                revision=asked.revision,
                by=by,
            )
            return views.decided_view(outcome)

        decided = await self._do(caller, "decide", where, decide, writes=True)
        if decided.proposal is not None and decided.proposal.kind == ProposalKind.FORGET:
            self.verbs.repeats.forget()
        return decided

    async def decide_many(self, caller: Caller, namespace: str | None, items: Sequence[DecideItem]) -> tuple[Decided, ...]:
        """Record several verdicts, each by itself."""
        done: list[Decided] = []
        for item in items:
            asked = DecideRequest(
                namespace=namespace,
                decision=item.decision,
                edited_text=item.edited_text,
                choice=item.choice,
                revision=item.revision,
            )
            try:
                done.append(await self.decide(caller, item.id, asked))
            except (NotFoundError, InvalidInputError, NotAllowedError) as error:
                done.append(Decided(outcome="refused", proposal=None, sentence=str(error)))
        return tuple(done)

    async def propose_forget(self, caller: Caller, namespace: str, fact_id: str) -> ProposalView:
        """Ask the person to confirm an erasure, where the assistant has no way to."""
        made = await self._do(caller, "propose-forget", namespace, lambda: self.verbs.memory.ask_to_forget(namespace, fact_id), writes=True)
        return views.proposal_view(made)

    async def promote(self, caller: Caller, namespace: str | None, fact_id: str) -> Promoted:
        """Bring a fact back from the cold tier."""
        where = namespace or caller.namespace
        fact = await self._do(caller, "promote", where, lambda: self.verbs.memory.promote(where, fact_id), writes=True)
        return views.promoted_view(where, fact)

    async def revert(self, caller: Caller, namespace: str | None, wanted: str) -> Reverted:
        """Take a run or a decision back."""
        where = namespace or caller.namespace
        if not caller.is_owner:
            how = "they can with `lean-memory revert`, or in the window"
            raise NotAllowedError(f"Nothing was taken back: only the person takes back what was decided; {how}.")
        done = await self._do(caller, "revert", where, lambda: self.verbs.memory.revert(where, wanted), writes=True)
        return views.reverted_view(where, done)

    async def schedule(self) -> ScheduleView:
        """The nightly run."""
        return await asyncio.to_thread(lambda: views.schedule_view(nights.read_settings(self.root), nights.read_record(self.root)))

    async def change_schedule(self, change: ScheduleChange) -> ScheduleView:
        """Set when the nightly run is, and what else the person allows. The schedule notices within a minute."""
        at = None if change.at is None else nights.time_of(change.at)
        await asyncio.to_thread(lambda: nights.change_settings(self.root, at=at, paused=change.paused, agents_decide=change.agents_decide))
        self.verbs.changed()
        return await self.schedule()

    async def upkeep(self) -> tuple[Upkeep, ...]:
        """How every namespace that can be used stands, for the service's own use."""
        return await self.verbs.queue.run(OWNER, self._upkeep)

    def _upkeep(self) -> tuple[Upkeep, ...]:
        memory = self.verbs.memory
        found: list[Upkeep] = []
        for one in memory.status():
            if one.writable and not one.problems:
                try:
                    found.append(views.upkeep_view(memory.maintenance_status(one.name)))
                except StorageError:
                    # It was sound a moment ago; the status of the namespaces tells of it from now on.
                    continue
        return tuple(found)

    async def _must_be_allowed_to_decide(
        self, caller: Caller, namespace: str, proposal_id: str, decision: str, *, person_asked: bool
    ) -> None:
        if caller.is_owner or person_asked:
            return
        proposal = await self.proposal(caller, namespace, proposal_id)
        if proposal.state != "pending":
            # Nothing can be done to it any more, and the caller is told so.
            return
        how = f"the person can decide it with `lean-memory decide {proposal_id} {decision}`, or in the window"
        if not (await asyncio.to_thread(nights.read_settings, self.root)).agents_decide:
            raise NotAllowedError(f"Nothing was decided: the person has assistants record no verdicts; {how}.")
        if decision != "reject" and proposal.kind == ProposalKind.FORGET:
            raise NotAllowedError(f"Nothing was erased: only the person's own word erases; {how}.")

    async def _do(
        self,
        caller: Caller,
        verb: str,
        namespace: str | None,
        work: Callable[[], T],
        *,
        writes: bool = False,
        given: Callable[[T], tuple[int, object]] = lambda _: (0, None),
    ) -> T:
        return await self.verbs.done(Asked(caller=caller, verb=verb, namespace=namespace, writes=writes), work, given)
