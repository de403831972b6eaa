"""The service's state is followed, and the service found again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.schemas import Snapshot
from lean_memory_desktop.watcher import Watcher
from unit.desktop.test_state import QUIET


class Stream:
    """A service that tells some states and goes away."""

    def __init__(self, *versions: int) -> None:
        self._versions = versions

    def snapshots(self) -> Iterator[Snapshot]:
        for version in self._versions:
            yield QUIET.model_copy(update={"version": version})
        raise UnreachableError("Gone.")


def followed(*found: Stream | None, patience: float = 10) -> list[int | str]:
    """What a watcher reports of services that are found one after the other."""
    told: list[int | str] = []
    left, ended = list(found), threading.Event()

    def find() -> Any:
        if not left:
            watcher.stop()
            ended.set()
            return None
        return left.pop(0)

    watcher = Watcher(find, seen=lambda seen: told.append(seen.version), lost=lambda: told.append("lost"), pause=0.001, first_pause=0.001)
    watcher.start()
    assert ended.wait(patience)
    return told


def test_it_follows_finds_the_service_again_and_says_once_that_it_is_away() -> None:
    assert followed(Stream(1, 2), None, None, Stream(3)) == [1, 2, "lost", 3, "lost"]


def test_a_service_that_is_not_there_yet_is_waited_for() -> None:
    assert followed(None, None, Stream(1)) == ["lost", 1, "lost"]


def test_after_it_was_stopped_it_tells_nothing() -> None:
    told: list[int] = []
    watcher = Watcher(lambda: None, seen=lambda seen: told.append(seen.version), lost=lambda: told.append(-1))
    watcher.stop()
    watcher.run()
    assert told == []
