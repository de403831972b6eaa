"""Starts the processes of Lean Memory, starts them again when they die, and takes all of them along when it ends itself.

A child's standard input is a pipe that we hold: when it ends, so does the child, whether we closed it or were killed. Nothing is orphaned.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import cast

from lean_memory.models.packages import can_run
from lean_memory_bridge.runtime import EXIT_ALREADY_RUNNING, EXIT_BEGIN_ANEW
from lean_memory_desktop import child_log

MODELS_CHOICE = "models.json"
MODEL_RECORDS = "models/*/*.json"
"""What the engine writes of the models; named here once more, as its own module loads what a supervisor does without."""
LONGEST_GOODBYE = 30.0
"""Seconds a child gets to finish what it is doing."""
_INSISTING = 3.0
_MUTE_CHECKUPS = 3
_LAST_WORDS = 3
_ASKED_EVERY = 2.0
"""Seconds between two looks at whether a program is wanted by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process to keep running: what it is called, and the words that start it.

    One that others can do `without` runs only while it is `wanted`, is started again however it ends, and takes nothing along when it fails.
    """

    name: str
    words: Sequence[str]
    without: bool = False
    wanted: Callable[[], bool] = lambda: True
    patience: Patience | None = None
    """Its own, where it needs another than its supervisor's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often a child is started again: after `pauses` seconds, longer each time it dies again within `window` seconds.

    One that dies so often before it ever did its work is given up; one that worked is not, as giving up would help nobody.
    """

    pauses: Sequence[float] = (0.1, 0.25, 0.5, 1.0, 2.0)
    window: float = 60.0

    def pause(self, deaths: Sequence[Death]) -> float | None:
        """Seconds before the next start, given how the child died (the last is now); `None` when it is enough."""
        recent = [death for death in deaths if deaths[-1].at - death.at <= self.window]
        in_vain = next((number for number, death in enumerate(reversed(deaths)) if death.had_worked), len(deaths))
        if in_vain > len(self.pauses):
            return None
        return self.pauses[min(len(recent), len(self.pauses)) - 1]


_WORKERS_PATIENCE = Patience(pauses=(0.1, 0.5, 1.0, 2.0, 4.0, 15.0, 60.0, 300.0), window=900.0)
"""Loading its models takes all cores for a while, so that one which always dies of it may not do so again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """When a child ended without being asked to (monotonic seconds), and whether it had got as far as doing its work."""

    at: float
    had_worked: bool


class End(Enum):
    """Why a supervisor ended."""

    ASKED = "asked"
    IDLE = "idle"
    FAILED = "failed"


def service_program(root: Path) -> Program:
    """The service of a data root."""
    return Program(name="service", words=(sys.executable, "-P", "-m", "lean_memory_bridge", "--root", str(root), "--supervised"))


def worker_program(root: Path) -> Program:
    """The worker, which holds the models of a data root; wanted where models beyond the built-in one are there and can be loaded."""
    words = (sys.executable, "-P", "-m", "lean_memory.models", "--root", str(root), "--supervised")
    return Program(name="worker", words=words, without=True, wanted=lambda: _has_models(root), patience=_WORKERS_PATIENCE)


class Supervisor:
    """Keeps `programs` running for the data in `root`.

    `in_use` tells whether anybody needs them; once nobody did for `idle_exit` seconds, everything ends. `None` waits for nobody.
    `elsewhere` tells whether another process does a child's work, when the child has ended because of that; `worked` whether the
    process with this identifier got as far as doing its work. `answers`, asked every `checkup` seconds, tells whether it still does: one
    that worked and then is mute three times in a row is ended, and started again like one that died.
    """

    def __init__(
        self,
        root: Path,
        programs: Sequence[Program],
        *,
        in_use: Callable[[], bool],
        elsewhere: Callable[[], bool],
        worked: Callable[[int], bool],
        answers: Callable[[], bool],
        checkup: float = 30.0,
        idle_exit: float | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._children = [_Child(program=program, log=root / "logs" / f"{program.name}.log") for program in programs]
        self._in_use, self._elsewhere, self._worked = in_use, elsewhere, worked
        self._answers, self._checkup = answers, checkup
        self._next_checkup = time.monotonic() + checkup
        self._idle_exit = idle_exit
        self._patience = patience or Patience()
        self._events: queue.SimpleQueue[_Child | None] = queue.SimpleQueue()
        self._last_used = time.monotonic()
        self.reason = ""
        """Why it failed, as a sentence for a person."""

    def run(self, begun: Callable[[], None] = lambda: None) -> End:
        """Run until asked to stop, idle for long enough, or beaten; every child has ended then. `begun` is called once they are on their way."""
        try:
            for child in self._children:
                if child.program.without:
                    child.due = 0.0
                else:
                    child.start(self._events.put)
            begun()
            while True:
                end = self._next()
                if end is not None:
                    return end
        finally:
            for child in self._children:
                child.say_goodbye()
            for child in self._children:
                child.see_off()

    def stop(self) -> None:
        """Ask it to end. May be called from a signal handler and from any thread."""
        self._events.put(None)

    def _next(self) -> End | None:
        try:
            event = self._events.get(timeout=self._pause())
        except queue.Empty:
            return self._look_around()
        return End.ASKED if event is None else self._after_death_of(event)

    def _pause(self) -> float:
        now = time.monotonic()
        due = [max(0.0, child.due - now) for child in self._children if child.due is not None]
        idle = [] if self._idle_exit is None else [min(30.0, max(0.05, self._idle_exit / 4))]
        return min([*due, *idle, max(0.0, self._next_checkup - now)])

    def _look_around(self) -> End | None:
        """Start whose pause is over, and see whether anybody is still there."""
        now = time.monotonic()
        for child in self._children:
            if child.due is not None and child.due <= now:
                if child.program.without and not child.program.wanted():
                    child.due = now + _ASKED_EVERY
                elif child.displaced and not child.program.without and self._elsewhere():
                    child.due = now + 2.0
                else:
                    child.start(self._events.put)
        if self._next_checkup <= now:
            self._check_up()
            self._next_checkup = time.monotonic() + self._checkup
        if self._idle_exit is not None:
            if self._in_use():
                self._last_used = now
            elif now - self._last_used >= self._idle_exit:
                return End.IDLE
        return None

    def _check_up(self) -> None:
        for child in self._children:
            child_log.kept_short(child.log)
        # Of one that others can do without, they find out themselves whether it answers.
        working = [child for child in self._children if child.is_running and not child.program.without and self._worked(child.pid)]
        answers = not working or self._answers()
        for child in working:
            child.mute = 0 if answers else child.mute + 1
            if child.mute >= _MUTE_CHECKUPS:
                child.end_at_once()

    def _after_death_of(self, child: _Child) -> End | None:
        now = time.monotonic()
        child.displaced = child.code == EXIT_ALREADY_RUNNING
        if child.program.without:
            child.due = now + self._rest_of(child, now)
            return None
        if child.code == EXIT_BEGIN_ANEW:
            child.due = now
            return None
        if child.code == 0:
            # It was asked to end, by somebody who may: then so are we.
            return End.ASKED
        if child.displaced:
            child.due = now
            return None
        child.deaths.append(Death(at=now, had_worked=self._worked(child.pid)))
        pause = self._patience.pause(child.deaths)
        if pause is None:
            self.reason = (
                f"The {child.program.name} ended {len(child.deaths)} times, the last time with code {child.code}. {child.last_words()}"
            )
            return End.FAILED
        child.due = now + pause
        return None

    def _rest_of(self, child: _Child, now: float) -> float:
        """Seconds until one that others can do without is started again: the longer, the more often it ended lately."""
        child.deaths.append(Death(at=now, had_worked=True))
        patience = child.program.patience or self._patience
        return _ASKED_EVERY if child.displaced else patience.pause(child.deaths) or 0.0


def _has_models(root: Path) -> bool:
    """Whether models beyond the built-in one are chosen, some are there whole, and what loads them is installed; the worker sees to the rest."""
    chosen = _field(root / MODELS_CHOICE, "tier") not in {None, "builtin"}
    return chosen and can_run(root) and any(_field(path, "completed_at") for path in root.glob(MODEL_RECORDS))


def _field(path: Path, name: str) -> object:
    """A field of a JSON file; nothing where there is no such file or field."""
    try:
        return cast("dict[str, object]", json.loads(path.read_bytes())).get(name)
    except (OSError, ValueError, AttributeError):
        return None


@dataclass(slots=True, kw_only=True, eq=False)
class _Child:
    program: Program
    log: Path
    process: subprocess.Popen[bytes] | None = None
    deaths: list[Death] = field(default_factory=list[Death])
    due: float | None = None
    displaced: bool = False
    mute: int = 0
    """How many times in a row it did not answer."""

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    @property
    def pid(self) -> int:
        return -1 if self.process is None else self.process.pid

    @property
    def code(self) -> int | None:
        return None if self.process is None else self.process.returncode

    def start(self, ended: Callable[[_Child], None]) -> None:
        self.due, self.mute = None, 0
        with child_log.opened(self.log) as log:
            self.process = subprocess.Popen(list(self.program.words), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)
        threading.Thread(target=self._await, args=(self.process, ended), daemon=True).start()

    def _await(self, process: subprocess.Popen[bytes], ended: Callable[[_Child], None]) -> None:
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        ended(self)

    def end_at_once(self) -> None:
        if self.process is not None:
            self.process.kill()

    def say_goodbye(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()

    def see_off(self) -> None:
        if self.process is None:
            return
        for insist, patience in ((self.process.terminate, LONGEST_GOODBYE), (self.process.kill, _INSISTING)):
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                insist()
        self.process.wait()

    def last_words(self) -> str:
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        said = [line.strip() for line in lines[-_LAST_WORDS:] if line.strip()]
        return f"Its last words: {said[-1]} (more in {self.log})." if said else ""
