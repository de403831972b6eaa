"""A store that was maintained and one that never was, told the same things afterwards, answer every question about a moment alike."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings, strategies as st

from lean_memory.domain import Candidate, Fact, Instant, RecordKind, Visibility
from lean_memory.maintenance.deciding import Decision
from lean_memory.maintenance.drafts import Draft
from lean_memory.proposals import Settled, Verdict
from support.maintenance import House, about, demotion, merge, over, same_entity, summary
from support.statements import SteadyClock, day

SLOTS = {"likes": False, "job": True}
VALUES = ["tea", "coffee", "water", "milk"]

names = st.sampled_from(["Bob", "Robert"])
slots = st.sampled_from(list(SLOTS))
asserted = st.tuples(st.just("say"), names, slots, st.sampled_from(VALUES), st.integers(0, 3), st.booleans())
ended = st.tuples(st.just("end"), names, slots, st.just(""), st.integers(0, 3), st.just(False))
told = st.one_of(asserted, asserted, asserted, ended)
cares = st.tuples(st.just("care"), st.sampled_from(["merge", "chain", "demote", "summarise"]), st.integers(0, 9))
Step = tuple[str | int | bool, ...]


@dataclass(slots=True)
class Two:
    """The two stores."""

    folder: Path
    kept: House = field(init=False)
    left: House = field(init=False)
    moments: list[Instant] = field(default_factory=list[Instant])

    def __post_init__(self) -> None:
        clock = SteadyClock(day(0))
        self.kept, self.left = House(root=self.folder / "kept", clock=clock), House(root=self.folder / "left", clock=clock)

    def close(self) -> None:
        self.kept.close()
        self.left.close()

    def tell(self, step: Step) -> None:
        act, name, slot, value, ago, additive = step
        self.kept.wait(1)
        at = Instant(self.kept.clock.now - int(ago) * 86_400_000 - int(ago))
        self.moments += [at, self.kept.clock.now]
        statement = about if act == "say" else over
        more: dict[str, object] = {"additive": additive} if act == "say" else {}
        candidate: Candidate = statement(str(name), str(slot), str(value), functional=SLOTS[str(slot)], **more)
        # Each episode says something of its own as well, so that there is always a fact to be given.
        beside = about("Eve", "says", f"number {len(self.moments)}")
        for house in (self.kept, self.left):
            house.said(beside, candidate, at=at)

    def care(self, what: str, number: int) -> None:
        """Maintain one of the two; the other decides nothing but who is who, as that is the person's word."""
        self.kept.wait(1)
        draft = self._draft(what, number)
        if draft is None:
            self.kept.run()
            return
        proposal = self.kept.proposed(draft)
        assert isinstance(self.kept.care.decide(proposal.id, Decision(verdict=Verdict.APPROVE)), Settled)

    def _draft(self, what: str, number: int) -> Draft | None:
        found = self.kept.store.facts(visibility=Visibility(now=self.kept.clock.now), modalities=None)
        facts = sorted((f for f in found if f.subject != "Eve" and f.record_kind is RecordKind.FACT), key=lambda f: (f.valid_at, f.id))
        if not facts:
            return None
        one = facts[number % len(facts)]
        alike = [f for f in facts if (f.subject, f.predicate) == (one.subject, one.predicate) and f.valid_to is None]
        if what == "demote":
            return demotion(one)
        if len(alike) < 2:
            return None
        return summary(f"In short {number}.", alike, alike[:1]) if what == "summarise" else merge(*alike[: 2 if what == "chain" else 3])

    def is_alike(self) -> None:
        for moment in sorted({m + shift for m in self.moments for shift in (0, 1)}):
            assert _as_of(self.kept, Instant(moment)) == _as_of(self.left, Instant(moment))


def _as_of(house: House, moment: Instant) -> Counter[tuple[str, str, int, int | None]]:
    found = house.store.facts(visibility=Visibility(now=house.clock.now, as_of=moment), modalities=None)
    return Counter(_told(fact) for fact in found if fact.record_kind is RecordKind.FACT)


def _told(fact: Fact) -> tuple[str, str, int, int | None]:
    return fact.subject, fact.fact_text, fact.valid_at, fact.valid_to


@settings(max_examples=20, deadline=None)
@given(
    before=st.lists(asserted, min_size=2, max_size=6),
    middle=st.lists(st.one_of(cares, told), min_size=1, max_size=6),
    after=st.lists(told, max_size=6),
)
def test_what_is_said_after_maintenance_means_what_it_would_have_meant(before: list[Step], middle: list[Step], after: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        two = Two(Path(folder))
        try:
            for step in (*before, *middle, *after):
                if step[0] == "care":
                    two.care(str(step[1]), int(step[2]))
                else:
                    two.tell(step)
            two.is_alike()
            assert two.kept.store.check() == []
        finally:
            two.close()


@settings(max_examples=8, deadline=None)
@given(before=st.lists(asserted, min_size=2, max_size=6), after=st.lists(told, max_size=6))
def test_so_it_is_with_exact_duplicates_of_two_names_that_are_one(before: list[Step], after: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        two = Two(Path(folder))
        try:
            for step in (("say", "Bob", "likes", "tea", 0, False), ("say", "Robert", "likes", "tea", 0, False), *before):
                two.tell(step)
            for house in (two.kept, two.left):
                facts = {f.subject: f for f in house.store.facts(visibility=Visibility(now=house.clock.now), modalities=None)}
                house.care.decide(house.proposed(same_entity(facts["Bob"], facts["Robert"])).id, Decision(verdict=Verdict.APPROVE))
            two.kept.wait(1)
            assert two.kept.run().merged > 0
            for step in after:
                two.tell(step)
            two.is_alike()
            assert two.kept.store.check() == []
        finally:
            two.close()
