"""What calls the nightly run, and what it looks at first."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import psutil
import pytest

from lean_memory_bridge import nights
from lean_memory_desktop import machine
from lean_memory_desktop.machine import Machine
from lean_memory_desktop.nightly import Ended, Nightly
from lean_memory_desktop.schedule import Schedule, local_zone
from support.supervised import eventually


def test_the_clock_is_looked_at_again_and_again_and_a_run_that_is_due_begins(tmp_path: Path) -> None:
    begun: list[str] = []

    def begin() -> str:
        begun.append("a run")
        return "ticket"

    now = [dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC).timestamp()]
    nightly = Nightly(
        tmp_path,
        begin=begin,
        look=lambda _: Ended(well=True, sentence="Tidied."),
        hindrance=lambda: None,
        now=lambda: now[0],
        zone=lambda: dt.UTC,
    )
    schedule = Schedule(nightly, heartbeat=0.02)
    schedule.start()
    try:
        eventually(lambda: nightly.record is not None)
        now[0] += 24 * 3600
        eventually(lambda: nights.read_record(tmp_path) == nightly.record and nightly.record.ended_at is not None)
    finally:
        schedule.stop()
    assert begun == ["a run"]
    record = nights.read_record(tmp_path)
    assert record is not None
    assert (record.done, record.next_at) == ("2026-11-03", None)
    nightly.tick()
    assert nights.read_record(tmp_path) == record


def test_the_next_night_is_told_before_the_first_look_at_the_clock_and_nothing_begins(tmp_path: Path) -> None:
    begun: list[str] = []
    nightly = Nightly(
        tmp_path,
        begin=lambda: begun.append("a run") or "ticket",
        look=lambda _: None,
        hindrance=lambda: None,
        now=dt.datetime(2026, 11, 2, 12, tzinfo=dt.UTC).timestamp,
        zone=lambda: dt.UTC,
    )
    schedule = Schedule(nightly, heartbeat=3600)
    schedule.start()
    try:
        eventually(lambda: nightly.record is not None and nightly.record.next_at is not None)
        assert nightly.record is not None
        assert nightly.record.next_at == dt.datetime(2026, 11, 3, 3, 30, tzinfo=dt.UTC).timestamp() * 1000
    finally:
        schedule.stop()
    assert begun == []


class Battery(NamedTuple):
    percent: float
    secsleft: int
    power_plugged: bool | None


@pytest.mark.parametrize(
    ("battery", "waits"), [(None, False), (Battery(40, 3600, False), True), (Battery(40, -2, True), False), (Battery(40, -1, None), False)]
)
def test_a_battery_without_mains_power_is_waited_for(monkeypatch: pytest.MonkeyPatch, battery: Battery | None, waits: bool) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    hindrance = Machine(load=lambda: 0.0).hindrance()
    assert (hindrance is not None and hindrance.lasting) is waits


def test_a_busy_machine_is_waited_for_but_not_without_end() -> None:
    assert Machine(on_battery=lambda: False, load=lambda: 20.0).hindrance() is None
    hindrance = Machine(on_battery=lambda: False, load=lambda: 95.0).hindrance()
    assert hindrance is not None
    assert not hindrance.lasting


def test_a_system_that_knows_no_batteries_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not machine.is_on_battery()


def test_the_zone_is_the_one_that_was_set_else_the_one_the_computer_is_in_now() -> None:
    assert local_zone("Asia/Tokyo") == ZoneInfo("Asia/Tokyo")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("America/Lima", "Europe/Vienna"):
            patch.setenv("TZ", name)
            assert local_zone(None) == ZoneInfo(name)
            assert local_zone("No/Such") == ZoneInfo(name)
        patch.setenv("TZ", "No/Such")
        assert local_zone(None) == dt.UTC
    local_zone(None)


def test_settings_come_from_the_file_and_the_environment_wins(tmp_path: Path) -> None:
    assert nights.read_settings(tmp_path, {}) == nights.NightSettings()
    nights.change_settings(tmp_path, at=dt.time(4, 15), agents_decide=False)
    nights.change_settings(tmp_path, paused=True)
    held = nights.read_settings(tmp_path, {})
    assert (held.at, held.paused, held.agents_decide, held.problem) == (dt.time(4, 15), True, False, "")
    told = nights.read_settings(tmp_path, {"LM_MAINT_AT": "05:00", "LM_MAINT_AGENTS": "1"})
    assert (told.at, told.agents_decide) == (dt.time(5), True)


@pytest.mark.parametrize("at", ["25:00", "half past three", "0330", "03:30:00"])
def test_a_time_that_is_none_is_told_of_and_the_usual_one_stands(tmp_path: Path, at: str) -> None:
    held = nights.read_settings(tmp_path, {"LM_MAINT_AT": at})
    assert held.at == nights.DEFAULT_AT
    assert "write it like 03:30" in held.problem


def test_settings_that_cannot_be_read_are_told_of(tmp_path: Path) -> None:
    (tmp_path / nights.SETTINGS_FILE).write_text("[1, 2", encoding="utf-8")
    held = nights.read_settings(tmp_path, {})
    assert (held.at, held.paused) == (nights.DEFAULT_AT, False)
    assert nights.SETTINGS_FILE in held.problem
