"""What runs of an installation: found, ended in good order, and started again as it ran."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lean_memory_setup.asking import bare_environment
from lean_memory_setup.failing import SetupError

PATIENCE = 60.0
"""Seconds; a service that is told to end may finish what it is doing first."""
_LAST_PATIENCE = 20.0
_KILL = 9
"""SIGKILL, which Windows has no name for."""
_MODULE = "lean_memory_desktop"
_COMMAND = "lean-memory"
_AT_LOGIN = "--at-login"
_WITH_VALUE = frozenset({"--root", "--namespace", "-n", "--tz"})
"""The options before the command whose value is a word of its own."""
_MOUNTS = Path("ns", "mnt")
_TAKES_OVER = f"""
import sys
from pathlib import Path
from {_MODULE} import instance
from {_MODULE}.taking_over import taken_over
root = Path(sys.argv[1])
if not root.is_dir():
    sys.exit(0)
with instance.claimed(root) as free:
    pass
if not free:
    with taken_over(root) as mine:
        sys.exit(10 if mine else 11)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """How a process was started: its words, its environment, its folder and whose it is (`None` where it is ours)."""

    words: tuple[str, ...]
    environ: Mapping[str, str]
    folder: str
    user: int | None = None
    group: int | None = None


class Runs(Protocol):
    """One way to end what runs."""

    def stop(self) -> Sequence[Started]:
        """End every tray and every service, and say how each was started. Raises `SetupError` where one stays; the others run again then."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """Linux: those that the table of processes shows, of everybody if we are root, otherwise our own. `home` is the installation's folder."""

    home: Path
    table: Path = Path("/proc")
    patience: float = PATIENCE
    """Seconds after which one that hangs is killed: whatever was acknowledged is on the disk."""
    last_patience: float = _LAST_PATIENCE
    """Seconds in which one that was killed has to be gone."""

    def stop(self) -> Sequence[Started]:
        found = self._found()
        for number, _ in found:
            _send(number, signal.SIGTERM)
        if left := self._left_alive({number for number, _ in found}):
            sentence = f"Lean Memory is still running (process {min(left)}) and cannot be ended. Restart the computer and try again."
            raise _refused(sentence, [started for number, started in found if number not in left])
        return [started for _, started in found]

    def _found(self) -> list[tuple[int, Started]]:
        seen = [(number, self._started(number)) for number in _numbers(self.table)]
        return [(number, started) for number, started in seen if started is not None]

    def _started(self, number: int) -> Started | None:
        entry = self.table / str(number)
        try:
            words, before = _parts((entry / "cmdline").read_bytes()), entry.stat()
            if not self._keeps_running(words) or not _is_python_here(entry):
                return None
            pairs = (part.partition("=") for part in _parts((entry / "environ").read_bytes()))
            whose, folder = entry.stat(), str((entry / "cwd").readlink())
        except OSError:
            return None
        if whose.st_uid != before.st_uid:
            # It has become another program meanwhile.
            return None
        return Started(words=words, environ={name: value for name, _, value in pairs}, folder=folder, user=whose.st_uid, group=whose.st_gid)

    def _keeps_running(self, words: Sequence[str]) -> bool:
        """Whether it is what keeps all else running: the tray or `serve`. The rest ends with it, or belongs to an assistant."""
        if not words or not words[0].startswith(f"{self.home}/env"):
            return False
        given = list(words[1:])
        if "-m" in given:
            place = given.index("-m") + 1
            if given[place : place + 1] != [_MODULE]:
                return False
            given = given[place + 1 :]
        else:
            script = next((place for place, word in enumerate(given) if not word.startswith("-")), None)
            if script is None or Path(given[script]).name != _COMMAND:
                return False
            given = given[script + 1 :]
        return _commands(given)[:1] in ([], ["serve"])

    def _left_alive(self, numbers: set[int]) -> set[int]:
        """Those that live on although they were told to end and then killed."""
        left = self._left(numbers, self.patience)
        for number in left:
            _send(number, _KILL)
        return self._left(left, self.last_patience)

    def _left(self, numbers: set[int], patience: float) -> set[int]:
        """Those that still live when `patience` seconds are over."""
        deadline = time.monotonic() + patience
        while (numbers := {number for number in numbers if self._lives(number)}) and time.monotonic() < deadline:
            time.sleep(0.05)
        return numbers

    def _lives(self, number: int) -> bool:
        try:
            state = (self.table / str(number) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        return state[:1] != [b"Z"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervisors:
    """macOS and Windows: the supervisor of each data root is asked to leave, by the installed program; what ran is started again as the tray."""

    python: Path
    roots: Sequence[Path]
    patience: float = 2 * PATIENCE
    """Seconds for each data root."""

    def stop(self) -> Sequence[Started]:
        stopped: list[Started] = []
        for root in self.roots:
            made_way = self._made_way(root)
            if made_way is None:
                raise _refused(f"Lean Memory is still running for {root} and did not end. Quit it and start again.", stopped)
            if made_way:
                stopped.append(self._as_tray(root))
        return stopped

    def _made_way(self, root: Path) -> bool | None:
        """Whether one ran and has left; `None` where that cannot be said, as it did not leave or the program does not answer."""
        words = [str(self.python), "-I", "-c", _TAKES_OVER, str(root)]
        try:
            done = subprocess.run(
                words, env=bare_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=self.patience, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return {0: False, 10: True}.get(done.returncode)

    def _as_tray(self, root: Path) -> Started:
        quiet = self.python.with_name("pythonw.exe")
        python = quiet if quiet.exists() else self.python
        words = (str(python), "-P", "-m", _MODULE, "--root", str(root), _AT_LOGIN)
        return Started(words=words, environ=bare_environment(), folder=str(Path.home()))


def start_again(started: Started) -> None:
    """Start what ran, detached from us. A tray does not open its window by it. Raises `OSError`."""
    words = list(started.words)
    if "serve" not in words and _AT_LOGIN not in words:
        words.append(_AT_LOGIN)
    folder = started.folder if Path(started.folder).is_dir() else "/"
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
        null = subprocess.DEVNULL
        # Whoever reads what we say would wait for the end of what goes on.
        subprocess.Popen(words, env=dict(started.environ), cwd=folder, stdin=null, stdout=null, stderr=null, creationflags=flags)
        return
    theirs = started.user is not None and started.user != os.getuid()
    # The shell leaves at once, so that what it started is nobody's child that would have to be waited for.
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", *words],
        env=dict(started.environ),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        user=started.user if theirs else None,
        group=started.group if theirs else None,
        extra_groups=[] if theirs else None,
        check=False,
    )


def _refused(sentence: str, stopped: Sequence[Started]) -> SetupError:
    """What is raised where one stays: everything is as it was, and so what was ended by then runs again."""
    for one in stopped:
        try:
            start_again(one)
        except OSError as error:
            sentence += f" What else ran was ended and could not be started again ({error})."
    return SetupError(sentence)


def _is_python_here(entry: Path) -> bool:
    """Whether the system itself says that a process is a Python, and in no container: whoever starts a process writes its words as they like,
    and we start them again as its owner. `sudo` belongs to root and waits for a password under whatever words it was given. Raises `OSError`.
    """
    return (entry / "exe").readlink().name.startswith("python") and (entry / _MOUNTS).readlink() == (
        Path("/proc/self") / _MOUNTS
    ).readlink()


def _send(number: int, what: int) -> None:
    try:
        os.kill(number, what)
    except (ProcessLookupError, PermissionError):
        # One that is not ours to end is among those that stay.
        return


def _numbers(table: Path) -> list[int]:
    return [int(entry.name) for entry in table.iterdir() if entry.name.isdecimal() and int(entry.name) != os.getpid()]


def _parts(held: bytes) -> tuple[str, ...]:
    return tuple(os.fsdecode(part) for part in held.split(b"\0") if part)


def _commands(given: Sequence[str]) -> list[str]:
    """The words that are neither options nor the value of one: the first is the command."""
    before = ("", *given)
    return [word for word, ahead in zip(given, before, strict=False) if not word.startswith("-") and ahead not in _WITH_VALUE]
