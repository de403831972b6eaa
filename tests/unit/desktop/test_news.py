"""Each thing is told once."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from lean_memory_bridge.schemas import ModelView, Snapshot
from lean_memory_desktop.news import Notice, Told, news, trouble
from lean_memory_desktop.remembered import DESKTOP_FILE, Remembered, read_remembered, write_remembered
from unit.desktop.test_state import QUIET, pulling, waiting

NOW = dt.datetime(2030, 6, 1, tzinfo=dt.UTC)


def told_by(*snapshots: Snapshot, told: Told | None = None) -> list[Notice]:
    so_far, notices = told or Told(), list[Notice]()
    for snapshot in snapshots:
        so_far, fresh = news(so_far, snapshot, NOW)
        notices.extend(fresh)
    return notices


def proposing(count: int, *, running: bool = False) -> Snapshot:
    return QUIET.model_copy(update={"upkeep": (waiting(count, running=running),)})


def test_proposals_make_one_digest_that_opens_the_review() -> None:
    (notice,) = told_by(QUIET, proposing(3), proposing(3))
    assert (notice.page, notice.is_trouble) == ("review", False)
    assert notice.text.startswith("3 proposals wait")


def test_a_run_that_goes_on_is_told_when_it_has_ended() -> None:
    assert len(told_by(proposing(1, running=True), proposing(2, running=True), proposing(3))) == 1


def test_what_is_left_after_some_decisions_is_not_told_again_but_what_is_new_is() -> None:
    assert len(told_by(proposing(3), proposing(2), proposing(1))) == 1
    assert len(told_by(proposing(3), proposing(1), proposing(2))) == 2


def test_the_end_of_a_download_that_was_seen_is_told_once() -> None:
    states = [QUIET.model_copy(update={"models": pulling(state)}) for state in ("running", "done", "done")]
    assert [notice.title for notice in told_by(*states)] == ["The download is done"]
    assert told_by(*states[1:]) == []
    failed = QUIET.model_copy(update={"models": pulling("failed")})
    assert [notice.is_trouble for notice in told_by(states[0], failed, failed)] == [True]
    assert told_by(states[0], QUIET.model_copy(update={"models": pulling("cancelled")})) == []


def test_trouble_is_told_once_also_when_it_comes_and_goes() -> None:
    broken = QUIET.model_copy(update={"model": ModelView(state="failed", message="No file.")})
    (notice,) = told_by(broken, QUIET, broken)
    assert notice.is_trouble


def test_trouble_that_comes_back_on_another_day_is_told_again() -> None:
    told, first = trouble(Told(), ("It died.",), NOW)
    told, _ = trouble(told, (), NOW + dt.timedelta(hours=25))
    assert (len(first), len(trouble(told, ("It died.",), NOW + dt.timedelta(hours=26))[1])) == (1, 1)


def test_a_clock_that_was_wrong_for_a_while_silences_no_trouble_for_good() -> None:
    told, _ = trouble(Told(), ("It died.",), NOW + dt.timedelta(days=30_000))
    told, _ = trouble(told, (), NOW)
    assert len(trouble(told, ("It died.",), NOW)[1]) == 1


def test_what_was_told_outlives_the_tray(root: Path) -> None:
    root.mkdir()
    assert read_remembered(root) == Remembered()
    told, _ = news(Told(), proposing(3), NOW)
    told, _ = trouble(told, ("It died.",), NOW)
    write_remembered(root, Remembered(notifies=False, told=told))
    kept = read_remembered(root)
    assert (kept.notifies, kept.told) == (False, told)
    assert told_by(proposing(3), told=kept.told) == []


def test_what_cannot_be_understood_is_passed_over(root: Path) -> None:
    root.mkdir()
    for text in (
        "",
        "[]",
        '{"told": 3}',
        '{"told": {"waiting": "x", "troubles": [1]}}',
        "\0",
        "[" * 100_000,
        '{"told": {"troubles": {"x": 1' + "0" * 400 + "}}}",
    ):
        (root / DESKTOP_FILE).write_text(text, encoding="utf-8")
        assert read_remembered(root) == Remembered()
