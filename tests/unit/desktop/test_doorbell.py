"""A second start is heard by the first one, and by nobody else."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory_desktop.doorbell import TRAY_FILE, Doorbell, ring
from lean_memory_desktop.remembered import read_object, write_object
from support.supervised import eventually


@pytest.fixture
def pages() -> queue.SimpleQueue[str]:
    return queue.SimpleQueue()


@pytest.fixture
def bell(root: Path, pages: queue.SimpleQueue[str]) -> Iterator[Doorbell]:
    root.mkdir()

    def comes(page: str) -> bool:
        pages.put(page)
        return page != "time"

    made = Doorbell(root, comes)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def rung(bell: Doorbell, pages: queue.SimpleQueue[str]) -> queue.SimpleQueue[str]:
    del bell
    return pages


def test_it_is_heard_with_the_page_that_is_wished_for(root: Path, rung: queue.SimpleQueue[str]) -> None:
    assert ring(root, "review")
    assert ring(root)
    assert (rung.get(timeout=10), rung.get(timeout=10)) == ("review", "")


def test_one_that_is_ending_says_that_nothing_comes(root: Path, rung: queue.SimpleQueue[str]) -> None:
    assert not ring(root, "time")
    assert rung.get(timeout=10) == "time"


def test_without_the_word_nobody_is_heard(root: Path, rung: queue.SimpleQueue[str]) -> None:
    held = read_object(root / TRAY_FILE)
    for said in (b"review\n", b"\n", b"\xff\xfe review\n", b"x" * 10_000):
        # It may hang up before it has heard all.
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", held["port"]), timeout=10) as stranger:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(100) == b""
    assert ring(root, "models")
    assert rung.get(timeout=10) == "models"


def test_a_caller_that_dawdles_does_not_keep_others_out(root: Path, rung: queue.SimpleQueue[str]) -> None:
    gone = threading.Event()

    def drip(stranger: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while not gone.wait(0.5):
                stranger.sendall(b"x")

    with socket.create_connection(("127.0.0.1", read_object(root / TRAY_FILE)["port"]), timeout=10) as stranger:
        dripping = threading.Thread(target=drip, args=(stranger,))
        dripping.start()
        try:
            eventually(lambda: ring(root, "review"))
        finally:
            gone.set()
            dripping.join()
    assert rung.get(timeout=10) == "review"


def test_a_note_that_somebody_removed_is_put_back(root: Path, bell: Doorbell, pages: queue.SimpleQueue[str]) -> None:
    (root / TRAY_FILE).unlink()
    assert not ring(root)
    bell.put_back()
    assert ring(root, "models")
    assert pages.get(timeout=10) == "models"


def test_only_the_owner_can_read_the_word(root: Path, rung: queue.SimpleQueue[str]) -> None:
    del rung
    if os.name == "posix":
        assert (root / TRAY_FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("held", [{}, {"port": 0, "word": "x"}, {"port": "7", "word": "x"}, {"port": 1, "word": "x"}])
def test_where_nobody_listens_nobody_hears(root: Path, held: dict[str, object]) -> None:
    root.mkdir()
    assert not ring(root)
    write_object(root / TRAY_FILE, held)
    assert not ring(root)
