"""What an MCP client sees of the shim while the service behind it is there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

from support.service import ServiceProcess, running_service
from support.shim import Shim, environment, running_shim


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with running_service(tmp_path_factory.mktemp("shim")) as running:
        yield running


@pytest.fixture
def shim(service: ServiceProcess) -> Iterator[Shim]:
    with running_shim(service.root) as running:
        yield running


def test_it_answers_as_the_service_does(shim: Shim) -> None:
    assert shim.greet()["serverInfo"]["name"] == "lean-memory"
    assert {tool["name"] for tool in shim.ask("tools/list")["result"]["tools"]} >= {"memory_add", "memory_search", "memory_history"}
    shim.done("memory_add", namespace="answers", text="I work at Acme Corp.")
    found = shim.done("memory_search", namespace="answers", query="where does the user work?")
    assert found["hits"][0]["fact"]["object"] == "Acme Corp"
    assert shim.leave() == 0


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_it_greets_in_every_version_of_the_protocol(shim: Shim, version: str) -> None:
    assert shim.greet(version)["protocolVersion"] == version
    assert shim.done("memory_namespaces")["default"] == "default"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_can_ask_the_person_through_it(service: ServiceProcess, mode: str) -> None:
    asked: list[str] = []

    async def on_question(_context: object, params: object) -> ElicitResult:
        asked.append(str(params))
        return ElicitResult(action="accept", content={"erase": True})

    async def talk() -> bool:
        server = StdioServerParameters(
            command=sys.executable, args=["-P", "-m", "lean_memory_bridge.stdio"], env=environment(service.root, LM_CLIENT="official")
        )
        async with Client(server, mode=mode, elicitation_callback=on_question) as client:
            added = await client.call_tool("memory_add", {"namespace": f"official-{mode}", "text": "My cat is called Tom."})
            fact = added.structured_content["fact_ids"][0]
            result = await client.call_tool("memory_forget", {"namespace": f"official-{mode}", "fact_id": fact})
            return result.structured_content["forgotten"]

    assert anyio.run(talk)
    assert len(asked) == 1


def test_the_service_knows_whom_it_speaks_for(service: ServiceProcess) -> None:
    with running_shim(service.root, LM_CLIENT="Cürsor/5") as shim:
        shim.greet()
        shim.done("memory_add", text="I like tea.")
    assert "C-rsor-5" in {client.name for client in service.client().clients()}


def test_only_messages_reach_standard_output_whatever_prints(service: ServiceProcess, tmp_path: Path) -> None:
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import atexit, os, sys, threading, warnings\n"
        "def noise():\n"
        "    print('printed')\n"
        "    os.write(1, b'written\\n')\n"
        "    warnings.warn('warned')\n"
        "    sys.stdout.write('said\\n')\n"
        "before = threading.Thread.start\n"
        "def start(self):\n"
        "    noise()\n"
        "    before(self)\n"
        "threading.Thread.start = start\n"
        "atexit.register(noise)\n",
        encoding="utf-8",
    )
    given = environment(service.root)
    with running_shim(service.root, PYTHONPATH=f"{noisy}:{given['PYTHONPATH']}", PYTHONWARNINGS="always", PYTHONDEVMODE="1") as shim:
        shim.greet()
        shim.ask("tools/list")
        shim.done("memory_add", namespace="noise", text="私は東京に住んでいます。 🗼")
        assert shim.leave() == 0
        assert "printed" in shim.errors.read_text(encoding="utf-8")
    assert shim.lines
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in shim.lines)


def test_a_legacy_console_changes_no_byte(service: ServiceProcess) -> None:
    with running_shim(service.root, PYTHONIOENCODING="cp950", PYTHONUTF8="0", LC_ALL="C") as shim:
        shim.greet()
        shim.done("memory_add", namespace="console", text="Ich wohne in Köln. 🎡")
        found = shim.done("memory_search", namespace="console", query="Köln")
    assert "🎡" in found["hits"][0]["source"] or "Köln" in found["hits"][0]["fact"]["fact_text"]


def test_what_is_no_message_is_answered_with_an_error_and_does_no_harm(shim: Shim) -> None:
    shim.greet()
    shim.write(b"this is no JSON")
    assert shim.message(lambda message: message.get("id") is None and "error" in message)["error"]["code"] == -32700
    shim.write(b"[1]")
    assert shim.message(lambda message: message.get("id") is None and "error" in message)["error"]["code"] == -32600
    for identifier in (b"null", b"1.5", b"true", b"[1]", b"NaN", b"1e999"):
        shim.write(b'{"jsonrpc":"2.0","method":"ping","id":' + identifier + b"}")
        refused = shim.message(lambda message: message.get("id") is None and "error" in message)["error"]
        assert (refused["code"], "a string or an integer" in refused["message"]) == (-32600, True)
    shim.write(b"")
    assert shim.ask("ping")["result"] == {}
    assert "error" in shim.ask("no/such/method")


def test_a_list_of_messages_is_answered_message_by_message(shim: Shim) -> None:
    shim.greet("2025-03-26")
    shim.write(json.dumps([{"jsonrpc": "2.0", "id": name, "method": "ping"} for name in ("a", "b")]).encode())
    for name in ("a", "b"):
        assert shim.message(lambda message, name=name: message.get("id") == name)["result"] == {}


def test_calls_at_the_same_time_each_get_their_own_answer(shim: Shim) -> None:
    shim.greet()
    numbers = [shim.start_asking("tools/call", name="memory_search", arguments={"namespace": "many", "query": f"q{n}"}) for n in range(20)]
    for n, number in enumerate(numbers):
        assert shim.answer(number)["result"]["structuredContent"]["query"] == f"q{n}"


def test_identifiers_that_differ_only_in_their_kind_or_not_at_all_each_get_an_answer(shim: Shim) -> None:
    shim.greet()
    identifiers = [9, "9", 9, "shim-1", "half \ud83d"]
    for n, identifier in enumerate(identifiers):
        shim.say({"id": identifier, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": f"q{n}"}}})
    answers = [shim.message(lambda message, own=own: message.get("id") == own and type(message["id"]) is type(own)) for own in identifiers]
    assert sorted(answer["result"]["structuredContent"]["query"] for answer in answers) == [f"q{n}" for n in range(len(identifiers))]


def test_half_a_character_is_told_of_in_a_sentence(shim: Shim) -> None:
    shim.greet()
    result = shim.call("memory_add", text="I like figs \ud83d", namespace="half")
    assert result["isError"]
    assert result["content"][0]["text"] == "`text` holds half a character (a lone surrogate): re-encode it and try again. Nothing was done."
    assert shim.done("memory_add", text="I like figs \ud83c\udf4a.", namespace="half")["fact_ids"]


def test_a_call_is_answered_although_the_input_has_ended(service: ServiceProcess) -> None:
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": greeting},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "memory_add", "arguments": {"namespace": "pipe", "text": "I like figs."}}},
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "lean_memory_bridge.stdio"],
        input=b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages),
        capture_output=True,
        env=environment(service.root),
        timeout=90,
        check=True,
    )
    answers = {message.get("id"): message for message in map(json.loads, done.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"]["fact_ids"]


def test_a_client_that_is_gone_takes_the_shim_along(shim: Shim) -> None:
    shim.greet()
    shim.process.stdin.close()
    shim.process.stdout.close()
    assert shim.process.wait(timeout=60) == 0


def test_the_shim_is_light(shim: Shim) -> None:
    shim.greet()
    for _ in range(20):
        shim.done("memory_namespaces")
    status = Path(f"/proc/{shim.process.pid}/status").read_text(encoding="utf-8")
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    assert resident <= 30_000


def test_the_shim_loads_the_standard_library_only() -> None:
    script = "import sys, lean_memory_bridge.stdio; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split())
    own = {"lean_memory", "lean_memory_bridge", "__main__", "sitecustomize"}
    assert {name for name in loaded - own if name not in sys.stdlib_module_names and not name.startswith(("_", "__editable"))} == set()
