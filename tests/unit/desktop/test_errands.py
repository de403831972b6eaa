"""What the menu's entries ask of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lean_memory_bridge.pausing import is_paused
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.schemas import AssistantDone, AssistantOutcome, Assistants, AssistantView
from lean_memory_desktop.errands import Errands
from lean_memory_desktop.news import Notice
from unit.desktop.test_state import QUIET, assistant, waiting


class Service:
    """Notes what it is asked, and answers that it came to `outcome`."""

    def __init__(self, *known: AssistantView, outcome: str = "connected") -> None:
        self._known, self._outcome = known, outcome
        self.asked: list[tuple[str, ...]] = []

    def assistants(self) -> Assistants:
        return Assistants(assistants=self._known, snippet="")

    def connect_assistant(self, name: str) -> AssistantDone:
        return self._did("connect", name)

    def disconnect_assistant(self, name: str) -> AssistantDone:
        return self._did("disconnect", name)

    def test_assistant(self, name: str) -> AssistantDone:
        return self._did("test", name)

    def snapshot(self) -> Any:
        self.asked.append(("snapshot",))
        return QUIET.model_copy(update={"upkeep": (waiting(0, running=True, namespace="work"), waiting(1))})

    def cancel_maintenance(self, namespace: str) -> bool:
        self.asked.append(("cancel", namespace))
        return True

    def run_maintenance(self, asked: Any) -> None:
        self.asked.append(("run", asked.trigger, str(asked.every), str(asked.apply)))

    def _did(self, verb: str, name: str) -> AssistantDone:
        self.asked.append((verb, name))
        return AssistantDone(
            id=name, outcomes=(AssistantOutcome(file="/f", outcome=self._outcome, sentence="So it was."),), sentence="So it was."
        )


@pytest.fixture
def told() -> list[Notice]:
    return []


def errands(service: Any, told: list[Notice], root: Path = Path()) -> Errands:
    return Errands(root, lambda: service, told.append)


def test_a_switch_connects_what_is_not_connected_and_disconnects_what_is(told: list[Notice]) -> None:
    known = (assistant("Zed", "not connected"), assistant("Cursor", "edited"), assistant("Cursor", "not connected"))
    service = Service(*known)
    for name in ("zed", "cursor"):
        errands(service, told).switch(name, known)
    assert service.asked == [("connect", "zed"), ("disconnect", "cursor")]
    assert [(notice.title, notice.is_trouble) for notice in told] == [("Zed: connected", False), ("Cursor: disconnected", False)]


def test_a_refusal_is_told_with_its_reason(told: list[Notice]) -> None:
    known = (assistant("Zed", "not connected"),)
    errands(Service(*known, outcome="refused"), told).switch("zed", known)
    assert [(notice.title, notice.text, notice.is_trouble) for notice in told] == [("Zed: that did not work", "So it was.", True)]


@pytest.mark.parametrize(
    ("outcome", "standing", "title"),
    [
        ("answered", "connected", "Every connection works"),
        ("silent", "connected", "A connection does not work"),
        ("answered", "not connected", "Nothing is connected"),
    ],
)
def test_connections_are_tried_the_way_the_assistants_would(outcome: str, standing: str, title: str, told: list[Notice]) -> None:
    service = Service(assistant("Zed", standing), outcome=outcome)
    errands(service, told).check_connections()
    assert service.asked == ([("test", "zed")] if standing == "connected" else [])
    assert [notice.title for notice in told] == [title]


def test_only_runs_that_go_on_are_cancelled_and_a_new_one_takes_every_namespace(told: list[Notice]) -> None:
    service = Service()
    errands(service, told).cancel_maintenance()
    errands(service, told).run_maintenance()
    assert service.asked == [("snapshot",), ("cancel", "work"), ("run", "person", "True", "True")]


def test_pausing_is_written_down_and_shown_to_every_window(tmp_path: Path, told: list[Notice]) -> None:
    service = Service()
    errands(service, told, tmp_path).pause(True)
    assert is_paused(tmp_path)
    errands(service, told, tmp_path).pause(False)
    assert not is_paused(tmp_path)
    assert service.asked == [("snapshot",)] * 2


def test_it_can_be_paused_while_the_service_is_away_and_the_rest_says_why_not(tmp_path: Path, told: list[Notice]) -> None:
    alone = errands(None, told, tmp_path)
    alone.pause(True)
    assert is_paused(tmp_path)
    with pytest.raises(UnreachableError, match="being started"):
        alone.run_maintenance()
