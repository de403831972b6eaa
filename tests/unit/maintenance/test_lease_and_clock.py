"""A living run keeps its lease, whatever the clock does between two of its heartbeats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Instant
from lean_memory.store import runs
from support.maintenance import House, about

HOUR_MS = 3_600_000


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def test_a_run_that_beat_once_under_a_clock_an_hour_ahead_and_beats_on_is_not_taken_over(house: House) -> None:
    house.said(about("Bob", "likes", "tea"))
    now = house.clock.now
    with house.store.write() as tx:
        lease = runs.claim(tx.connection, holder="one", cause="test", now=now)
        assert lease is not None
        runs.beat(tx.connection, lease, Instant(now + HOUR_MS))
        runs.beat(tx.connection, lease, Instant(now + 1))
        assert runs.claim(tx.connection, holder="another", cause="test", now=Instant(now + 2)) is None
        assert not runs.beat(tx.connection, lease, Instant(now + 3))
