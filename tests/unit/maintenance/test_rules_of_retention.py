"""A run does by the person's rules of retention what their preview tells, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Instant, Tier
from lean_memory.maintenance.retention import concerned
from lean_memory.maintenance.run import Request
from lean_memory.retention import rule_of
from support.maintenance import House, about, demotion


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


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
