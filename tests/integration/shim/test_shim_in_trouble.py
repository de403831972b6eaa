"""What a client sees of the shim when the service is not there, dies, moves, or cannot start."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.runtime import admin_token, find
from lean_memory_bridge.shim.presence import how_many, present
from lean_memory_desktop.instance import supervisor_pid
from support.service import ServiceProcess, start_service
from support.shim import Shim, environment, running_shim
from support.supervised import eventually, has_ended, is_alive, live, running_supervisor

Starting = Callable[..., ServiceProcess]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Starting]:
    """Starts services that answer, of any data root, and ends those that are left."""
    started: list[ServiceProcess] = []

    def start(root: Path, *words: str) -> ServiceProcess:
        started.append(start_service(root, tmp_path / f"service-{len(started)}.log", "--supervised", *words))
        return started[-1].wait_until_up()

    yield start
    for service in started:
        if service.process.poll() is None:
            service.process.kill()
        service.ended()


def settled(shim: Shim) -> dict[str, object]:
    """What the service says once it has started; a machine at its limits may take longer than a client waits for one call."""
    answers: list[dict[str, object]] = []

    def answered() -> bool:
        answers.append(shim.call("memory_namespaces"))
        return not answers[-1].get("isError")

    eventually(answered)
    return answers[-1]


def test_the_first_shim_starts_the_service(root: Path) -> None:
    with running_shim(root) as shim:
        shim.greet()
        settled(shim)
        shim.done("memory_add", text="I live in Porto.")
        assert find(root) is not None
        assert supervisor_pid(root) is not None


def test_five_shims_that_start_at_once_start_one_service(root: Path) -> None:
    with contextlib.ExitStack() as stack:
        shims = [stack.enter_context(running_shim(root, LM_CLIENT=f"client-{number}")) for number in range(5)]
        greeters = [threading.Thread(target=shim.greet) for shim in shims]
        for greeter in greeters:
            greeter.start()
        for greeter in greeters:
            greeter.join()
        for shim in shims:
            settled(shim)
        assert how_many(root) == 5
        supervisor = supervisor_pid(root)
        services = [path for path in Path("/proc").glob("[0-9]*/cmdline") if f"{root}".encode() in _read(path).split(b"\0")]
        assert sum(b"lean_memory_bridge" in _read(path).split(b"\0") for path in services) == 1
        assert [int(path.parent.name) for path in services if b"serve" in _read(path).split(b"\0")] == [supervisor]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_eight_clients_at_work_do_not_notice_that_the_service_was_killed(root: Path) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(running_supervisor(root))
        first = live(root)
        shims = [stack.enter_context(running_shim(root, LM_CLIENT=f"client-{number}")) for number in range(8)]
        for shim in shims:
            shim.greet()
        kept: list[list[str]] = [[] for _ in shims]
        half_way = threading.Barrier(len(shims) + 1)

        def work(number: int) -> None:
            for turn in range(10):
                if turn == 5:
                    half_way.wait(60)
                added = shims[number].done("memory_add", namespace=f"n{number}", text=f"My locker number {turn} is {number}{turn}7.")
                kept[number].extend(added["fact_ids"])

        workers = [threading.Thread(target=work, args=(number,)) for number in range(len(shims))]
        for worker in workers:
            worker.start()
        half_way.wait(60)
        os.kill(first.pid, signal.SIGKILL)
        for worker in workers:
            worker.join()
        second = live(root)
        assert second.pid != first.pid
        said = ServiceClient(root, second, admin_token(root)).status().namespaces
        assert [(entry.name, entry.episodes, entry.unfinished) for entry in said] == [(f"n{number}", 10, 0) for number in range(len(shims))]
        for number, shim in enumerate(shims):
            told = [turn for turn in range(10) if _knows(shim, number, turn)]
            assert told == list(range(10))
            assert len(set(kept[number])) == len(kept[number])


def _knows(shim: Shim, number: int, turn: int) -> bool:
    found = shim.done("memory_search", namespace=f"n{number}", query=f"locker number {turn}", k=20)
    texts = [hit["fact"]["fact_text"] for hit in found["hits"]]
    return sum(f"{number}{turn}7" in text for text in texts) == 1


def test_a_session_goes_on_when_the_service_moves_to_another_port(root: Path, services: Starting) -> None:
    service = services(root)
    with running_shim(root) as shim:
        shim.greet(elicitation={})
        fact = shim.done("memory_add", text="My cat is called Tom.")["fact_ids"][0]
        before = service.live.port
        service.kill()
        (root / "runtime.json").unlink()
        service = services(root, "--port", str(before + 100))
        assert service.live.port != before
        number = shim.start_asking("tools/call", name="memory_forget", arguments={"fact_id": fact})
        question = shim.message(lambda message: message.get("method") == "elicitation/create")
        shim.say({"id": question["id"], "result": {"action": "accept", "content": {"erase": True}}})
        assert shim.answer(number)["result"]["structuredContent"]["forgotten"]


@pytest.mark.parametrize("ended", ["killed", "told to end"])
def test_a_question_that_a_dead_service_asked_is_asked_again(root: Path, services: Starting, ended: str) -> None:
    service = services(root)
    with running_shim(root) as shim:
        shim.greet(elicitation={})
        fact = shim.done("memory_add", text="My cat is called Tom.")["fact_ids"][0]
        number = shim.start_asking("tools/call", name="memory_forget", arguments={"fact_id": fact})
        first = shim.message(lambda message: message.get("method") == "elicitation/create")
        if ended == "killed":
            service.kill()
        else:
            assert service.terminate() == 0
        second = shim.message(lambda message: message.get("method") == "elicitation/create")
        assert first["id"] != second["id"]
        shim.say({"id": first["id"], "result": {"action": "accept", "content": {"erase": False}}})
        shim.say({"id": second["id"], "result": {"action": "accept", "content": {"erase": True}}})
        assert shim.answer(number)["result"]["structuredContent"]["forgotten"]


@pytest.fixture
def hopeless(tmp_path: Path) -> Path:
    """A data root that cannot be one, as it is a file."""
    path = tmp_path / "file"
    path.write_text("not a folder", encoding="utf-8")
    return path


def test_without_a_service_it_greets_all_the_same_and_every_tool_says_why_it_cannot_work(hopeless: Path) -> None:
    with running_shim(hopeless) as shim:
        greeting = shim.greet()
        assert greeting["protocolVersion"] == "2025-06-18"
        tools = shim.ask("tools/list")["result"]["tools"]
        assert {tool["name"] for tool in tools} >= {"memory_add", "memory_search"}
        for tool in tools:
            result = shim.call(tool["name"])
            assert result["isError"]
            assert str(hopeless) in result["content"][0]["text"]
            assert "Nothing was stored or read" in result["content"][0]["text"]
        assert shim.ask("ping")["result"] == {}
        assert "error" in shim.ask("resources/read", uri="memory://default/profile")
        assert shim.leave() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in shim.lines)


def test_a_call_that_was_cut_off_is_not_said_to_have_done_nothing(root: Path, services: Starting) -> None:
    service = services(root)
    with running_shim(root) as shim:
        shim.greet(elicitation={})
        fact = shim.done("memory_add", text="My cat is called Tom.")["fact_ids"][0]
        number = shim.start_asking("tools/call", name="memory_forget", arguments={"fact_id": fact})
        shim.message(lambda message: message.get("method") == "elicitation/create")
        root.rename(root.with_name("moved"))
        root.write_text("not a folder", encoding="utf-8")
        service.kill()
        result = shim.answer(number)["result"]
        assert result["isError"]
        text = result["content"][0]["text"]
        assert ("may have been done all the same" in text, "Nothing was stored" in text) == (True, False)
        assert "Nothing was stored" in shim.call("memory_namespaces")["content"][0]["text"]


def test_what_a_service_says_that_cannot_speak_mcp_is_told_to_the_assistant(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "mcp"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half of an update')", encoding="utf-8")
    service = start_service(root, tmp_path / "service.log", "--supervised", packages=broken.parent).wait_until_up()
    with running_shim(root) as shim:
        assert shim.greet()["protocolVersion"] == "2025-06-18"
        result = shim.call("memory_namespaces")
        assert (result["isError"], "What speaks MCP could not be loaded" in result["content"][0]["text"]) == (True, True)
    assert service.terminate() == 0


def test_it_recovers_as_soon_as_the_trouble_is_over_and_says_that_its_tools_changed(hopeless: Path, services: Starting) -> None:
    with running_shim(hopeless) as shim:
        shim.greet()
        assert shim.call("memory_namespaces")["isError"]
        hopeless.unlink()
        services(hopeless)
        assert shim.done("memory_namespaces")["default"] == "default"
        shim.message(lambda message: message.get("method") == "notifications/tools/list_changed")


def test_the_offline_tools_are_those_of_the_service(root: Path, hopeless: Path, services: Starting) -> None:
    services(root)
    names: list[set[str]] = []
    for place in (root, hopeless):
        with running_shim(place) as shim:
            shim.greet()
            names.append({tool["name"] for tool in shim.ask("tools/list")["result"]["tools"]})
    assert names[0] == names[1]


def test_a_supervisor_that_fails_is_quoted(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "lean_memory_bridge"
    broken.mkdir(parents=True)
    real = Path(sys.modules["lean_memory_bridge"].__file__ or "").parent
    (broken / "__init__.py").write_text(f"__path__ = [{str(broken)!r}, {str(real)!r}]\n", encoding="utf-8")
    (broken / "__main__.py").write_text("raise SystemExit('the disk is made of cheese')\n", encoding="utf-8")
    given = environment(root)["PYTHONPATH"]
    with running_shim(root, PYTHONPATH=f"{broken.parent}:{given}") as shim:
        shim.greet()
        eventually(lambda: "made of cheese" in shim.call("memory_namespaces")["content"][0]["text"])


def test_shims_are_counted_while_they_live(tmp_path: Path) -> None:
    assert how_many(tmp_path) == 0
    with present(tmp_path), present(tmp_path):
        assert how_many(tmp_path) == 2
    assert how_many(tmp_path) == 0


def test_the_data_folder_that_a_shim_makes_is_private(tmp_path: Path) -> None:
    root = tmp_path / "new"
    with present(root):
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        assert stat.S_IMODE((root / "present").stat().st_mode) == 0o700


def test_a_killed_shim_is_not_counted(root: Path) -> None:
    with running_shim(root) as shim:
        eventually(lambda: how_many(root) == 1)
        shim.process.kill()
        shim.process.wait()
        assert how_many(root) == 0
        assert list((root / "present").iterdir()) == []


def test_nothing_is_left_running_after_the_last_client(root: Path) -> None:
    with contextlib.ExitStack() as stack:
        # Somebody is there while the service starts, however long that takes.
        early = stack.enter_context(contextlib.ExitStack())
        early.enter_context(present(root))
        supervisor = stack.enter_context(running_supervisor(root, "--idle-exit", "1"))
        service = live(root)
        shim = stack.enter_context(running_shim(root))
        shim.greet()
        early.close()
        shim.done("memory_namespaces")
        assert is_alive(service.pid)
        assert shim.leave() == 0
        assert supervisor.wait(timeout=90) == 0
        assert has_ended(service.pid)
    assert find(root) is None
