"""The worker as a process: models are there once for all, nobody waits for them, and nobody but the owner of the data gets to them."""

from __future__ import annotations

import contextlib
import http.client
import os
import select
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np
import pytest

from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.in_use import RemoteModels
from lean_memory.models.manifest import Role
from lean_memory.models.remote import Link, RemoteEmbedder, RemoteExtractor, RemoteReranker
from lean_memory.models.worker_file import LOCK_FILE, WORKER_FILE, State, read_worker, write_worker
from lean_memory.settings import read_settings
from support import slow_worker, worker
from support.embedding import WordEmbedder
from support.listening import StrangeListener
from support.supervised import eventually

TEXTS = [f"The {thing} number {number} is red." for number, thing in enumerate(["lamp", "door", "cat"] * 30)]
EMBEDDER, RERANKER, EXTRACTOR = (slow_worker.spec(role) for role in Role)


@pytest.fixture
def link(root: Path) -> Generator[Link]:
    made = Link(root)
    yield made
    made.close()


def test_texts_questions_and_pairs_go_there_and_their_answers_come_back_in_order(root: Path, link: Link) -> None:
    with worker.running(root):
        for role in Role:
            worker.wait_for(link, State.READY, role)
        made = RemoteEmbedder(link, EMBEDDER).embed(TEXTS)
        assert np.allclose(made, WordEmbedder().embed(TEXTS))
        assert np.allclose(RemoteEmbedder(link, EMBEDDER).embed_query("red lamp"), WordEmbedder().embed_query("red lamp"))
        assert RemoteEmbedder(link, EMBEDDER).embed([]).shape == (0, 64)
        assert RemoteReranker(link, RERANKER).score("red lamp", ["a lamp", "red lamp", ""], seconds=5).tolist() == [0.5, 1.0, 0.0]
        found = RemoteExtractor(link, EXTRACTOR).read(["Ana met Bob.", "", "no one"], labels=["person"], relations=[], threshold=0.5)
        assert [[(one.label, one.start, one.end, one.score) for one in markup.entities] for markup in found] == [
            [("person", 0, 3, 0.75), ("person", 8, 12, 0.75)],
            [],
            [],
        ]


def test_while_a_model_warms_calls_fail_at_once_and_say_so(root: Path, link: Link) -> None:
    with worker.running(root, "--seconds", "60"):
        worker.wait_for(link, State.WARMING)
        began = monotonic()
        for _ in range(100):
            with pytest.raises(ModelUnavailableError, match="not there yet"):
                RemoteEmbedder(link, EMBEDDER).embed_query("red lamp")
        assert monotonic() - began < 0.3


def test_nobody_waits_for_a_worker_that_was_killed_and_the_next_one_is_found(root: Path, link: Link) -> None:
    embedder = RemoteEmbedder(link, EMBEDDER)
    with worker.running(root) as first:
        worker.wait_for(link, State.READY)
        embedder.embed_query("lamp")
        first.kill()
        first.wait()
        for _ in range(3):
            with pytest.raises(ModelUnavailableError):
                embedder.embed_query("lamp")
        assert {state.state for state in link.look().values()} == {State.ABSENT}
    with worker.running(root):
        worker.wait_for(link, State.READY)
        assert embedder.embed_query("lamp").shape == (64,)


def test_a_worker_that_is_mute_costs_no_more_than_the_limit_and_only_once(root: Path, link: Link) -> None:
    embedder = RemoteEmbedder(link, EMBEDDER)
    with worker.running(root) as process:
        worker.wait_for(link, State.READY)
        process.send_signal(signal.SIGSTOP)
        began = monotonic()
        for _ in range(3):
            with pytest.raises(ModelUnavailableError):
                embedder.embed_query("lamp")
        assert monotonic() - began < 1.8
        process.send_signal(signal.SIGCONT)
        worker.wait_for(link, State.READY)
        embedder.embed_query("lamp")


def test_a_cross_encoder_that_is_too_slow_rests_and_says_so_and_no_search_waits_for_it(root: Path) -> None:
    settings = replace(read_settings(root), models_manifest=worker.put_in_use(root))
    with worker.running(root, "--judging", "2") as _, contextlib.closing(RemoteModels(settings)) as models:
        eventually(lambda: models.look()[Role.RERANKER].state is State.READY and models.serves(Role.RERANKER))
        reranker = models.reranker
        assert reranker is not None

        def rests() -> bool:
            models.look()
            with pytest.raises(ModelUnavailableError) as refused:
                reranker.score("red lamp", TEXTS, seconds=0.5)
            told = models.roles[Role.RERANKER]
            return "too slow for" in str(refused.value) and told.message == str(refused.value) and not models.serves(Role.RERANKER)

        eventually(rests)


def test_a_question_goes_before_the_texts_that_nobody_waits_for(root: Path, link: Link) -> None:
    with worker.running(root, "--pause", "0.02"):
        worker.wait_for(link, State.READY)
        embedder = RemoteEmbedder(link, EMBEDDER)
        reading = threading.Thread(target=embedder.embed, args=(TEXTS,))
        began = monotonic()
        reading.start()
        took: list[float] = []
        while reading.is_alive():
            asked = monotonic()
            embedder.embed_query("lamp")
            took.append(monotonic() - asked)
        assert monotonic() - began > 1.5
        assert sorted(took)[len(took) // 2] < 0.3


def test_a_model_that_nobody_asks_gives_its_memory_back_and_comes_back_when_somebody_does(root: Path, link: Link) -> None:
    with worker.running(root, "--lull", "0.4"):
        worker.wait_for(link, State.IDLE)
        with pytest.raises(ModelUnavailableError):
            RemoteEmbedder(link, EMBEDDER).embed_query("lamp")
        worker.wait_for(link, State.READY)
        assert RemoteEmbedder(link, EMBEDDER).embed_query("lamp").shape == (64,)


def test_a_model_of_another_revision_does_not_answer_in_its_place(root: Path, link: Link) -> None:
    with worker.running(root):
        worker.wait_for(link, State.READY)
        with pytest.raises(ModelUnavailableError, match="not one of those in use"):
            RemoteEmbedder(link, replace(EMBEDDER, revision="2")).embed_query("lamp")
        with pytest.raises(ModelError, match="another number of numbers"):
            RemoteEmbedder(link, replace(EMBEDDER, dims=65)).embed_query("lamp")


def test_its_file_is_its_owners_and_goes_with_it_and_there_is_one_worker_only(root: Path, link: Link) -> None:
    with worker.running(root, "--supervised") as process:
        worker.wait_for(link, State.READY)
        assert stat.S_IMODE((root / WORKER_FILE).stat().st_mode) == 0o600
        second = worker.start(root)
        assert second.wait(60) == 3
        assert second.stdin is not None
        second.stdin.close()
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
        assert not (root / WORKER_FILE).exists()
        assert (root / LOCK_FILE).exists()


def test_without_the_secret_nothing_is_answered(root: Path, link: Link) -> None:
    with worker.running(root):
        worker.wait_for(link, State.READY)
        running = read_worker(root)
        assert running is not None
        for secret, host in (("", None), ("wrong", None), (running.secret, "evil.example")):
            for method, path in (("GET", "/state"), ("POST", "/embed"), ("POST", "/warm")):
                connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
                connection.request(method, path, b"{}", {"Authorization": f"Bearer {secret}", **({} if host is None else {"Host": host})})
                answer = connection.getresponse()
                assert answer.status == 401
                answer.read()
                connection.close()
        assert running.secret not in repr(running)


def test_a_stranger_on_the_port_of_a_worker_that_is_gone_is_told_nothing(root: Path, link: Link) -> None:
    with worker.running(root) as process:
        worker.wait_for(link, State.READY)
        process.kill()
        process.wait()
        left = read_worker(root)
        assert left is not None
        with StrangeListener(answer=b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"proof": "0000"}') as stranger:
            write_worker(root, replace(left, port=stranger.port))
            link.close()
            assert link.look()[Role.EMBEDDER].state is State.ABSENT
            assert stranger.heard
            assert left.secret.encode() not in stranger.heard


def test_a_forked_child_uses_no_connection_of_its_parent(root: Path, link: Link) -> None:
    with worker.running(root):
        worker.wait_for(link, State.READY)
        embedder = RemoteEmbedder(link, EMBEDDER)
        embedder.embed_query("lamp")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if np.allclose(embedder.embed_query("door"), WordEmbedder().embed_query("door")) else 2
            finally:
                os._exit(code)
        assert np.allclose(embedder.embed_query("lamp"), WordEmbedder().embed_query("lamp"))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_no_use_as_a_request_is_refused_and_the_worker_goes_on(root: Path, link: Link) -> None:
    with worker.running(root):
        worker.wait_for(link, State.READY)
        for asked in ({}, {"texts": 3}, {"texts": [3], "model_id": "tests/words", "revision": "1"}):
            with pytest.raises(ModelError):
                link.call(Role.EMBEDDER, "/embed", asked, 5)
        with pytest.raises(ModelError):
            link.call(Role.EMBEDDER, "/nothing", {}, 5)
        assert RemoteEmbedder(link, EMBEDDER).embed_query("lamp").shape == (64,)


def test_without_a_tier_it_ends_at_once_in_good_order(root: Path) -> None:
    root.mkdir()
    done = subprocess.run(
        [worker.words(root)[0], "-m", "lean_memory.models", "--root", str(root)],
        env=worker.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "No models are in use" in done.stderr) == (0, True), done.stderr
    assert not (root / WORKER_FILE).exists()


@pytest.mark.parametrize("harm", [b"{}", b"[" * 100_000, None])
def test_its_file_is_put_up_again_when_it_is_lost_or_harmed(root: Path, link: Link, harm: bytes | None) -> None:
    with worker.running(root):
        worker.wait_for(link, State.READY)
        before = read_worker(root)
        assert before is not None
        if harm is None:
            (root / WORKER_FILE).unlink()
        else:
            (root / WORKER_FILE).write_bytes(harm)
        # The other models may be ready only now, so not all of it is as before.
        eventually(lambda: (now := read_worker(root)) is not None and now.instance == before.instance)
        worker.wait_for(link, State.READY)


def test_strangers_who_say_nothing_take_no_more_than_their_share(root: Path, link: Link) -> None:
    with worker.running(root) as process, contextlib.ExitStack() as stack:
        worker.wait_for(link, State.READY)
        running = read_worker(root)
        assert running is not None
        mute = [stack.enter_context(socket.create_connection(("127.0.0.1", running.port), timeout=60)) for _ in range(150)]
        # The service was there before, and is answered all the same.
        assert RemoteEmbedder(link, EMBEDDER).embed(["a"]).shape == (1, 64)
        eventually(lambda: len(select.select(mute, [], [], 0)[0]) >= 150 - 64)
        assert sum(1 for _ in Path(f"/proc/{process.pid}/task").iterdir()) < 64 + 40
