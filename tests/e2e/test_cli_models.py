"""`lean-memory models` as a person and an installer use it: real processes, a hub on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from lean_memory.models.packages import NAMES
from support.command import PATIENCE, Command
from support.fake_hub import FakeHub, serving
from support.model_manifest import EMBEDDER, tiny_repositories, write_manifest
from support.model_pack import PYTHON, TARGET, write_pack

BIG = "model.safetensors"
LENGTH = 3_000_000


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(tiny_repositories(LENGTH)) as running:
        yield running


@pytest.fixture
def person(tmp_path: Path, hub: FakeHub) -> Command:
    """A command that is told of the fake hub and its models."""
    manifest = write_manifest(tmp_path / "models.toml", hub.repositories, unpublished=["1_Pooling/config.json"])
    return Command(home=tmp_path, environ={"LM_MODELS_ENDPOINT": hub.endpoint, "LM_MODELS_MANIFEST": str(manifest)})


class Halfway:
    """The hub sends so many bytes of the large file at the speed of a fair line, and no more until it is let go."""

    def __init__(self, hub: FakeHub, size: int) -> None:
        self._reached, self._go_on = threading.Event(), threading.Event()
        self._hub, self._size = hub, size
        hub.faults.rate, hub.on_sent = 1_500_000, self._hold

    def wait(self) -> None:
        assert self._reached.wait(PATIENCE)

    def let_go(self) -> None:
        self._hub.faults.rate = None
        self._go_on.set()

    def _hold(self, path: str, sent: int) -> None:
        if path == BIG and sent >= self._size:
            self._reached.set()
            self._go_on.wait(PATIENCE)


def started(person: Command, *words: str) -> subprocess.Popen[bytes]:
    own_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if os.name == "nt" else {}
    return subprocess.Popen(
        person.arguments("models", *words), env=person.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **own_group
    )


def begun(person: Command) -> int:
    """Bytes of the large file that are there of a download that has not ended."""
    return next(person.root.rglob(BIG + ".part")).stat().st_size


def weights_of(person: Command) -> Path:
    return next(person.root.rglob(f"org--tiny-embedder/*/{BIG}"))


def test_a_download_that_is_killed_goes_on_from_there(person: Command, hub: FakeHub) -> None:
    halfway = Halfway(hub, LENGTH // 2)
    child = started(person, "pull")
    halfway.wait()
    child.kill()
    child.communicate()
    there = begun(person)
    assert there > LENGTH // 4

    told = person.json("models")
    assert told["last_pull"]["state"] == "cut off"
    assert not told["tiers"][1]["here"]
    assert told["tiers"][1]["models"][0]["here_bytes"] >= there
    assert "was cut off. What came is kept" in person.done("models", "status")

    halfway.let_go()
    before = len(hub.log)
    out = person.done("models", "pull", "standard")
    assert "standard is here. 3 files came, and all 5 were checked." in out
    assert "Use it with: lean-memory models use standard" in out
    again = [asked for asked in hub.log[before:] if asked.path == BIG]
    assert [(asked.begin, asked.sent) for asked in again] == [(there, LENGTH - there), (None, 20_000)]
    assert {asked.path for asked in hub.log[before:]} == {BIG, "config.json"}  # the second model's; nothing that was whole
    assert weights_of(person).read_bytes() == hub.repositories[EMBEDDER][BIG]


def test_ctrl_c_stops_with_a_sentence_and_keeps_what_came(person: Command, hub: FakeHub) -> None:
    halfway = Halfway(hub, LENGTH // 2)
    child = started(person, "pull", "standard")
    halfway.wait()
    child.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    halfway.let_go()
    assert (child.returncode, out) == (130, b"")
    assert b"Stopped. " in err
    assert b"of 3.0 MB are here and kept; the same command goes on from there." in err
    assert b"Traceback" not in err
    assert person.json("models")["last_pull"]["state"] == "cancelled"


def test_a_second_download_at_the_same_time_is_refused_with_a_sentence(person: Command, hub: FakeHub) -> None:
    halfway = Halfway(hub, LENGTH // 3)
    child = started(person, "pull", "standard")
    halfway.wait()
    told = person.json("models")["last_pull"]
    assert (told["state"], told["tier"], told["file"]) == ("running", "standard", BIG)
    assert 0 < told["done"] < told["total"]
    second = person.run("models", "pull", "standard")
    assert (second.code, "Another command or the service is fetching" in second.err) == (1, True)
    halfway.let_go()
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, err
    assert b"standard is here" in out


def test_a_tier_is_chosen_carried_on_and_removed(person: Command, hub: FakeHub, tmp_path: Path) -> None:
    refused = person.run("models", "use", "standard")
    assert (refused.code, "fetch them first: lean-memory models pull standard" in refused.err) == (1, True)
    pulled = person.json("models", "pull", "standard", "--use")
    assert (pulled["in_use"], len(pulled["fetched"]), pulled["damaged"]) == ("standard", 5, [])
    assert "In use: standard." in person.done("models")

    stick = tmp_path / "stick"
    assert f"standard is in {stick}, checked." in person.done("models", "bundle", str(stick))
    requests = len(hub.log)
    away = Command(home=tmp_path / "away", environ={**person.environ, "LM_MODELS_ENDPOINT": "http://hub.invalid"})
    away.home.mkdir()
    carried = away.json("models", "pull", "standard", "--from", str(stick))
    assert (carried["origin"], len(carried["fetched"])) == (str(stick), 5)
    assert len(hub.log) == requests

    assert person.run("models", "remove", "standard", "--yes").code == 2
    person.done("models", "use", "builtin")
    assert "add --yes" in person.run("models", "remove", "standard").err
    assert "3.0 MB were freed." in person.done("models", "remove", "standard", "--yes")
    assert not list(person.root.rglob(BIG))


def test_what_is_damaged_is_named(person: Command) -> None:
    person.done("models", "pull")
    file = weights_of(person)
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert f"{BIG} of {EMBEDDER} was damaged, and was fetched again." in person.done("models", "pull")


def test_a_failure_is_one_sentence_after_the_announcement(person: Command, hub: FakeHub) -> None:
    hub.faults.status = {"": 403}
    failed = person.run("models", "pull", "standard")
    assert (failed.code, failed.out) == (1, "")
    assert "Traceback" not in failed.err
    announced = failed.err.splitlines()
    assert announced[0].startswith(f"Fetching standard from {hub.endpoint} into {person.root / 'models'}")
    assert announced[1].split() == ["org/tiny-embedder", "(embedder,", "MIT,", "3.0", "MB)"]
    assert "refuses config.json of org/tiny-embedder (403)" in announced[-1]


def test_what_cannot_be_run_here_is_told_before_anything_comes_and_a_pack_mends_it(person: Command, hub: FakeHub, tmp_path: Path) -> None:
    told = "The packages that run these models are not installed"
    is_lacking = any(find_spec(name) is None for name in NAMES)
    hub.faults.status = {"": 403}
    refused = person.run("models", "pull")
    assert refused.code == 1
    assert (told in refused.err) == is_lacking
    if is_lacking:
        assert refused.err.index(told) < refused.err.index("(403)")

    hub.faults.status = {}
    taken = person.json("models", "packages", str(write_pack(tmp_path / "pack.zip")))
    assert taken == {"version": "0.1.0", "target": TARGET, "python": PYTHON, "lacking": []}
    pulled = person.run("models", "pull", "--use")
    assert (pulled.code, told in pulled.err) == (0, False)
    assert "The models of standard are here and in use." in person.run("doctor").out
    assert "were removed" in person.done("models", "remove", "packages")
    assert (told in person.run("models").err) == is_lacking


def test_looking_and_choosing_ask_no_hub(person: Command, hub: FakeHub) -> None:
    person.done("models")
    assert person.json("models", "pull", "builtin", "--use")["in_use"] == "builtin"
    assert hub.log == []


@pytest.mark.parametrize("words", [["fetch"], ["bundle"], ["pull", "huge"], ["pull", "standard", "--from", "nowhere"]])
def test_a_wrong_use_is_told_in_one_sentence(person: Command, words: list[str]) -> None:
    outcome = person.run("models", *words)
    assert outcome.code == 2
    assert outcome.is_one_sentence()
