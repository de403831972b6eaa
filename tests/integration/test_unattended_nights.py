"""What happens to a memory whose owner never looks at the queue: nothing that matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Fact, Instant, Tier
from lean_memory.proposals import ProposalKind
from support.embedding import WordEmbedder
from support.statements import SteadyClock, day

FACTS = 250
NIGHTS = 30
DAY = 86_400_000

THINGS = ["kettle", "atlas", "violin", "canoe", "lamp", "bridge", "quilt", "compass", "anchor", "easel"]
VITAL = [
    "My name is Ana.",
    "I'm allergic to peanuts.",
    "Leo has asthma.",
    "My son is Leo.",
    "I was born in Porto.",
    "My birthday is May 4.",
    "I am vegan.",
    "Insulin saves me.",
    "我对花生过敏。",
    "我妈妈叫李华。",
]


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock(day(0))


@pytest.fixture
def memory(root: Path, clock: SteadyClock) -> Iterator[Memory]:
    with Memory(root=root, embedder=WordEmbedder(), clock=clock) as opened:
        yield opened


def sentences(count: int) -> Iterator[dict[str, object]]:
    kinds = (
        "I like the {0} number {1}.",
        "I visited {0} {1}.",
        "My {0} {1} is broken.",
        "The {0} {1} stands in the hall.",
        "I own a {0} {1}.",
    )
    for number in range(count):
        yield {"text": kinds[number % len(kinds)].format(THINGS[number % 7], number), "t_ref": day(-(number * 7 % 600))}


def latest(memory: Memory) -> set[str]:
    return {fact.fact_text for fact in memory.facts("ana")}


def test_thirty_nights_change_nothing_but_what_is_safe_and_every_run_is_taken_back(memory: Memory, clock: SteadyClock) -> None:
    memory.add_many("ana", sentences(FACTS))
    before = latest(memory)
    grid = [Instant(day(0) - days * DAY) for days in (0, 50, 300, 550)]
    past = [memory.facts("ana", as_of=moment) for moment in grid]
    runs: list[str] = []
    moved = 0
    for _ in range(NIGHTS):
        clock.now = Instant(clock.now + DAY)
        [report] = memory.maintain("ana", apply=True, force=True, trigger="nightly")
        assert (report.state, sum(count for _, count in report.proposed) <= 50, report.run_id is None) == ("done", True, False)
        runs.append(str(report.run_id))
        moved += report.merged + report.demoted
        cold = {fact.fact_text for fact in memory.facts("ana", include_cold=True) if fact.tier is Tier.COLD}
        assert latest(memory) | cold == before
        assert len(cold) <= moved
    assert [_as_shown(memory.facts("ana", as_of=moment)) for moment in grid] == [_as_shown(facts) for facts in past]
    for run in reversed(runs):
        assert memory.revert("ana", run).left == 0
    assert (latest(memory), memory.check("ana"), memory.review_queue("ana").total) == (before, [], 0)


def _as_shown(facts: list[Fact]) -> list[tuple[str, str, int, int | None]]:
    return [(fact.id, fact.fact_text, fact.valid_at, fact.valid_to) for fact in facts]


def test_what_is_vital_stays_hot_for_four_hundred_days(memory: Memory, clock: SteadyClock) -> None:
    memory.add_many("ana", VITAL)
    before = memory.facts("ana")
    assert len(before) >= len(VITAL)
    for _ in range(400 // 10):
        clock.now = Instant(clock.now + 10 * DAY)
        [report] = memory.maintain("ana", apply=True, force=True)
        assert report.demoted == 0
        queue = memory.review_queue("ana")
        assert all(proposal.kind is not ProposalKind.DEMOTION for group in queue.groups for proposal in group.proposals)
    assert memory.facts("ana") == before


def test_an_approved_summary_leaves_every_source_to_be_found(memory: Memory, clock: SteadyClock) -> None:
    memory.add_many("ana", [{"text": f"I like the {thing} museum.", "t_ref": day(-200 + place)} for place, thing in enumerate(THINGS)])
    clock.now = day(100)
    memory.maintain("ana", apply=True, force=True)
    summaries = [p for group in memory.review_queue("ana").groups for p in group.proposals if p.kind is ProposalKind.SUMMARY]
    assert summaries
    for proposal in summaries:
        memory.decide("ana", proposal.id, "approve")
        for source in proposal.facts:
            found = memory.search("ana", source.fact_text, 10)
            told = [hit.fact.fact_text for hit in found]
            assert source.fact_text in told or proposal.text in told
            if source.fact_text not in told:
                assert source.object.casefold() in proposal.text.casefold()
