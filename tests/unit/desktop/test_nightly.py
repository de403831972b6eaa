"""One run a night, as a person would expect, whatever the machine and its clock did meanwhile."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from lean_memory_bridge import nights
from lean_memory_desktop.nightly import Hindrance
from support.nights import Machine

ON_BATTERY = Hindrance(what="mains power", lasting=True)
BUSY = Hindrance(what="a quiet moment", lasting=False)


def machine(root: Path, at: str = "2026-11-02 12:00", zone: str = "Europe/Vienna") -> Machine:
    made = Machine(root=root, zone=zone, at=at)
    made.live(minutes=2)
    return made


def test_a_machine_that_never_sleeps_runs_at_half_past_three_every_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.live(days=5)
    assert pc.runs == [f"2026-11-0{day} 03:30" for day in (3, 4, 5, 6, 7)]
    assert pc.next == "2026-11-08 03:30"


def test_the_first_start_runs_nothing_before_the_first_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.live(hours=14)
    assert pc.runs == []
    assert pc.next == "2026-11-03 03:30"


def test_after_five_nights_of_sleep_one_run_follows_and_not_five(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2026-11-07 08:00")
    pc.live_until("2026-11-08 03:00")
    assert pc.runs == ["2026-11-07 08:01"]
    pc.live(hours=1)
    assert pc.runs == ["2026-11-07 08:01", "2026-11-08 03:30"]


def test_a_machine_that_is_off_at_night_runs_each_morning(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    for day in (3, 4, 5):
        pc.be_off_until(f"2026-11-0{day} 09:00")
        pc.switch_on()
        pc.live(hours=8)
    assert pc.runs == ["2026-11-03 09:01", "2026-11-04 09:01", "2026-11-05 09:01"]


def test_a_machine_that_wakes_shortly_before_a_night_leaves_the_missed_one_to_it(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2026-11-05 03:00")
    pc.live(hours=6)
    assert pc.runs == ["2026-11-05 03:30"]


def test_many_restarts_in_one_day_repeat_nothing(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2026-11-03 09:00")
    for _ in range(20):
        pc.switch_on()
        pc.live(minutes=15)
    assert pc.runs == ["2026-11-03 09:01"]


@pytest.mark.parametrize("at", ["00:00", "00:30", "01:30", "02:00", "02:30", "03:00", "03:30", "23:50"])
@pytest.mark.parametrize(
    ("zone", "before"),
    [
        ("Europe/Vienna", "2026-03-26 12:00"),
        ("Europe/Vienna", "2026-10-22 12:00"),
        ("America/New_York", "2026-03-05 12:00"),
        ("America/New_York", "2026-10-29 12:00"),
        ("Australia/Lord_Howe", "2026-04-02 12:00"),
        ("America/Santiago", "2026-09-03 12:00"),
    ],
)
def test_each_night_has_one_run_where_the_clocks_change(tmp_path: Path, zone: str, before: str, at: str) -> None:
    nights.change_settings(tmp_path, at=dt.time.fromisoformat(at))
    pc = machine(tmp_path, before, zone)
    pc.beat = 10
    first = dt.datetime.fromisoformat(before).date() + dt.timedelta(days=at < "12:00")
    pc.live(days=6)
    assert [run[:10] for run in pc.runs] == [(first + dt.timedelta(days=day)).isoformat() for day in range(6)]


def test_the_hour_that_the_clocks_skip_is_made_up_for_after_it(tmp_path: Path) -> None:
    nights.change_settings(tmp_path, at=dt.time(2, 30))
    pc = machine(tmp_path, "2026-03-28 12:00")
    pc.live(hours=20)
    assert pc.runs == ["2026-03-29 03:30"]


def test_of_the_hour_that_the_clocks_repeat_the_first_counts(tmp_path: Path) -> None:
    nights.change_settings(tmp_path, at=dt.time(2, 30))
    pc = machine(tmp_path, "2026-10-24 12:00")
    pc.live(hours=14.5)
    assert pc.runs == ["2026-10-25 02:30"]
    pc.live(hours=3)
    assert pc.runs == ["2026-10-25 02:30"]


def test_a_flight_to_the_west_does_not_repeat_the_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.live_until("2026-11-03 10:00")
    pc.zone = "America/Los_Angeles"
    pc.live_until("2026-11-04 12:00")
    assert pc.runs == ["2026-11-03 03:30", "2026-11-04 03:30"]


def test_a_flight_to_the_east_does_not_leave_a_night_out(tmp_path: Path) -> None:
    pc = machine(tmp_path, zone="America/Los_Angeles")
    pc.live_until("2026-11-03 10:00")
    pc.zone = "Asia/Tokyo"
    pc.live_until("2026-11-05 12:00")
    assert pc.runs == ["2026-11-03 03:30", "2026-11-04 03:30", "2026-11-05 03:30"]


def test_a_flight_over_the_date_line_does_not_repeat_a_date(tmp_path: Path) -> None:
    pc = machine(tmp_path, zone="Pacific/Auckland")
    pc.live_until("2026-11-04 05:00")
    pc.zone = "Pacific/Honolulu"
    assert pc.local[:10] == "2026-11-03"
    pc.live_until("2026-11-05 12:00")
    assert pc.runs == ["2026-11-03 03:30", "2026-11-04 03:30", "2026-11-05 03:30"]


def test_a_run_that_still_goes_on_when_the_next_is_due_is_not_joined_by_a_second_one(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.run_minutes = 30 * 60
    pc.live_until("2026-11-04 09:00")
    assert pc.runs == ["2026-11-03 03:30"]
    pc.run_minutes = 2
    pc.live_until("2026-11-04 20:00")
    assert pc.runs == ["2026-11-03 03:30", "2026-11-04 09:30"]
    assert pc.next == "2026-11-05 03:30"


def test_on_battery_it_waits_for_the_mains_and_says_so(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.hindrance = ON_BATTERY
    pc.live_until("2026-11-05 18:00")
    assert pc.runs == []
    assert pc.record.waiting_for == "mains power"
    assert pc.next == "2026-11-05 03:30"
    pc.hindrance = None
    pc.live(minutes=5)
    assert pc.runs == ["2026-11-05 18:01"]
    assert pc.record.waiting_for == ""


def test_while_the_machine_is_busy_it_waits_but_not_for_ever(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.hindrance = BUSY
    pc.live_until("2026-11-03 09:29")
    assert pc.runs == []
    pc.live(hours=1)
    assert pc.runs == ["2026-11-03 09:30"]


def test_paused_it_runs_nothing_and_knows_of_no_next_run(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, paused=True)
    pc.live(days=3)
    assert pc.runs == []
    assert pc.next is None


def test_resumed_it_makes_up_for_the_newest_night_alone(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, paused=True)
    pc.live(days=3)
    nights.change_settings(tmp_path, paused=False)
    pc.live(hours=2)
    assert pc.runs == ["2026-11-05 12:03"]


def test_a_run_at_the_persons_wish_begins_at_once_even_paused_and_on_battery(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, paused=True)
    pc.hindrance = ON_BATTERY
    assert pc.nightly.run_now()
    assert not pc.nightly.run_now()
    pc.live(minutes=5)
    assert pc.runs == ["2026-11-02 12:02"]
    pc.hindrance = None
    nights.change_settings(tmp_path, paused=False)
    pc.live_until("2026-11-03 04:00")
    assert pc.runs == ["2026-11-02 12:02", "2026-11-03 03:30"]


def test_a_run_at_the_persons_wish_counts_for_the_night_that_was_missed(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2026-11-03 09:00")
    assert pc.nightly.run_now()
    pc.live(hours=6)
    assert pc.runs == ["2026-11-03 09:00"]


def test_a_service_that_does_not_answer_is_tried_three_times_a_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.service_answers = False
    pc.live_until("2026-11-03 03:31")
    assert pc.record.attempts == 1
    assert pc.next == "2026-11-03 03:40"
    pc.live_until("2026-11-03 12:00")
    assert pc.record.done == "2026-11-03"
    assert pc.record.sentence == "The service does not answer."
    pc.service_answers = True
    pc.live_until("2026-11-04 04:00")
    assert pc.runs == ["2026-11-04 03:30"]


def test_a_run_that_fails_is_begun_again_later_and_then_given_up_until_the_next_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.runs_end_well = False
    pc.live_until("2026-11-03 20:00")
    assert pc.runs == ["2026-11-03 03:30", "2026-11-03 03:40", "2026-11-03 04:40"]
    pc.runs_end_well = True
    pc.live_until("2026-11-04 20:00")
    assert pc.runs[3:] == ["2026-11-04 03:30"]


def test_a_machine_that_goes_down_in_the_middle_of_every_run_does_not_try_for_ever(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.run_minutes = 10_000
    for _ in range(30):
        pc.live(hours=1)
        pc.switch_on()
    assert len([run for run in pc.runs if run.startswith("2026-11-03")]) == 3


def test_a_clock_that_was_years_ahead_holds_up_nothing_once_it_is_right_again(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2036-05-01 12:00")
    pc.live(minutes=10)
    pc.be_off_until("2026-11-03 12:00")
    pc.live_until("2026-11-04 12:00")
    assert pc.runs[1:] == ["2026-11-03 12:01", "2026-11-04 03:30"]


def test_a_clock_that_is_put_back_an_hour_at_night_repeats_nothing(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.live_until("2026-11-03 03:45")
    pc.be_off_until("2026-11-03 02:45")
    pc.live(hours=3)
    assert pc.runs == ["2026-11-03 03:30"]


def test_another_time_of_day_moves_the_next_run(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, at=dt.time(22, 0))
    pc.live(minutes=1)
    assert pc.next == "2026-11-02 22:00"
    pc.live(days=1)
    assert pc.runs == ["2026-11-02 22:00"]


def test_another_time_of_day_does_not_lose_the_night_that_was_missed(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, at=dt.time(22, 0))
    pc.be_off_until("2026-11-03 09:00")
    pc.live_until("2026-11-03 23:00")
    assert pc.runs == ["2026-11-03 09:01", "2026-11-03 22:00"]


def test_another_time_of_day_does_not_lose_a_missed_night_that_was_left_to_the_next(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    pc.be_off_until("2026-11-05 03:00")
    pc.live(minutes=5)
    nights.change_settings(tmp_path, at=dt.time(22, 0))
    pc.live(minutes=5)
    assert pc.runs == ["2026-11-05 03:06"]


def test_an_earlier_time_of_day_begins_with_the_next_night(tmp_path: Path) -> None:
    pc = machine(tmp_path)
    nights.change_settings(tmp_path, at=dt.time(2, 0))
    pc.live(hours=15)
    assert pc.runs == ["2026-11-03 02:00"]


def test_a_record_that_cannot_be_read_begins_anew(tmp_path: Path) -> None:
    (tmp_path / nights.RECORD_FILE).write_text('{"done": "the day before"', encoding="utf-8")
    pc = machine(tmp_path)
    pc.live(days=1)
    assert pc.runs == ["2026-11-03 03:30"]


def test_a_year_of_odd_days_has_one_run_for_every_day_the_machine_was_on(tmp_path: Path) -> None:
    pc = Machine(root=tmp_path, zone="Europe/Vienna", at="2026-01-01 12:00", run_minutes=30, beat=5)
    pc.live(minutes=5)
    days: set[str] = set()
    for day in range(364):
        on = dt.datetime(2026, 1, 2) + dt.timedelta(days=day)
        if day % 7 in (2, 3):
            continue
        pc.be_off_until(f"{on:%Y-%m-%d} {(3, 9, 4, 3, 14)[day % 5]:02}:{(0, 15, 5, 31, 0)[day % 5]:02}")
        if day % 3 == 0:
            pc.switch_on()
        pc.live(hours=4)
        days.add(f"{on:%Y-%m-%d}")
    assert len(pc.runs) == len(set(pc.runs))
    assert [run[:10] for run in pc.runs] == sorted(days)
