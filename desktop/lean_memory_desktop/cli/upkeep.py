"""Maintenance and review as a command reaches them: through the service where one runs, else in this process. Both answer in one form."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from lean_memory.errors import LeanMemoryError
from lean_memory_bridge import maintenance_views as views
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.nights import read_record, read_settings
from lean_memory_bridge.schemas.maintenance import (
    Decided,
    DecideRequest,
    MaintainRequest,
    MaintenanceState,
    Promoted,
    ProposalView,
    ReportView,
    Reverted,
    Review,
    ScheduleView,
)
from lean_memory_desktop.cli.opening import check_namespace, check_root, data_root, known_files
from lean_memory_desktop.cli.options import Options

if TYPE_CHECKING:
    from lean_memory import Memory

Tell = Callable[[float], None]
"""Told how much of the namespace in hand is done, 0 to 1."""
_LOOK_EVERY = 0.3


@contextmanager
def opened(options: Options) -> Generator[ServedUpkeep | LocalUpkeep]:
    """Whatever there is to reach maintenance of `--root`. Raises `NotFoundError` where the person named a folder or a namespace that is not there."""
    check_root(options)
    root = data_root(options)
    client = MaintenanceClient.find(root)
    if client is not None:
        check_namespace(options, lambda: client.namespaces().namespaces, client.status)
        yield ServedUpkeep(client)
        return
    with known_files(options) as memory:
        yield LocalUpkeep(memory, root)


class ServedUpkeep:
    """What the service does."""

    def __init__(self, client: MaintenanceClient) -> None:
        self._client = client

    def maintain(self, asked: MaintainRequest, tell: Tell) -> list[ReportView]:
        """Tidy, and wait for the end; Ctrl-C ends the run in good order."""
        job = self._client.run_maintenance(asked)
        with _stopping() as stop:
            while job.state == "running":
                tell(job.progress or 0.0)
                if stop():
                    # Of several namespaces each that is begun is ended.
                    self._client.cancel_maintenance(job.namespace)
                time.sleep(_LOOK_EVERY)
                job = self._client.job(job.id)
            if stop():
                raise KeyboardInterrupt
        return list(job.reports)

    def review(self, namespace: str, *, kind: str | None, entity: str | None, limit: int) -> Review:
        """What waits for the person."""
        return self._client.review(namespace, kind=kind, entity=entity, limit=limit)

    def decided(self, namespace: str, limit: int) -> tuple[ProposalView, ...]:
        """What was decided last."""
        return self._client.decided(namespace, limit=limit)

    def proposal(self, namespace: str, proposal_id: str) -> ProposalView:
        """One proposal. Raises `NotFoundError`."""
        return self._client.proposal(proposal_id, namespace=namespace)

    def decide(self, namespace: str, proposal_id: str, asked: DecideRequest) -> Decided:
        """Record a verdict and carry it out."""
        return self._client.decide(proposal_id, asked.model_copy(update={"namespace": namespace}))

    def promote(self, namespace: str, fact_id: str) -> Promoted:
        """Bring a fact back from the cold tier. Raises `NotFoundError`."""
        return self._client.promote(fact_id, namespace=namespace)

    def revert(self, namespace: str, wanted: str) -> Reverted:
        """Take a run or a decision back."""
        return self._client.revert(wanted, namespace=namespace)

    def state(self, namespace: str) -> MaintenanceState:
        """How maintenance of a namespace stands."""
        return self._client.maintenance_state(namespace)

    def cancel(self, namespace: str) -> bool:
        """End the run that goes on."""
        return self._client.cancel_maintenance(namespace)


class LocalUpkeep:
    """What this process does on the files."""

    def __init__(self, memory: Memory, root: Path) -> None:
        self._memory, self._root = memory, root

    def maintain(self, asked: MaintainRequest, tell: Tell) -> list[ReportView]:
        """Tidy; Ctrl-C ends the run in good order."""
        # A damaged one is among them, so that it is told of and not passed over.
        names = [one.name for one in self._memory.status()] if asked.every or asked.namespace is None else [asked.namespace]
        with _stopping() as stop:
            reports = [self._tidied(name, asked, tell, stop) for name in names if not stop()]
            if stop():
                raise KeyboardInterrupt
        return reports

    def _tidied(self, namespace: str, asked: MaintainRequest, tell: Tell, stop: Callable[[], bool]) -> ReportView:
        started_at = _now()
        try:
            report = self._memory.maintain(
                namespace,
                apply=asked.apply,
                auto_only=asked.auto_only,
                force=asked.force,
                trigger=asked.trigger,
                progress=tell,
                cancelled=stop,
            )[0]
        except LeanMemoryError as error:
            if not asked.every:
                raise
            # One that cannot be used leaves the others their turn.
            return views.failed_view(namespace, asked, started_at=started_at, ended_at=_now(), error=error)
        return views.report_view(report)

    def review(self, namespace: str, *, kind: str | None, entity: str | None, limit: int) -> Review:
        """What waits for the person."""
        from lean_memory.proposals import ProposalKind

        chosen = None if kind is None else ProposalKind(kind)
        return views.review_view(self._memory.review_queue(namespace, kind=chosen, entity=entity, limit=limit))

    def decided(self, namespace: str, limit: int) -> tuple[ProposalView, ...]:
        """What was decided last."""
        return tuple(views.proposal_view(proposal) for proposal in self._memory.decided(namespace, limit))

    def proposal(self, namespace: str, proposal_id: str) -> ProposalView:
        """One proposal. Raises `NotFoundError`."""
        return views.proposal_view(self._memory.proposal(namespace, proposal_id))

    def decide(self, namespace: str, proposal_id: str, asked: DecideRequest) -> Decided:
        """Record a verdict and carry it out."""
        from lean_memory.proposals import Verdict

        outcome = self._memory.decide(
            namespace,
            proposal_id,
            Verdict(asked.decision),
            edited_text=asked.edited_text,
            choice=asked.choice,
            revision=asked.revision,
        )
        return views.decided_view(outcome)

    def promote(self, namespace: str, fact_id: str) -> Promoted:
        """Bring a fact back from the cold tier. Raises `NotFoundError`."""
        return views.promoted_view(namespace, self._memory.promote(namespace, fact_id))

    def revert(self, namespace: str, wanted: str) -> Reverted:
        """Take a run or a decision back."""
        return views.reverted_view(namespace, self._memory.revert(namespace, wanted))

    def state(self, namespace: str) -> MaintenanceState:
        """How maintenance of a namespace stands."""
        return views.state_view(self._memory.maintenance_status(namespace), schedule_of(self._root))

    def cancel(self, namespace: str) -> bool:
        """End the run that goes on, in whatever process."""
        return self._memory.cancel_maintenance(namespace)


def schedule_of(root: Path) -> ScheduleView:
    """The nightly run, by its files."""
    return views.schedule_view(read_settings(root), read_record(root))


@contextmanager
def _stopping() -> Generator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: the run then ends at its next batch instead of anywhere."""
    pressed: list[int] = []

    def press(number: int, _frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _now() -> int:
    return time.time_ns() // 1_000_000
