"""Finding the service of a data root, and having it started where none runs: once, however many shims want it at the same moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lean_memory.only_one import only_one
from lean_memory_bridge.runtime import EXIT_ALREADY_RUNNING, Live, find
from lean_memory_bridge.updating import UPDATING, settled

STATE_FILE = "supervisor.json"
"""What the supervisor says of itself: `state` (`running` or `failed`), `pid`, `reason`, and `at` in epoch milliseconds."""
IDLE_EXIT = 600
"""Seconds after its last client when a supervisor that a shim started leaves."""

NOTHING_DONE = "Nothing was stored or read."

_START_LOCK = "start.lock"
_REST = 5.0
_PAUSE = 0.02
_LEAST_ROOM = 256 * 1024
_SLOW = "It did not answer in time; it may still be starting."


class NoServiceError(Exception):
    """There is no service and none could be started; the message is a sentence for the person."""


class SlowServiceError(NoServiceError):
    """The service did not answer yet; it may be about to."""


class Starter:
    """Finds or starts the service of `root`. `program` are the words that start a supervisor out of `environment`."""

    def __init__(
        self,
        root: Path,
        program: Sequence[str] = (sys.executable, "-P", "-m", "lean_memory_desktop", "serve"),
        environment: Path = Path(sys.prefix),
    ) -> None:
        self._root, self._program, self._environment = root, program, environment
        self._rest_until = 0.0
        self._last_reason = ""

    def service(self, patience: float) -> Live:
        """The live service, started if need be; raises `NoServiceError` when none answers within `patience` seconds.

        After it failed to start the next attempt is made some seconds later only; calls in between get the same reason at once.
        """
        try:
            found = find(self._root)
            if found is not None:
                return found
            if time.monotonic() >= self._rest_until:
                return self._found_or_started(time.monotonic() + patience)
        except SlowServiceError:
            raise
        except NoServiceError as error:
            self._rest_until, self._last_reason = time.monotonic() + _REST, str(error)
            raise
        except OSError as error:
            raise NoServiceError(self._why(f"The operating system refused: {error}.")) from error
        raise NoServiceError(self._last_reason)

    def _found_or_started(self, deadline: float) -> Live:
        while True:
            reason = _SLOW
            with only_one(self._root / _START_LOCK) as mine:
                found = find(self._root)
                if found is not None:
                    return found
                if mine:
                    asked_at = time.time_ns() // 1_000_000
                    supervisor = self._started()
                    if supervisor is not None:
                        return self._awaited(supervisor, asked_at, deadline)
                    reason = UPDATING
            if time.monotonic() > deadline:
                raise SlowServiceError(self._why(reason))
            time.sleep(_PAUSE)

    def _started(self) -> subprocess.Popen[bytes] | None:
        """A supervisor that was started; none while the program is being brought up to date, which ends what runs and must find all of it."""
        with settled(self._environment) as may_start:
            if not may_start:
                return None
            try:
                return _detached([*self._program, "--root", str(self._root), "--idle-exit", str(IDLE_EXIT)])
            except OSError as error:
                raise NoServiceError(f"The memory service cannot be started ({error.strerror or error}).") from error

    def _awaited(self, supervisor: subprocess.Popen[bytes], asked_at: int, deadline: float) -> Live:
        while time.monotonic() < deadline:
            found = find(self._root)
            if found is not None:
                return found
            failed = self._failure_since(asked_at)
            if failed is not None:
                raise NoServiceError(self._why(failed))
            # One that ends because another supervisor is there already is no failure: that one's service is awaited.
            if supervisor.poll() not in (None, EXIT_ALREADY_RUNNING):
                raise NoServiceError(self._why(self._failure_since(asked_at) or f"It ended at once, with code {supervisor.returncode}."))
            time.sleep(_PAUSE)
        raise SlowServiceError(self._why(_SLOW))

    def _is_full(self) -> bool:
        """Whether there is no room for what a service writes when it starts; it could not even leave a word of that."""
        import shutil

        try:
            return shutil.disk_usage(self._root).free < _LEAST_ROOM
        except OSError:
            return False

    def _failure_since(self, moment: int) -> str | None:
        try:
            held = json.loads((self._root / STATE_FILE).read_bytes())
        except (OSError, ValueError):
            return None
        state = cast("dict[str, object]", held) if isinstance(held, dict) else {}
        at = state.get("at")
        return str(state.get("reason")) if state.get("state") == "failed" and isinstance(at, int) and at >= moment else None

    def _why(self, reason: str) -> str:
        if self._is_full():
            reason = "The disk of the data folder is full: free some space and try again."
        return (
            f"The memory service for {self._root} could not be started. {reason} "
            f"{NOTHING_DONE} `lean-memory doctor` looks for the cause; `lean-memory serve` starts it in a terminal."
        )


def _detached(words: list[str]) -> subprocess.Popen[bytes]:
    """Start a program that lives on when we, or the client that started us, end."""
    environment = {name: value for name, value in os.environ.items() if name != "LM_CLIENT"}
    null = subprocess.DEVNULL
    if sys.platform == "win32":
        apart = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        return subprocess.Popen(words, env=environment, creationflags=apart, stdin=null, stdout=null, stderr=null)
    return subprocess.Popen(words, env=environment, start_new_session=True, stdin=null, stdout=null, stderr=null)
