"""The worker with made up models as a process of its own, and waiting for what becomes of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from time import monotonic
from unittest.mock import patch

from lean_memory.errors import LeanMemoryError
from lean_memory.models.installed import FileRecord, ModelRecord, Voucher, choose_tier, model_folder, models_folder, write_record
from lean_memory.models.manifest import Role
from lean_memory.models.remote import Link
from lean_memory.models.worker_file import State, Worker, read_worker
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.runtime import admin_token
from lean_memory_desktop.supervisor import End, Program, Supervisor, service_program
from support import slow_worker
from support.children import paths as environment
from support.shim import environment as service_environment
from support.supervised import eventually, live


def words(root: Path, *more: str) -> list[str]:
    """The command that starts it."""
    return [sys.executable, "-m", "support.slow_worker", "--root", str(root), *more]


def start(root: Path, *more: str) -> subprocess.Popen[bytes]:
    """A worker; closing its standard input ends one that is `--supervised`."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return subprocess.Popen(words(root, *more), stdin=subprocess.PIPE, env=environment())


@contextlib.contextmanager
def running(root: Path, *more: str) -> Generator[subprocess.Popen[bytes]]:
    """A worker until the block ends."""
    process = start(root, *more)
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.kill()
        process.wait()


def wait_for(link: Link, state: State, role: Role = Role.EMBEDDER) -> None:
    """Return once a model is that far."""
    eventually(lambda: link.look()[role].state is state)


def put_in_use(root: Path, manifest: str = slow_worker.MANIFEST) -> Path:
    """Put the made up models into a data root as if they had been fetched, and choose their tier; gives the list that names them."""
    listed = root.with_name(f"{root.name}-manifest.toml")
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(manifest, encoding="utf-8")
    for role in Role:
        spec = slow_worker.spec(role)
        folder = model_folder(models_folder(root), spec)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        file = FileRecord(size=2, sha256=hashlib.sha256(b"{}").hexdigest(), voucher=Voucher.FIRST_COPY)
        write_record(folder, spec, ModelRecord(files={"config.json": file}, completed_at=1))
    choose_tier(root, "slow")
    return listed


def killed(root: Path) -> float:
    """Kill the worker of a data root once its embedder is ready; seconds until another one says that it is there."""
    found = list[Worker]()

    def is_ready() -> bool:
        found[:] = [running for running in [read_worker(root)] if running is not None]
        return bool(found) and found[0].roles[Role.EMBEDDER].state is State.READY

    eventually(is_ready)
    os.kill(found[0].pid, signal.SIGKILL)
    began = monotonic()
    eventually(lambda: (now := read_worker(root)) is not None and now.instance != found[0].instance)
    return monotonic() - began


@contextlib.contextmanager
def beside_service(root: Path, listed: Path, *programs: Program) -> Generator[ServiceClient]:
    """A client of a service that a supervisor keeps running, with programs beside it, until the block ends; `listed` names the models."""
    paths = os.pathsep.join([service_environment(root)["PYTHONPATH"], environment()["PYTHONPATH"]])
    with patch.dict(os.environ, {"LM_MODELS_MANIFEST": str(listed), "PYTHONPATH": paths}):
        every = [service_program(root), *programs]
        supervisor = Supervisor(root, every, in_use=lambda: True, elsewhere=lambda: False, worked=lambda _: True, answers=lambda: True)
        ends: list[End] = []
        supervising = threading.Thread(target=lambda: ends.append(supervisor.run()))
        supervising.start()
        try:
            yield ServiceClient(root, live(root), admin_token(root))
        finally:
            supervisor.stop()
            supervising.join(60)
        assert ends == [End.ASKED]


def killed_under_load(root: Path, client: ServiceClient, *, times: int) -> tuple[list[float], list[str]]:
    """Kill the worker while one thread adds boxes and another asks for them: seconds until there was another one, and the calls that failed."""
    over, failed = threading.Event(), list[str]()

    def use(*, adds: bool) -> None:
        number = 0
        while not over.is_set() or number < 40:
            number += 1
            try:
                _ = client.add(f"The code of box {number} is {number * 13}.") if adds else client.search("box 3")
            except LeanMemoryError as error:
                failed.append(str(error))

    users = [threading.Thread(target=use, kwargs={"adds": adds}) for adds in (True, False)]
    for user in users:
        user.start()
    try:
        back = [killed(root) for _ in range(times)]
    finally:
        over.set()
        for user in users:
            user.join()
    return back, failed
