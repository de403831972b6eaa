"""One service per data root, whatever the runtime file, the process table and the port look like."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from lean_memory.only_one import only_one
from lean_memory_bridge.runtime import (
    DEFAULT_PORT,
    EXIT_ALREADY_RUNNING,
    HOST,
    Runtime,
    admin_token,
    find,
    proof,
    read_runtime,
    verify,
    write_runtime,
)
from support.service import ServiceProcess


class Starts(Protocol):
    root: Path

    def start(self, *arguments: str, packages: Path | None = None) -> ServiceProcess: ...
    def begin(self, *arguments: str, packages: Path | None = None) -> ServiceProcess: ...


@contextlib.contextmanager
def listener(answer: bytes | None = None) -> Iterator[int]:
    """A foreign program on a port of its own that takes connections, and says `answer` or nothing."""
    with socket.create_server((HOST, 0)) as server:
        done = threading.Event()

        def serve() -> None:
            kept: list[socket.socket] = []
            while not done.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = server.accept()
                    kept.append(connection)
                    if answer is not None:
                        connection.recv(4096)
                        connection.sendall(answer)
                        connection.close()
            for connection in kept:
                connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            done.set()
            with contextlib.suppress(OSError), socket.create_connection(server.getsockname(), timeout=5):
                pass
            thread.join(timeout=10)


def stale(port: int, pid: int = 999_999) -> Runtime:
    return Runtime(port=port, pid=pid, started_at=1, version="0", instance="of-a-dead-one")


def test_the_runtime_file_tells_where_it_is_and_is_gone_afterwards(services: Starts) -> None:
    service = services.start()
    runtime, live = service.runtime, service.live
    assert (runtime.port, runtime.pid, runtime.instance) == (live.port, service.process.pid, live.instance)
    assert (services.root / "runtime.json").stat().st_mode & 0o777 == 0o600
    assert service.terminate() == 0
    assert not (services.root / "runtime.json").exists()
    assert find(services.root) is None


def test_of_five_that_start_together_one_serves_and_the_others_say_so(services: Starts) -> None:
    started = [services.begin() for _ in range(5)]
    codes: dict[int, int] = {}
    reaped = threading.Semaphore(0)

    def wait(number: int, service: ServiceProcess) -> None:
        codes[number] = service.process.wait()
        reaped.release()

    threads = [threading.Thread(target=wait, args=each) for each in enumerate(started)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        assert reaped.acquire(timeout=60)
    (serving,) = [service for number, service in enumerate(started) if number not in codes]
    assert set(codes.values()) == {EXIT_ALREADY_RUNNING}
    serving.wait_until_up()
    assert serving.live.pid == serving.process.pid
    assert serving.client().namespaces().namespaces == ()
    assert serving.terminate() == 0
    for thread in threads:
        thread.join(timeout=10)
    for service in started:
        service.ended()


@pytest.mark.parametrize("kind", ["closed port", "mute", "foreign", "own pid"])
def test_a_stale_runtime_file_is_no_hindrance(services: Starts, kind: str) -> None:
    with contextlib.ExitStack() as stack:
        port = 1
        if kind == "mute":
            port = stack.enter_context(listener())
        elif kind == "foreign":
            port = stack.enter_context(listener(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
        write_runtime(services.root, stale(port, os.getpid()))
        assert find(services.root, timeout=0.5) is None
        service = services.start()
        assert service.live.port != port
        assert service.runtime.instance != "of-a-dead-one"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"port": "x"}', b'{"port": 0, "pid": 1, "started_at": 1}', b"\xff\xfe"])
def test_a_runtime_file_that_makes_no_sense_is_no_hindrance(services: Starts, content: bytes) -> None:
    services.root.mkdir()
    (services.root / "runtime.json").write_bytes(content)
    assert read_runtime(services.root) is None
    assert services.start().live.pid > 0


def test_a_taken_port_gives_way_to_the_next_free_one(services: Starts) -> None:
    with listener() as taken:
        service = services.start("--port", str(taken))
        assert service.live.port != taken
        assert service.live.port >= DEFAULT_PORT


def test_a_service_that_comes_back_after_a_crash_keeps_its_port(services: Starts) -> None:
    with socket.create_server((HOST, 0)) as found:
        free = found.getsockname()[1]
    first = services.start("--port", str(free))
    assert first.live.port == free
    first.kill()
    assert services.start().live.port == free


def test_a_second_one_leaves_when_the_first_is_frozen(services: Starts) -> None:
    services.root.mkdir()
    with only_one(services.root / "service.lock") as mine:
        assert mine
        second = services.begin("--wait", "1")
        code = second.process.wait(timeout=120)
    assert code == EXIT_ALREADY_RUNNING
    assert "does not answer" in second.said
    second.ended()


def test_an_older_version_makes_room(services: Starts, tmp_path: Path) -> None:
    first = services.start()
    packages = tmp_path / "newer"
    (packages / "lean_memory_desktop-99.0.dist-info").mkdir(parents=True)
    (packages / "lean_memory_desktop-99.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: lean-memory-desktop\nVersion: 99.0\n"
    )
    second = services.start(packages=packages)
    assert first.ended() == 0
    assert second.live.version == "99.0"


def test_the_token_is_made_once_however_many_ask(tmp_path: Path) -> None:
    given: list[str] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        given.append(admin_token(tmp_path / "memory"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == 1
    assert sorted(path.name for path in (tmp_path / "memory").iterdir()) == ["admin.token"]
    assert (tmp_path / "memory" / "admin.token").stat().st_mode & 0o777 == 0o600


def test_a_token_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    token = admin_token(tmp_path)
    (tmp_path / "admin.token").chmod(0o644)
    assert admin_token(tmp_path) == token
    assert (tmp_path / "admin.token").stat().st_mode & 0o777 == 0o600


def test_a_stranger_cannot_pass_for_the_service_by_passing_the_challenge_on(services: Starts) -> None:
    service = services.start()
    token = admin_token(services.root)
    real = service.live

    def passed_on(challenge: str) -> bytes:
        said = {"instance": real.instance, "version": "0", "pid": 1, "proof": proof(token, challenge, real.instance, real.port)}
        body = json.dumps(said).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    with socket.create_server((HOST, 0)) as stranger:

        def serve() -> None:
            connection, _ = stranger.accept()
            with connection:
                asked = connection.recv(4096).decode()
                connection.sendall(passed_on(asked.partition("challenge=")[2].partition(" ")[0]))

        thread = threading.Thread(target=serve)
        thread.start()
        assert verify(stale(stranger.getsockname()[1]), token) is None
        thread.join(timeout=10)
    assert verify(service.runtime, token) == real
    assert verify(service.runtime, "x" * 43) is None


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_service_that_stands_still_is_not_taken_for_a_live_one(services: Starts) -> None:
    service = services.start()
    service.process.send_signal(signal.SIGSTOP)
    try:
        assert find(services.root, timeout=0.5) is None
    finally:
        service.process.send_signal(signal.SIGCONT)
    assert find(services.root, timeout=10) is not None
