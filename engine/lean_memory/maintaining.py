"""The verbs of maintenance, as every surface calls them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from lean_memory.arguments import check_callable, check_count, flag_of, word_of, word_or_none
from lean_memory.clock import Clock
from lean_memory.domain import Fact, FactId
from lean_memory.errors import InvalidInputError, NotFoundError, StorageError
from lean_memory.maintenance.caretaker import Caretaker
from lean_memory.maintenance.deciding import Decision
from lean_memory.maintenance.run import Request, unusable
from lean_memory.open_namespace import OpenNamespace
from lean_memory.proposals import MaintenanceReport, MaintenanceStatus, Outcome, Proposal, ProposalKind, Reverted, ReviewQueue, Verdict
from lean_memory.retention import read_rules
from lean_memory.settings import Settings

_T = TypeVar("_T")


class Maintaining(ABC):
    """What a memory does to keep itself tidy, and what a person decides about it."""

    _clock: Clock
    _settings: Settings

    @abstractmethod
    def namespaces(self) -> list[str]:
        """The names of all namespaces in the data root, sorted."""

    @abstractmethod
    def _with(self, name: str, do: Callable[[OpenNamespace], _T], *, create: bool = True, resume: bool = True) -> _T:
        """Do something with an open namespace."""

    def maintain(
        self,
        namespace: str | None = None,
        *,
        apply: bool = False,
        auto_only: bool = False,
        force: bool = False,
        trigger: str = "library",
        progress: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> list[MaintenanceReport]:
        """Tidy one namespace, or all in turn; gives a report of each. A dry run, which writes nothing at all, unless `apply`.

        With `apply`, exact duplicates and what is provably faint are taken care of, and everything else is proposed to the person;
        `auto_only` proposes nothing. Where little is to do, nothing is done unless `force`. `progress` is called with 0..1 for each namespace,
        `cancelled` is asked between two steps whether to stop. Of all, one whose file cannot be used fails alone. Raises `NotFoundError`.
        """
        check_callable(progress, "progress")
        check_callable(cancelled, "cancelled")
        request = Request(
            apply=flag_of(apply, "apply"),
            auto_only=flag_of(auto_only, "auto_only"),
            force=flag_of(force, "force"),
            trigger=word_of(trigger, "trigger"),
            progress=progress,
            cancelled=cancelled,
        )
        if namespace is not None:
            return [self._tidy(namespace, request)]
        reports: list[MaintenanceReport] = []
        for name in self.namespaces():
            try:
                reports.append(self._tidy(name, request))
            except NotFoundError:
                continue
            except StorageError as error:
                reports.append(unusable(name, request, str(error)))
        return reports

    def cancel_maintenance(self, namespace: str) -> bool:
        """Ask the run that is under way, in whatever process, to stop; gives whether there is one. What it finished stays."""
        return self._care(namespace, lambda care: care.cancel())

    def review_queue(self, namespace: str, *, kind: str | None = None, limit: int = 20, entity: str | None = None) -> ReviewQueue:
        """What waits for a person to decide, grouped by entity, safest first. What nobody decided in 30 days expires."""
        check_count(limit, "limit", most=1000)
        wanted, about = _kind_of(kind), word_or_none(entity, "entity")
        try:
            return self._care(namespace, lambda care: care.queue(kind=wanted, limit=limit, entity=about))
        except NotFoundError:
            # Reading makes no file: nothing waits where nothing was ever added.
            return ReviewQueue(namespace=namespace, groups=(), total=0, by_kind=(), as_of=self._clock())

    def proposal(self, namespace: str, proposal_id: str) -> Proposal:
        """A proposal by its id, decided or not. Raises `NotFoundError`."""
        wanted = word_of(proposal_id, "proposal_id")
        return self._care(namespace, lambda care: care.proposal(wanted))

    def decided(self, namespace: str, limit: int = 20) -> list[Proposal]:
        """The proposals that are no longer pending, the one decided last first."""
        check_count(limit, "limit", most=1000)
        try:
            return self._care(namespace, lambda care: care.decided(limit))
        except NotFoundError:
            return []

    def decide(
        self,
        namespace: str,
        proposal_id: str,
        verdict: str,
        *,
        edited_text: str | None = None,
        choice: str | None = None,
        revision: int | None = None,
        by: str = "person",
    ) -> Outcome:
        """Carry out what a person decided: `approve`, `reject`, `edit` (with `edited_text`), `promote`, `choose` (with `choice`).

        Decided by somebody else already, or other than in the `revision` that was shown: a `Conflict`, and nothing is done. Where what it
        speaks of has changed: `Stale`, and no fact is touched. Raises `NotFoundError`, and `InvalidInputError` for a verdict it does not know.
        """
        wanted = word_of(proposal_id, "proposal_id")
        if revision is not None:
            check_count(revision, "revision")
        decision = Decision(
            verdict=_verdict_of(verdict),
            edited_text=word_or_none(edited_text, "edited_text"),
            choice=word_or_none(choice, "choice"),
            revision=revision,
            by=word_of(by, "by"),
        )
        return self._with(namespace, lambda opened: opened.decide(wanted, decision), create=False)

    def ask_to_forget(self, namespace: str, fact_id: str) -> Proposal:
        """Propose that a fact be erased; a person decides. Raises `NotFoundError`, and `InvalidInputError` where the person kept it before."""
        wanted = FactId(word_of(fact_id, "fact_id"))
        return self._care(namespace, lambda care: care.ask_to_forget(wanted))

    def promote(self, namespace: str, fact_id: str) -> Fact:
        """Bring a fact back to the hot tier, where it stays: it is not demoted again. Raises `NotFoundError`."""
        wanted = FactId(word_of(fact_id, "fact_id"))
        return self._care(namespace, lambda care: care.promote(wanted))

    def revert(self, namespace: str, run_or_proposal_id: str) -> Reverted:
        """Take back what a run did, or a decision, from now on. Raises `NotFoundError`."""
        wanted = word_of(run_or_proposal_id, "run_or_proposal_id")
        return self._care(namespace, lambda care: care.revert(wanted))

    def maintenance_status(self, namespace: str) -> MaintenanceStatus:
        """How maintenance of a namespace stands: the run under way, earlier ones, what waits, whether a run is due. Loads no model."""
        try:
            return self._care(namespace, lambda care: care.status(), resume=False)
        except NotFoundError:
            return MaintenanceStatus(namespace=namespace, running=None, last=None, runs=(), pending=(), new_facts=0, is_due=False, cold=0)

    def _care(self, name: str, do: Callable[[Caretaker], _T], *, resume: bool = True) -> _T:
        return self._with(name, lambda opened: do(opened.upkeep.caretaker), create=False, resume=resume)

    def _tidy(self, name: str, request: Request) -> MaintenanceReport:
        ruled = replace(request, rules=read_rules(self._settings.root).of(name))
        return self._with(name, lambda opened: opened.upkeep.run(ruled), create=False, resume=request.apply)


def _kind_of(kind: str | None) -> ProposalKind | None:
    try:
        return None if kind is None else ProposalKind(word_of(kind, "kind"))
    except ValueError as error:
        raise InvalidInputError(f"kind must be one of {', '.join(ProposalKind)}.") from error


def _verdict_of(verdict: str) -> Verdict:
    try:
        return Verdict(word_of(verdict, "verdict"))
    except ValueError as error:
        raise InvalidInputError(f"The verdict must be one of {', '.join(Verdict)}.") from error
