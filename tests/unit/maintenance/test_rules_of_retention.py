"""A run does by the person's rules of retention what their preview tells, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Candidate, Fact, Instant, Source, Span, Tier
from lean_memory.maintenance.retention import concerned
from lean_memory.maintenance.run import Request
from lean_memory.retention import rule_of
from lean_memory.store.namespace_store import NewEpisode
from support.maintenance import House, about, demotion, merge, verdict
from support.statements import learn


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def told_by(house: House, client: str, candidate: Candidate) -> Fact:
    """The fact that came of what a client passed on."""
    text = candidate.fact_text
    passages = (Span(start=0, end=len(text)),)
    new = NewEpisode(text=text, source=Source.USER, client=client, t_ref=house.clock.now, tz="UTC", passages=passages)
    with house.store.write() as tx:
        episode = tx.record(new)
    with house.store.write() as tx:
        done = learn(tx, episode, [candidate])
    return house.store.fact((done.fact_ids or done.existing)[0])


def test_preview_dry_run_and_run_tell_one_number_also_of_what_has_an_end_to_come_and_of_what_the_run_would_propose(house: House) -> None:
    house.said(about("Bob", "likes", "tea"))
    ends = house.said(about("Bob", "visits", "Rome", valid_to=Instant(house.clock.now + 900 * 86_400_000)))
    milk = house.said(about("Bob", "likes", "milk"))
    house.wait(200)
    rule = rule_of(namespace=house.store.name, client=None, days=90, act="put-away")
    house.drafts = [demotion(milk)]
    told = len(concerned(house.store, rule, house.clock.now))
    dry, wet = (house.care.run(Request(apply=apply, force=True, rules=(rule,))).demoted for apply in (False, True))
    assert (told, dry, wet) == (3, 3, 3)
    assert house.fact(ends).tier is Tier.COLD
    assert house.care.run(Request(apply=True, force=True, rules=(rule,))).demoted == 0


def test_what_somebody_else_said_of_a_merged_fact_counts_for_the_one_that_stands_for_it(house: House) -> None:
    tea = told_by(house, "zed", about("Bob", "likes", "tea"))
    black = told_by(house, "zed", about("Bob", "likes", "black tea"))
    assert told_by(house, "cursor", about("Bob", "likes", "black tea")).id == black.id
    house.care.decide(house.proposed(merge(tea, black)).id, verdict("approve"))
    house.wait(200)
    rule = rule_of(namespace=house.store.name, client="zed", days=90, act="put-away")
    assert house.care.run(Request(apply=True, force=True, rules=(rule,))).demoted == 0
    assert house.latest() == ["Bob likes tea."]
