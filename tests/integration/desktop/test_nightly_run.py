"""The schedule says when, the service does it: one run of every namespace, begun by the clock."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from lean_memory import Memory
from lean_memory_bridge import nights
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.nights import NightRecord, read_record, write_record
from lean_memory_bridge.runtime import admin_token
from lean_memory_desktop.machine import Machine
from lean_memory_desktop.schedule import schedule_of
from support.service import running_service
from support.supervised import eventually

IDLE = Machine(on_battery=lambda: False, load=lambda: 0.0)


def ended(root: Path) -> bool:
    record = read_record(root)
    return record is not None and record.ended_at is not None


def test_a_missed_night_is_made_up_for_by_the_service_in_every_namespace(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    with Memory(root=root) as memory:
        for name in ("one", "two"):
            memory.add_many(name, [f"I like the {number}th street." for number in range(220)])
    # Far from now, so that the night of today is neither near nor just begun.
    at = (dt.datetime.now() - dt.timedelta(hours=8)).time()
    nights.change_settings(root, at=at)
    write_record(root, NightRecord(done="2020-01-01", at=f"{at:%H:%M}"))
    with running_service(tmp_path) as service:
        client = MaintenanceClient(root, service.live, admin_token(root))
        schedule = schedule_of(root, heartbeat=0.05, machine=IDLE)
        schedule.start()
        try:
            eventually(lambda: ended(root))
            view = client.schedule()
            assert view.next_at is not None
        finally:
            schedule.stop()
        for name in ("one", "two"):
            last = client.maintenance_state(name).last
            assert last is not None
            assert (last.state, last.trigger) == ("done", "nightly")
            assert len(client.maintenance_state(name).runs) == 1
        assert client.schedule().next_at is None
        assert "one:" in view.last_sentence
