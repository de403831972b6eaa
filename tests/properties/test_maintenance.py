"""Whatever maintenance does, no answer about the past changes, and what is said later means what it would have meant without it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lean_memory.domain import Fact, Instant, RecordKind, Visibility
from lean_memory.maintenance.deciding import Decision
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import BOTH, Proposal, ProposalKind, ProposalState, Verdict
from support.maintenance import House, about, conflict, demotion, merge, over, same_entity, summary
from support.statements import SteadyClock, day

subjects = st.sampled_from(["Bob", "Robert"])
values = st.sampled_from(["tea", "green tea", "coffee", "water", "milk"])
SLOTS = {"likes": False, "job": True}
predicates = st.sampled_from(list(SLOTS))


class Maintenance(RuleBasedStateMachine):
    """add, run, decide, revert, restart, in any order, beside a small model: the answers of the past as they were when they were past."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.house = House(root=Path(self.folder.name), clock=SteadyClock(day(0)))
        self.moments: list[Instant] = []
        self.runs: list[str] = []
        self.decided: list[str] = []

    @initialize(told=st.lists(st.tuples(subjects, predicates, values), min_size=3, max_size=6))
    def begin_with_some(self, told: list[tuple[str, str, str]]) -> None:
        for subject, predicate, value in told:
            self.add(subject, predicate, value, 0, additive=True)

    @rule(subject=subjects, predicate=predicates, value=values, ago=st.integers(0, 3), additive=st.booleans())
    def add(self, subject: str, predicate: str, value: str, ago: int, *, additive: bool) -> None:
        self._next()
        candidate = about(subject, predicate, value, functional=SLOTS[predicate], additive=additive)
        self.house.said(candidate, at=Instant(self.house.clock.now - ago * 86_400_000 - ago))

    @rule(subject=subjects, predicate=predicates, value=st.one_of(values, st.just("")))
    def take_back(self, subject: str, predicate: str, value: str) -> None:
        self._next()
        said = over(subject, predicate, value, functional=SLOTS[predicate])
        self.house.said(about("Eve", "says", str(self.house.clock.now)), said)

    @rule(data=st.data())
    def run(self, data: st.DataObject) -> None:
        self._next()
        drafts = [draft for _ in range(data.draw(st.integers(1, 4))) if (draft := self._draft(data)) is not None]
        latest = self._said_latest()
        report = self._with_the_past_kept(lambda: self.house.run(*drafts))
        assert report.state == "done" and report.run_id is not None
        assert self._said_latest() == latest
        self.runs.append(report.run_id)

    @precondition(lambda self: len(self._latest()) > 1)
    @rule(data=st.data())
    def propose_and_decide(self, data: st.DataObject) -> None:
        self.run(data)
        if self.house.waiting():
            self.decide(data)

    @precondition(lambda self: self.house.waiting())
    @rule(data=st.data())
    def decide(self, data: st.DataObject) -> None:
        self._next()
        proposal = data.draw(st.sampled_from(self.house.waiting()))
        decision = data.draw(_decisions(proposal))
        self._with_the_past_kept(lambda: self.house.care.decide(proposal.id, decision))
        assert self.house.care.proposal(proposal.id).state in {ProposalState.APPROVED, ProposalState.REJECTED, ProposalState.STALE}
        self.decided.append(proposal.id)

    @precondition(lambda self: self.runs or self.decided)
    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        self._next()
        wanted = data.draw(st.sampled_from((self.decided or self.runs)[-4:] + self.runs[-1:]))
        self._with_the_past_kept(lambda: self.house.care.revert(wanted))

    @rule()
    def restart(self) -> None:
        self.house.close()
        self.house.open()

    @invariant()
    def is_sound(self) -> None:
        assert self.house.store.check() == []

    def teardown(self) -> None:
        self.house.close()
        self.folder.cleanup()

    def _next(self) -> None:
        self.house.wait(1)
        self.moments.append(self.house.clock.now)

    def _with_the_past_kept(self, do: Callable[[], object]) -> object:
        grid = [Instant(m + shift) for m in self.moments[-9:] for shift in (-1, 0) if m + shift < self.house.clock.now]
        before = [(self.house.as_of(m), self.house.known_at(m)) for m in grid]
        done = do()
        assert [(self.house.as_of(m), self.house.known_at(m)) for m in grid] == before
        return done

    def _latest(self) -> list[Fact]:
        found = self.house.store.facts(visibility=Visibility(now=self.house.clock.now), modalities=None)
        return [fact for fact in found if fact.record_kind is RecordKind.FACT and fact.subject != "Eve"]

    def _said_latest(self) -> set[tuple[str, str, str]]:
        """What can be found to hold now; two names of one are one."""
        one = dict.fromkeys(("Bob", "Robert"), "Bob") if self._are_one() else {}
        found = self.house.store.facts(visibility=Visibility(now=self.house.clock.now, include_cold=True), modalities=None)
        return {(one.get(fact.subject, fact.subject), fact.predicate, fact.object or fact.fact_text) for fact in found}

    def _are_one(self) -> bool:
        return self.house.store.look(lambda tx: tx.connection.execute("SELECT 1 FROM entity_alias").fetchone() is not None)

    def _draft(self, data: st.DataObject) -> Draft | None:
        facts = sorted(self._latest(), key=lambda fact: (fact.valid_at, fact.recorded_at, fact.id))
        if len(facts) < 2:
            return None
        one = facts[data.draw(st.integers(0, len(facts) - 1))]
        alike = [f for f in facts if (f.subject, f.predicate) == (one.subject, one.predicate) and f.valid_to is None]
        others = [f for f in facts if f.subject != one.subject]
        kind = data.draw(st.sampled_from(["merge", "merge", "demotion", "summary", "conflict", "same"]))
        if kind == "demotion":
            return demotion(one)
        if kind == "same" and others:
            return same_entity(one, others[0])
        if len(alike) < 2:
            return None
        drafts = {"merge": merge, "conflict": conflict}
        return drafts[kind](*alike[:3]) if kind in drafts else summary(f"In short: {len(alike)}.", alike, alike[:1])


def _decisions(proposal: Proposal) -> st.SearchStrategy[Decision]:
    verdicts = {
        ProposalKind.MERGE: [Decision(verdict=Verdict.APPROVE)],
        ProposalKind.DEMOTION: [Decision(verdict=Verdict.APPROVE), Decision(verdict=Verdict.PROMOTE)],
        ProposalKind.SUMMARY: [Decision(verdict=Verdict.APPROVE), Decision(verdict=Verdict.EDIT, edited_text="In my words.")],
        ProposalKind.CONFLICT: [Decision(verdict=Verdict.CHOOSE, choice=choice) for choice in proposal.choices],
        ProposalKind.SAME_ENTITY: [Decision(verdict=Verdict.APPROVE), Decision(verdict=Verdict.CHOOSE, choice=BOTH)],
    }
    return st.sampled_from([*verdicts[proposal.kind] * 3, Decision(verdict=Verdict.REJECT)])


TestMaintenance = Maintenance.TestCase
TestMaintenance.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
