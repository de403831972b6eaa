"""The service as a process of its own on 127.0.0.1, with a data root of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import lean_memory
import lean_memory_bridge
import lean_memory_webui
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.runtime import Live, Runtime, admin_token, find, read_runtime

PATIENCE = 60
"""Seconds within which a process has to start or to end."""


@dataclass(kw_only=True)
class ServiceProcess:
    """A service that was started; its standard error is a file, so that nobody has to read it."""

    root: Path
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def live(self) -> Live:
        """The service, which has proved that it is the one."""
        found = find(self.root, timeout=10)
        assert found is not None, self.said
        return found

    @property
    def runtime(self) -> Runtime:
        """What its runtime file says."""
        found = read_runtime(self.root)
        assert found is not None
        return found

    @property
    def said(self) -> str:
        """What it wrote on standard error so far."""
        return self.log.read_text(encoding="utf-8")

    def client(self, name: str | None = None) -> ServiceClient:
        """A typed client of it, as one of the person's programs or for a named assistant."""
        return ServiceClient(self.root, self.live, admin_token(self.root), client=name)

    def wait_until_up(self) -> ServiceProcess:
        """Return once it answers."""
        assert self.process.stdout is not None
        self.process.stdout.readline()
        assert self.process.poll() is None, self.said
        return self

    def terminate(self) -> int:
        """Ask it to end, and give its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """Its exit code, once it has ended."""
        code = self.process.wait(timeout=PATIENCE)
        self._close()
        return code

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.ended()

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def start_service(
    root: Path, log: Path, *arguments: str, packages: Path | None = None, environ: Mapping[str, str] | None = None
) -> ServiceProcess:
    """Start a service; `wait_until_up` says when it answers. With `--supervised` closing its standard input ends it.

    `packages` is a folder of packages that come before the installed ones, `environ` what it finds in its environment beside the usual.
    """
    ours = [str(Path(package.__file__ or "").parents[1]) for package in (lean_memory, lean_memory_bridge, lean_memory_webui)]
    found = ours if packages is None else [str(packages), *ours]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LM_")}
    if "--port" not in arguments and read_runtime(root) is None:
        arguments = (*arguments, "--port", str(_own_port()))
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-W", "error::ResourceWarning", "-m", "lean_memory_bridge", "--root", str(root), "--announce", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**kept, "PYTHONPATH": os.pathsep.join(found), "LM_TZ": "Europe/Vienna", **(environ or {})},
        )
    return ServiceProcess(root=root, process=process, log=log)


def _own_port() -> int:
    """A free port that neither another service nor the system gives to anybody, so that it is free again for one that comes after a crash."""
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return port


@contextlib.contextmanager
def running_service(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Generator[ServiceProcess]:
    """A service that answers, until the block ends."""
    service = start_service(folder / "memory", folder / "service.log", *arguments, environ=environ).wait_until_up()
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.process.kill()
            service.ended()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An HTTP response, read to its end."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def json(self) -> object:
        return json.loads(self.body)


def send(port: int, method: str, path: str, headers: Mapping[str, str | None], body: bytes | None = None) -> Reply:
    """One request with exactly these headers beside Content-Length; a Host of `None` leaves that header out, and Host is right if not given."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    given = {"Host": f"127.0.0.1:{port}", **headers}
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return Reply(status=answer.status, body=answer.read(), headers=dict(answer.getheaders()))
    finally:
        connection.close()
