"""The service beside a worker that warms, works, dies and comes back: clients never wait, and nothing is lost or done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from time import perf_counter

import pytest

from lean_memory.models.installed import choose_tier
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.runtime import admin_token, find, read_runtime
from lean_memory_bridge.schemas import ModelsView
from lean_memory_desktop.supervisor import Patience, Program
from support import worker
from support.service import ServiceProcess, running_service
from support.supervised import eventually, live

SAID = [f"The code of locker {number} is {number * 7 + 1000}." for number in range(10)]


@pytest.fixture
def service(tmp_path: Path) -> Generator[ServiceProcess]:
    listed = worker.put_in_use(tmp_path / "memory")
    with running_service(tmp_path, environ={"LM_MODELS_MANIFEST": str(listed)}) as running:
        eventually(lambda: running.client().snapshot().model.state == "ready")
        yield running


def states(view: ModelsView) -> dict[str, str]:
    return {role.role: role.state for role in view.roles}


def is_complete(client: ServiceClient) -> bool:
    return not client.models().lacking and not client.search("locker 3").degraded


def test_while_a_model_warms_nobody_waits_and_afterwards_everything_has_its_vectors(service: ServiceProcess, tmp_path: Path) -> None:
    client, log, let_go = service.client(), tmp_path / "embedded.txt", tmp_path / "let-go"
    assert client.models().lacking == ("second-embedder", "cross-encoder")
    with worker.running(service.root, "--until", str(let_go), "--log", str(log)):
        eventually(lambda: set(states(client.models()).values()) == {"warming"})
        began = perf_counter()
        assert client.search("locker").degraded == ("second-embedder", "cross-encoder")
        took = [perf_counter() - began]
        for text in SAID:
            began = perf_counter()
            assert client.add(text).episode_id is not None
            took.append(perf_counter() - began)
        assert states(client.models())["embedder"] == "warming"
        assert client.search("locker 3").degraded == ("cross-encoder", "second-embedder")
        assert "second-embedder" in client.snapshot().degraded
        # A loose bound: how fast it is on a quiet machine is for the benchmarks to say.
        assert max(took) < 5
        let_go.touch()
        eventually(lambda: is_complete(client))
        assert client.search("locker 3").hits[0].fact.fact_text == SAID[3]
        once = Counter(log.read_text(encoding="utf-8").splitlines())
        assert all(once[text] == 1 for text in SAID), once
        assert client.snapshot().degraded == ()
        assert client.check() == ()


def test_texts_that_wait_for_the_extractor_are_finished_by_themselves_each_once(service: ServiceProcess) -> None:
    client = service.client()
    added = [client.add(f"Yesterday Ana met Bob{number} in Porto.") for number in range(4)]
    assert all(one.queued for one in added)
    with worker.running(service.root):
        eventually(lambda: is_complete(client))
        eventually(lambda: client.status().namespaces[0].unfinished == 0)
    assert client.check() == ()


def test_a_worker_that_is_killed_under_load_fails_no_call_and_is_back_within_5_seconds(tmp_path: Path) -> None:
    root, log = tmp_path / "memory", tmp_path / "embedded.txt"
    listed = worker.put_in_use(root)
    words = worker.words(root, "--pause", "0.01", "--log", str(log), "--supervised")
    program = Program(name="worker", words=words, without=True, patience=Patience(pauses=(0.1, 0.5, 1.0)))
    with worker.beside_service(root, listed, program) as client:
        back, failed = worker.killed_under_load(root, client, times=2)
        assert failed == []
        eventually(lambda: is_complete(client))
        texts = [fact.fact_text for fact in client.facts(limit=1000).facts]
        assert len(texts) == len(set(texts)) >= 40
        assert client.check() == ()
    assert max(back) < 5, back


def test_a_service_begins_anew_with_the_models_that_were_chosen_meanwhile(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    listed = worker.put_in_use(root)
    choose_tier(root, "builtin")
    with worker.beside_service(root, listed) as client:
        before = client.live.instance
        assert (client.models().tier, client.models().lacking) == ("builtin", ())
        choose_tier(root, "slow")
        known = set[bool]()

        def is_another() -> bool:
            known.add(read_runtime(root) is not None)
            return (now := find(root)) is not None and now.instance != before

        eventually(is_another)
        # All the while it is known which port to try first. Somebody else may have taken it.
        assert known == {True}
        now = ServiceClient(root, live(root), admin_token(root)).models()
        assert (now.tier, now.lacking) == ("slow", ("second-embedder", "cross-encoder"))
