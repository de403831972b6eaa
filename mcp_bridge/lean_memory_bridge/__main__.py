"""`python -m lean_memory_bridge --root R`: the service of one data root, in the foreground."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from lean_memory.model_choice import passes_beside
from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.models.in_use import RemoteModels
from lean_memory.only_one import only_one
from lean_memory.service import MemoryService
from lean_memory.settings import read_settings
from lean_memory_bridge import takeover
from lean_memory_bridge.app import Service
from lean_memory_bridge.listening import Server, bound
from lean_memory_bridge.logs import Formatter
from lean_memory_bridge.runtime import (
    EXIT_ALREADY_RUNNING,
    EXIT_BEGIN_ANEW,
    HOST,
    Runtime,
    admin_token,
    read_runtime,
    remove_runtime,
    write_runtime,
)

LOCK = "service.lock"
PATIENCE = 30.0
"""Seconds to wait for a service that is starting or ending."""
_TRIAL = "warming"
"""The folder of the data root in which the models are tried out."""
_FIRST_FREE = 1024
"""Ports below are for programs of the system."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; 0 then, `EXIT_ALREADY_RUNNING` where another service has the data root, `EXIT_BEGIN_ANEW` for other models."""
    chosen = _read(arguments)
    told = logging.StreamHandler(sys.stderr)
    told.setFormatter(Formatter())
    logging.basicConfig(level=logging.WARNING, handlers=[told])
    supervisor = _Supervisor()
    if chosen.supervised:
        threading.Thread(target=supervisor.watch, daemon=True).start()
    root = read_settings(chosen.root).root
    try:
        return _served(root, chosen, supervisor)
    except OSError as error:
        print(f"The service for {root} cannot run: {error.strerror or error}. All that was acknowledged is kept.", file=sys.stderr)
        return 1


def _served(root: Path, chosen: argparse.Namespace, supervisor: _Supervisor) -> int:
    token = admin_token(root)
    deadline = time.monotonic() + chosen.wait
    while True:
        with only_one(root / LOCK) as mine:
            if mine:
                return _serve(root, token, chosen, supervisor)
        other = takeover.meet(root, token, version())
        if other is not None:
            print(f"A service for {root} is running at {other.address} already (process {other.pid}).", file=sys.stderr)
            return EXIT_ALREADY_RUNNING
        if time.monotonic() > deadline:
            print(f"Another process holds {root / LOCK} and does not answer; end it, then start again.", file=sys.stderr)
            return EXIT_ALREADY_RUNNING
        time.sleep(0.05)


def version() -> str:
    """The version of the installed program; of a source tree that is not installed, 0."""
    try:
        return metadata.version("lean-memory-desktop")
    except metadata.PackageNotFoundError:
        return "0"


def warm(root: Path, memory: MemoryService, embedder: BuiltinEmbedder) -> None:
    """Load what the first calls would wait for, and finish what an earlier process left in any namespace. Raises `LeanMemoryError`."""
    folder = root / _TRIAL
    # In the data root, where the next one finds and removes what a process that was ended meanwhile has left.
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with MemoryService(folder, embedder=embedder) as trial:
            trial.add("warm", "I moved to Porto on 3 May 2024.")
            trial.search("warm", "Where do I live?")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for status in memory.status():
        if status.unfinished and status.writable:
            memory.facts(status.name, limit=1)


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m lean_memory_bridge", description="The memory service of one data folder, on this computer only."
    )
    parser.add_argument("--root", help="the data folder; LM_DATA_ROOT or ~/.lean_memory where it is left out")
    parser.add_argument("--port", type=int, help="the port to try first")
    parser.add_argument("--supervised", action="store_true", help="end when standard input ends, as it does when the supervisor dies")
    parser.add_argument("--wait", type=float, default=PATIENCE, help="seconds to wait for a service that is starting or ending")
    parser.add_argument("--announce", action="store_true", help="write the port on standard output once requests are answered")
    return parser.parse_args(arguments)


def _serve(root: Path, token: str, chosen: argparse.Namespace, supervisor: _Supervisor) -> int:
    stale = read_runtime(root)
    # After a crash HTTP clients still know the port of before.
    wanted = [number for number in (chosen.port, stale.port if stale and stale.port >= _FIRST_FREE else None) if number is not None]
    with bound(wanted) as listener:
        runtime = Runtime(
            port=listener.getsockname()[1],
            pid=os.getpid(),
            started_at=time.time_ns() // 1_000_000,
            version=version(),
            instance=secrets.token_hex(16),
        )
        code = 0
        try:
            code = _run(root, token, runtime, listener, chosen=chosen, supervisor=supervisor)
        finally:
            if code != EXIT_BEGIN_ANEW:
                # The next one, which comes at once, else would not know the port, and HTTP clients know no other.
                remove_runtime(root, runtime.instance)
        return code


def _run(root: Path, token: str, runtime: Runtime, listener: socket.socket, *, chosen: argparse.Namespace, supervisor: _Supervisor) -> int:
    settings, embedder = read_settings(root), BuiltinEmbedder()
    models = RemoteModels(settings)
    passes = passes_beside(settings, models.extractor)
    memory = MemoryService(settings=settings, embedder=embedder, second=models.embedder, reranker=models.reranker, passes=passes)
    outdated = threading.Event()

    def stop() -> None:
        server.stop()

    def begin_anew() -> None:
        # Without a supervisor nobody would start another one.
        if chosen.supervised:
            outdated.set()
            server.stop()

    service = Service(
        root=root,
        memory=memory,
        runtime=runtime,
        token=token,
        warm=lambda: warm(root, memory, embedder),
        stop=stop,
        models=models,
        outdated=begin_anew,
    )
    server = Server(service.app, listening=lambda: _announce(root, runtime, aloud=chosen.announce), stopping=service.begin_to_stop)
    supervisor.when_gone(server.stop)
    server.run([listener])
    return EXIT_BEGIN_ANEW if outdated.is_set() else 0


def _announce(root: Path, runtime: Runtime, *, aloud: bool) -> None:
    write_runtime(root, runtime)
    if aloud:
        print(runtime.port, flush=True)
    print(f"Lean Memory serves {root} at http://{HOST}:{runtime.port}", file=sys.stderr, flush=True)


class _Supervisor:
    """Whoever holds the other end of standard input. Before there is a server nothing has to be put in order, and the process ends at once with it."""

    def __init__(self) -> None:
        self._end: Callable[[], None] = lambda: os._exit(0)
        self._lock = threading.Lock()

    def when_gone(self, end: Callable[[], None]) -> None:
        """Do this instead from now on."""
        with self._lock:
            self._end = end

    def watch(self) -> None:
        """Wait for the end of standard input."""
        # Not sys.stdin: a thread that waits inside it makes the interpreter abort at its end.
        while os.read(0, 4096):
            pass
        with self._lock:
            self._end()


if __name__ == "__main__":
    sys.exit(main())
