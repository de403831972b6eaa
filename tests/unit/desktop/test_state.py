"""What the icon and the menu show of a state."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from lean_memory_bridge.schemas import AssistantView, ModelsView, ModelView, RoleView, Snapshot
from lean_memory_bridge.schemas.downloads import PullView
from lean_memory_bridge.schemas.maintenance import ScheduleView, Upkeep
from lean_memory_desktop.state import Do, Entry, Known, Mood, mood_of, view

NOW = dt.datetime(2030, 6, 1, 22, 0, tzinfo=dt.timezone(dt.timedelta(hours=2)))
NIGHT = int(dt.datetime(2030, 6, 2, 1, 30, tzinfo=dt.UTC).timestamp() * 1000)
QUIET = Snapshot(
    version=1,
    instance="i",
    service_version="1",
    model=ModelView(state="ready"),
    namespaces=("default",),
    clients=(),
    schedule=ScheduleView(at="03:30", paused=False, agents_decide=True, next_at=NIGHT),
)
KNOWN = Known(now=NOW, snapshot=QUIET, has_started=True)


def with_state(**changes: object) -> Known:
    return replace(KNOWN, snapshot=QUIET.model_copy(update=changes))


def waiting(count: int, **more: object) -> Upkeep:
    return Upkeep.model_validate({"namespace": "default", "pending": count, **more})


def pulling(state: str, done: int = 43) -> ModelsView:
    pull = PullView.model_validate({"state": state, "tier": "standard", "origin": "hub", "done": done, "total": 100})
    return ModelsView(tier="builtin", roles=(), pull=pull)


def labels(known: Known) -> list[str]:
    return [entry.label for entry in view(known).menu if entry.label]


def entry(known: Known, beginning: str) -> Entry:
    return next(entry for entry in view(known).menu if entry.label.startswith(beginning))


@pytest.mark.parametrize(
    ("known", "mood"),
    [
        (KNOWN, Mood.FINE),
        (replace(KNOWN, snapshot=None), Mood.WORKING),
        (with_state(model=ModelView(state="loading")), Mood.WORKING),
        (with_state(models=pulling("running")), Mood.WORKING),
        (with_state(upkeep=(waiting(0, running=True),)), Mood.WORKING),
        (with_state(upkeep=(waiting(2, running=True),)), Mood.REVIEW),
        (replace(with_state(upkeep=(waiting(2),)), paused=True), Mood.PAUSED),
        (replace(KNOWN, paused=True, trouble="It died."), Mood.TROUBLE),
        (with_state(model=ModelView(state="failed", message="No file.")), Mood.TROUBLE),
        (with_state(models=ModelsView(tier="s", roles=(RoleView(role="embedder", state="failed", message="No room."),))), Mood.TROUBLE),
    ],
)
def test_the_icon_says_what_matters_most(known: Known, mood: Mood) -> None:
    assert mood_of(known) is mood


def test_proposals_of_all_namespaces_are_counted_and_named() -> None:
    known = with_state(upkeep=(waiting(2), waiting(1, namespace="work")))
    assert view(known).count == 3
    assert "Review 3 proposals…" in labels(known)
    assert "Review 1 proposal…" in labels(with_state(upkeep=(waiting(1),)))
    assert view(known).title == "Lean Memory: 3 proposals wait for you"


def test_the_first_line_tells_how_things_stand() -> None:
    assert labels(KNOWN)[0] == "Ready"
    assert labels(replace(KNOWN, snapshot=None, has_started=False))[0] == "Starting…"
    assert labels(replace(KNOWN, snapshot=None))[0] == "Starting again…"
    assert labels(replace(KNOWN, trouble="The disk is full."))[0] == "The disk is full."
    assert labels(replace(KNOWN, paused=True))[0].startswith("Paused")
    assert labels(with_state(upkeep=(waiting(0, running=True, progress=0.4),)))[0] == "Tidying default, 40 %"


def test_what_is_in_trouble_can_be_started_again() -> None:
    assert entry(replace(KNOWN, trouble="It died."), "Start again").action is not None
    assert "Start again" not in labels(KNOWN)


def test_the_next_run_is_told_in_the_time_of_the_person() -> None:
    assert "Next tidying 03:30" in labels(KNOWN)
    later = with_state(schedule=ScheduleView(at="03:30", paused=False, agents_decide=True, next_at=NIGHT + 86_400_000))
    assert "Next tidying 2030-06-03 03:30" in labels(later)
    held = ScheduleView(at="03:30", paused=False, agents_decide=True, next_at=NIGHT, waiting_for="mains power")
    assert "The nightly tidying waits for mains power" in labels(with_state(schedule=held))
    off = ScheduleView(at="03:30", paused=True, agents_decide=True)
    assert "The nightly tidying is paused" in labels(with_state(schedule=off))


def test_a_run_that_goes_on_can_be_cancelled_and_none_begun() -> None:
    known = with_state(upkeep=(waiting(0, running=True, progress=0.5),))
    assert entry(known, "Stop tidying, 50 %").action is not None
    assert "Tidy up now" not in labels(known)
    assert entry(replace(KNOWN, snapshot=None), "Tidy up now").action is None


def test_a_download_is_told_with_how_far_it_is() -> None:
    assert "Models: fetching standard, 43 %" in labels(with_state(models=pulling("running")))
    assert "Models: built-in" in labels(with_state(models=pulling("done")))


def assistant(name: str, standing: str, *, installed: bool = True) -> AssistantView:
    return AssistantView(id=name.lower(), name=name, file=f"/{name}", installed=installed, standing=standing, applies="")


def test_each_assistant_that_is_here_has_one_switch() -> None:
    found = (
        assistant("Zed", "not connected"),
        assistant("Cursor", "connected"),
        assistant("Cursor", "not connected"),
        assistant("Codex", "not connected", installed=False),
    )
    switches = entry(replace(KNOWN, assistants=found, busy=frozenset({"zed"})), "Assistants").children
    assert [(one.label, one.ticked, one.action is not None) for one in switches[:2]] == [("Zed…", False, False), ("Cursor", True, True)]
    assert switches[-1].label == "Others…"
    assert entry(KNOWN, "Assistants").children[0].action is None


def test_switches_show_how_they_stand() -> None:
    known = replace(KNOWN, paused=True, at_login=True, notifies=False)
    assert (entry(known, "Pause memory").ticked, entry(known, "Start at login").ticked, entry(known, "Notif").ticked) == (True, True, False)
    paused, fine = entry(known, "Pause memory").action, entry(KNOWN, "Pause memory").action
    assert (paused and paused.do, fine and fine.do) == (Do.RESUME, Do.PAUSE)


def test_a_long_sentence_is_cut_where_a_menu_would_burst() -> None:
    assert len(labels(replace(KNOWN, trouble="word " * 100))[0]) == 90
