"""A maintenance run: proposals over a picture of the namespace first, then what is provably safe, in short transactions under a lease."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from lean_memory.clock import system_clock
from lean_memory.domain import Fact, FactId, Instant
from lean_memory.errors import ClosedError, LeanMemoryError
from lean_memory.maintenance import demoting, merging, reports, retention
from lean_memory.maintenance.batches import in_batches
from lean_memory.maintenance.duplicates import Duplicate, exact_duplicates
from lean_memory.maintenance.heart import Heart
from lean_memory.maintenance.staging import Proposer, Shown, Stage, Staged, snapshot_of
from lean_memory.maintenance.vital import is_vital
from lean_memory.models.ports import Embedder
from lean_memory.proposals import MaintenanceReport
from lean_memory.retention import Rule
from lean_memory.store import proposal_rows, runs, tiers
from lean_memory.store.guard import Guard
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction
from lean_memory.store.picture import Picture, faint_facts, read_picture
from lean_memory.store.runs import Lease

FAINT_SALIENCE = 2.0
FAINT_AFTER_MS = 180 * 24 * 60 * 60 * 1000
"""The strict band: of less salience, never served, and neither begun, recorded nor said again for so long."""


class CancelledError(Exception):
    """The run was asked to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How a run is wanted."""

    apply: bool = False
    auto_only: bool = False
    """The safe band alone, without proposals."""
    force: bool = False
    """Even where there is little to do."""
    trigger: str = "library"
    progress: Callable[[float], None] | None = None
    cancelled: Callable[[], bool] | None = None
    rules: Sequence[Rule] = ()
    """Those of retention that hold in the namespace."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One run over a namespace, wet or dry."""

    store: NamespaceStore
    embedder: Embedder
    proposers: Sequence[Proposer]
    request: Request
    started_at: Instant
    shown: Shown
    lease: Lease | None = None
    facts: int = 0
    merged: int = 0
    demoted: int = 0
    expired: int = 0
    staged: Staged = field(default_factory=Staged)

    def perform(self) -> MaintenanceReport:
        """Do it, and say what was done. Raises what the store or a model raises, after noting that the run failed."""
        if not self.request.apply:
            self._look(run=None)
            return self._report("dry-run")
        work = self.store.look(lambda tx: runs.work(tx.connection, self.started_at))
        if not (self.request.force or work.is_due):
            return self._report("not-due", work=work)
        self.lease = self.store.change(partial(_claim, holder=_holder(), cause=self.request.trigger, now=self.started_at), anew=False)
        if self.lease is None:
            return self._report("held")
        try:
            with Heart(self.store, self.lease):
                self._work(self.lease)
            return self._end(self.lease, "done")
        except CancelledError:
            return self._end(self.lease, "cancelled")
        except ClosedError:
            raise
        except LeanMemoryError as error:
            return self._fail(self.lease, str(error))
        except BaseException as error:
            self._fail(self.lease, f"It was broken off ({type(error).__name__}).")
            raise

    def _work(self, lease: Lease) -> None:
        duplicates = self._look(run=lease.row)
        merge = partial(self._merge, lease=lease)
        demote = partial(self._demote, lease=lease)
        in_batches(self.store, duplicates, merge, before=lambda tx, done: self._go_on(tx, lease, 0.5 + 0.25 * done / len(duplicates)))
        # Only now: a fact is not faint if one that was merged into it is not.
        faint = self._faint()
        in_batches(self.store, faint, demote, before=lambda tx, done: self._go_on(tx, lease, 0.75 + 0.2 * done / len(faint)))
        self.expired = self.store.change(lambda tx: self._let_go(tx, lease), anew=False)

    def _look(self, *, run: int | None) -> list[Duplicate]:
        """Take the picture, put away what is due by the person's rules, count what is safe, and stage what is proposed (dry, only count both).

        Gives the exact duplicates among the rest. The rules come first, so that they do what their preview tells, whatever a run finds besides.
        """
        now, model = self.started_at, self.embedder.identity
        picture = self.store.look(lambda tx: read_picture(tx.connection, self.store.name, model, now))
        self.facts = len(picture.facts)
        self._tell(0.1)
        old = self._old()
        due = frozenset(fact.id for fact in old)
        duplicates = list(exact_duplicates(picture.facts, without=picture.held | picture.apart | due))
        settled = due.union(each.duplicate for each in duplicates)
        if self.lease is not None:
            self._put_away(old, self.lease)
        else:
            left = _faint_after(duplicates, self._faint()) | due
            self.merged, self.demoted = len(duplicates), len(left)
            self.expired = self.store.look(lambda tx: proposal_rows.overdue(tx.connection, now))
        if not self.request.auto_only:
            self._propose(picture, settled, run)
        self._tell(0.5)
        return duplicates

    def _propose(self, picture: Picture, settled: frozenset[FactId], run: int | None) -> None:
        snapshot = snapshot_of(picture, self.store.name, self.embedder.thresholds, self.started_at, settled=settled)
        stage = Stage(store=self.store, run=run, picture=picture, before=self._before_staging, shown=self.shown, staged=self.staged)
        for propose in self.proposers:
            for draft in propose(snapshot):
                self._stop_if_asked()
                stage.take(draft)
        for draft in retention.to_ask_about(self.store, self.request.rules, self.started_at):
            self._stop_if_asked()
            stage.take(draft)

    def _before_staging(self, tx: WriteTransaction) -> None:
        if self.lease is not None:
            self._go_on(tx, self.lease, 0.3)

    def _faint(self) -> list[Fact]:
        before = Instant(self.started_at - FAINT_AFTER_MS)
        found = self.store.look(
            lambda tx: faint_facts(tx.connection, self.store.name, salience=FAINT_SALIENCE, before=before, now=self.started_at)
        )
        return [stored.fact for stored in found if not is_vital(stored.fact)]

    def _merge(self, tx: WriteTransaction, pair: Duplicate, *, lease: Lease) -> None:
        con, now = tx.connection, tx.recorded_at
        survivor, duplicate = tiers.open_row(con, pair.survivor), tiers.open_row(con, pair.duplicate)
        if survivor is None or duplicate is None:
            return
        guard = Guard.of(con, (survivor, duplicate))
        merging.merge(tx, (duplicate, pair.duplicate), (survivor, pair.survivor), run=lease.row)
        guard.check(con, now)
        self.merged += 1

    def _demote(self, tx: WriteTransaction, fact: Fact, *, lease: Lease) -> None:
        row = tiers.holding_row(tx.connection, fact.id, tx.recorded_at)
        # What was served since the picture was taken stays.
        if row is not None and not tiers.was_served(tx.connection, row):
            self.demoted += demoting.demote(tx, (row, fact.id), run=lease.row)

    def _old(self) -> list[Fact]:
        """What the person's rules have put away; none of it in a run of the safe band alone."""
        return [] if self.request.auto_only else retention.to_put_away(self.store, self.request.rules, self.started_at)

    def _put_away(self, old: Sequence[Fact], lease: Lease) -> None:
        def put_away(tx: WriteTransaction, fact: Fact) -> None:
            self.demoted += retention.put_away(tx, fact, run=lease.row)

        in_batches(self.store, old, put_away, before=lambda tx, done: self._go_on(tx, lease, 0.1 + 0.1 * done / len(old)))

    def _let_go(self, tx: WriteTransaction, lease: Lease) -> int:
        self._go_on(tx, lease, 0.95)
        proposal_rows.withdraw_changed(tx.connection, tx.recorded_at)
        return proposal_rows.expire(tx.connection, tx.recorded_at)

    def _go_on(self, tx: WriteTransaction, lease: Lease, progress: float) -> None:
        """Show that the run is alive, in the transaction that writes: whoever lost the lease writes nothing."""
        if runs.beat(tx.connection, lease, self.store.clock(), progress):
            raise CancelledError
        self._stop_if_asked()
        self._tell(progress)

    def _stop_if_asked(self) -> None:
        if self.request.cancelled is not None and self.request.cancelled():
            raise CancelledError

    def _tell(self, progress: float) -> None:
        if self.request.progress is not None:
            self.request.progress(progress)

    def _end(self, lease: Lease, state: str) -> MaintenanceReport:
        report = self._report(state)
        self.store.change(lambda tx: runs.finish(tx.connection, lease, report, report.ended_at), anew=False)
        self._tell(1.0)
        return report

    def _fail(self, lease: Lease, problem: str) -> MaintenanceReport:
        report = self._report("failed", problem=problem)
        with suppress(LeanMemoryError):
            self.store.change(lambda tx: runs.finish(tx.connection, lease, report, report.ended_at), anew=False)
        return report

    def _report(self, state: str, *, work: runs.Work | None = None, problem: str = "") -> MaintenanceReport:
        return reports.report(
            MaintenanceReport(
                namespace=self.store.name,
                state=state,
                run_id=None if self.lease is None else self.lease.run_id,
                dry_run=not self.request.apply,
                started_at=self.started_at,
                ended_at=self.store.clock(),
                facts=self.facts,
                merged=self.merged,
                demoted=self.demoted,
                proposed=self.staged.by_kind,
                held_back=self.staged.held_back,
                expired=self.expired,
                sentence=problem,
                trigger=self.request.trigger,
            ),
            work=work,
        )


def _faint_after(duplicates: Sequence[Duplicate], faint: Sequence[Fact]) -> set[FactId]:
    """Which of the faint facts still were once the duplicates are merged: each is gone, and its survivor is no fainter than it."""
    left = {fact.id for fact in faint}
    strong = {pair.survivor for pair in duplicates if pair.duplicate not in left}
    return left - strong - {pair.duplicate for pair in duplicates}


def unusable(namespace: str, request: Request, problem: str) -> MaintenanceReport:
    """The report on a namespace whose file cannot be used."""
    now = system_clock()
    return reports.report(
        MaintenanceReport(
            namespace=namespace,
            state="failed",
            dry_run=not request.apply,
            started_at=now,
            ended_at=now,
            sentence=problem,
            trigger=request.trigger,
        )
    )


def _claim(tx: WriteTransaction, *, holder: str, cause: str, now: Instant) -> Lease | None:
    return runs.claim(tx.connection, holder=holder, cause=cause, now=now)


def _holder() -> str:
    return f"{platform.node()}, process {os.getpid()}, thread {threading.get_native_id()}"
