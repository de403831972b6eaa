"""What happens to a memory whose owner never looks at the queue: nothing that matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Fact, Instant, Tier
from lean_memory.proposals import ProposalKind
from lean_memory.store.entities import read_as
from lean_memory.store.namespace_store import WriteTransaction
from support.embedding import WordEmbedder
from support.statements import SteadyClock, day, open_store

FACTS = 1000
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
        "I play the {0} number {1}.",
        "I use the {0} number {1}.",
        "Room {1} holds the {0}.",
        "I own a {0} {1}.",
    )
    for number in range(count):
        yield {"text": kinds[number % len(kinds)].format(THINGS[number % 7], number), "t_ref": day(-200 - number * 7 % 600)}


def latest(memory: Memory) -> set[str]:
    return {fact.fact_text for fact in memory.facts("ana")}


def let_a_night_have_work(root: Path, clock: SteadyClock) -> None:
    """Make trifles of what rooms hold, and one of Bob and Robert: what a night may touch without being told to."""

    def write(tx: WriteTransaction) -> None:
        tx.connection.execute("UPDATE fact SET salience = 1 WHERE fact_text LIKE '%holds the%'")
        assert read_as(tx.connection, "Robert", "Bob")

    store = open_store(root, clock=clock)
    try:
        store.change(write)
    finally:
        store.close()


def test_thirty_nights_change_nothing_but_what_is_safe_and_every_run_is_taken_back(memory: Memory, clock: SteadyClock, root: Path) -> None:
    clock.now = day(-200)
    memory.add_many("ana", sentences(FACTS - 2 * len(THINGS)))
    memory.add_many("ana", [f"{name} owns a {thing}." for name in ("Bob", "Robert") for thing in THINGS])
    let_a_night_have_work(root, clock)
    clock.now = day(0)
    before = latest(memory)
    assert len(before) == FACTS
    grid = [Instant(day(0) - days * DAY) for days in (0, 150, 300, 550, 750)]
    past = [memory.facts("ana", as_of=moment) for moment in grid]
    runs: list[str] = []
    merged = demoted = 0
    for _ in range(NIGHTS):
        clock.now = Instant(clock.now + DAY)
        [report] = memory.maintain("ana", apply=True, force=True, trigger="nightly")
        assert (report.state, sum(count for _, count in report.proposed) <= 50, report.run_id is None) == ("done", True, False)
        runs.append(str(report.run_id))
        merged, demoted = merged + report.merged, demoted + report.demoted
    gone, cold = before - latest(memory), {fact.fact_text for fact in memory.facts("ana", include_cold=True) if fact.tier is Tier.COLD}
    assert latest(memory) <= before
    assert {text for text in gone if text.startswith("Robert")} == {f"Robert owns a {thing}." for thing in THINGS}
    assert gone == cold | {f"Robert owns a {thing}." for thing in THINGS}
    assert all("holds the" in text for text in cold)
    assert (merged, demoted) == (len(THINGS), len(cold))
    assert cold
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
