"""The tray app on a desktop that nobody sees: `python -m bench.tray [--rest SECONDS] [--cycles N] [--deaths N]`.

Prints JSON lines. First the start: seconds until the icon stands and until a search is answered; then, where asked, memory and share of a core
at rest. Each cycle kills the service and the window, some also the worker, with -9 while a client adds statements, and tells how long each was away
(with the pause that grows with the deaths of the last minute) and what the tray holds by then; each death kills the tray itself and tells after how long nothing of it was left. At the end: statements that were
acknowledged and are lost, or there twice.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from time import monotonic, sleep

import psutil

import lean_memory_webui
from desktop_session.desk import Desktop, desktop
from lean_memory.errors import LeanMemoryError
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.runtime import find
from support import worker
from support.shim import environment
from support.supervised import eventually, is_alive

PATIENCE = 300.0
WORKER_EVERY = 20
"""Cycles from one death of the worker to the next: one that dies more often is started less and less often, by intention."""
CHILDREN = {"lean_memory_bridge": "service", "lean_memory.models": "worker", "lean_memory_desktop.window": "window"}

HOLLOW = """
import sys

class Nothing:
    __getattr__ = __call__ = lambda self, *_, **__: self
    __bool__ = lambda self: False

sys.modules[__name__] = Nothing()
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rest", type=float, default=0.0)
    parser.add_argument("--cycles", type=int, default=0)
    parser.add_argument("--deaths", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lean-memory-bench-") as made:
        folder = Path(made)
        root = folder / "memory"
        with desktop(folder / "desk", _environment(folder, root, has_worker=chosen.cycles > 0)) as desk:
            tray = Trayed(desk, root)
            tray.start()
            if chosen.rest:
                tray.rest(chosen.rest)
            if chosen.cycles or chosen.deaths:
                with adding(root) as said:
                    for number in range(chosen.cycles):
                        tray.cycle(number + 1)
                    for number in range(chosen.deaths):
                        tray.die(number + 1)
                tell(statements=said.acknowledged, unanswered=said.unanswered, **said.kept())
            tray.end()


class Trayed:
    """The tray of `root`."""

    def __init__(self, desk: Desktop, root: Path) -> None:
        self._desk, self._root = desk, root
        self._process: subprocess.Popen[bytes]

    def start(self) -> None:
        began = monotonic()
        words = [sys.executable, "-P", "-m", "lean_memory_desktop", "--root", str(self._root)]
        self._process = subprocess.Popen(words, env=self._desk.environ, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took: dict[str, float] = {}

        def watch() -> None:
            eventually(self._has_icon, patience=PATIENCE)
            took["icon_s"] = round(monotonic() - began, 2)

        watching = threading.Thread(target=watch)
        watching.start()
        client = connected(self._root)
        client.search("where do I live")
        took["answered_s"] = round(monotonic() - began, 2)
        watching.join()
        tell(**took, **self._held())

    def rest(self, seconds: float) -> None:
        sleep(20)
        every = {"tray": self._process.pid, **self._children()}
        before = {name: _worked(pid) for name, pid in every.items()}
        sleep(seconds)
        shares = {f"{name}_core_percent": round(100 * (_worked(pid) - before[name]) / seconds, 3) for name, pid in every.items()}
        memory = {f"{name}_rss_mb": round(psutil.Process(pid).memory_info().rss / 1e6) for name, pid in every.items()}
        tell(rest_s=seconds, **shares, **memory)

    def cycle(self, number: int) -> None:
        eventually(lambda: {"service", "worker"} <= set(self._children()), patience=PATIENCE)
        if "window" not in self._children():
            self._summon()
        killed = [name for name in CHILDREN.values() if name != "worker" or number % WORKER_EVERY == 1]
        away = {f"{name}_away_s": self._killed(name) for name in killed}
        tell(cycle=number, **away, **self._held())

    def die(self, number: int) -> None:
        self._summon()
        left = [child.pid for child in psutil.Process(self._process.pid).children(recursive=True)]
        began = monotonic()
        self._process.kill()
        self._process.wait()
        eventually(lambda: not any(is_alive(pid) for pid in left), patience=PATIENCE)
        tell(death=number, processes=len(left), all_gone_s=round(monotonic() - began, 2))
        self.start()

    def end(self) -> None:
        left = [child.pid for child in psutil.Process(self._process.pid).children(recursive=True)]
        self._process.terminate()
        tell(quit=self._process.wait(PATIENCE), left=sum(is_alive(pid) for pid in left))

    def _summon(self) -> None:
        words = [sys.executable, "-P", "-m", "lean_memory_desktop", "--root", str(self._root)]
        subprocess.run(words, env=self._desk.environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        eventually(lambda: self._desk.windows("Lean Memory"), patience=PATIENCE)

    def _killed(self, name: str) -> float:
        pid, before = self._children()[name], find(self._root, timeout=30)
        psutil.Process(pid).kill()
        began = monotonic()
        eventually(lambda: self._children().get(name, pid) != pid, patience=PATIENCE)
        if name == "service":
            eventually(lambda: (now := find(self._root, timeout=30)) is not None and now != before, patience=PATIENCE)
        elif name == "window":
            eventually(lambda: self._desk.windows("Lean Memory"), patience=PATIENCE)
        return round(monotonic() - began, 2)

    def _children(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for child in psutil.Process(self._process.pid).children():
            # Either may end between the two looks.
            with contextlib.suppress(psutil.Error):
                if child.status() != psutil.STATUS_ZOMBIE:
                    found |= {CHILDREN[word]: child.pid for word in child.cmdline() if word in CHILDREN}
        return found

    def _has_icon(self) -> bool:
        return bool(self._desk.ask("xdotool", "search", "--onlyvisible", "--class", "lean|main|python"))

    def _held(self) -> dict[str, float]:
        tray = psutil.Process(self._process.pid)
        return {
            "tray_rss_mb": round(tray.memory_info().rss / 1e6, 1),
            "files": tray.num_fds(),
            "threads": tray.num_threads(),
            "processes": len(tray.children(recursive=True)),
        }


class Said:
    """What a client added, and what of it is there."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.acknowledged = self.unanswered = 0
        self._texts: list[str] = []

    def add(self, number: int) -> None:
        text = f"The code of locker {number} is {number * 7 + 1000}."
        try:
            client = ServiceClient.find(self._root)
            if client is not None:
                client.add(text)
                self._texts.append(text)
                self.acknowledged += 1
        except LeanMemoryError:
            self.unanswered += 1

    def kept(self) -> dict[str, int]:
        client = connected(self._root)
        there = Counter(fact.fact_text for fact in client.facts(limit=100_000).facts)
        lost = sum(not any(text.removesuffix(".").split()[3] in fact.split() for fact in there) for text in self._texts)
        return {"lost": lost, "twice": sum(count > 1 for count in there.values()), "broken_invariants": len(client.check())}


@contextlib.contextmanager
def adding(root: Path) -> Generator[Said]:
    """A client that says something every now and then until the block ends."""
    said, over = Said(root), threading.Event()

    def run() -> None:
        number = 0
        while not over.wait(0.2):
            number += 1
            said.add(number)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield said
    finally:
        over.set()
        thread.join()


def connected(root: Path) -> ServiceClient:
    """A client of the service, once it answers."""
    eventually(lambda: find(root), patience=PATIENCE)
    found = ServiceClient.find(root, timeout=30)
    assert found is not None
    return found


def tell(**measured: object) -> None:
    print(json.dumps(measured), flush=True)


def _environment(folder: Path, root: Path, *, has_worker: bool) -> dict[str, str]:
    seen = environment(root)
    paths = [seen["PYTHONPATH"], str(Path(lean_memory_webui.__file__).parents[1])]
    if has_worker:
        # A worker that is started, killed and started again, and finds nothing that it can load.
        seen["LM_MODELS_MANIFEST"] = str(worker.put_in_use(root))
        hollow = folder / "hollow"
        hollow.mkdir()
        (hollow / "torch.py").write_text(HOLLOW, encoding="utf-8")
        paths.append(str(hollow))
    return {**seen, "PYTHONPATH": os.pathsep.join(paths)}


def _worked(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


if __name__ == "__main__":
    main()
