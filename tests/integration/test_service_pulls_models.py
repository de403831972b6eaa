"""The service fetches models when one of the person's programs says so, shows how far it is, and stops when told to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.refusals import NotAllowedError
from lean_memory_bridge.schemas import ModelsView
from lean_memory_bridge.schemas.downloads import PullRequest, PullView
from support.command import Command
from support.fake_hub import FakeHub, serving
from support.model_manifest import EMBEDDER, tiny_repositories, write_manifest
from support.service import ServiceProcess, running_service
from support.supervised import eventually

STANDARD = PullRequest(tier="standard")
LENGTH = 1_000_000


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serving(tiny_repositories(LENGTH)) as running:
        yield running


@pytest.fixture
def environ(tmp_path: Path, hub: FakeHub) -> dict[str, str]:
    manifest = write_manifest(tmp_path / "models.toml", hub.repositories)
    return {"LM_MODELS_ENDPOINT": hub.endpoint, "LM_MODELS_MANIFEST": str(manifest)}


@pytest.fixture
def service(tmp_path: Path, environ: dict[str, str]) -> Iterator[ServiceProcess]:
    with running_service(tmp_path, environ=environ) as running:
        yield running


def pull_of(view: ModelsView | None) -> PullView:
    assert view is not None
    assert view.pull is not None
    return view.pull


def is_here(client: ServiceClient) -> bool:
    return next(tier.here for tier in client.models().tiers if tier.name == "standard")


def test_a_download_is_begun_followed_stopped_taken_up_again_used_and_removed(service: ServiceProcess, hub: FakeHub) -> None:
    client = service.client()
    offered = client.models()
    assert [(tier.name, tier.here) for tier in offered.tiers] == [("builtin", True), ("standard", False)]
    assert offered.pull is None
    assert hub.log == []
    with pytest.raises(ModelFetchError, match="not all here"):
        client.use_tier("standard")

    hub.faults.rate = 400_000
    begun = pull_of(client.pull_models(STANDARD))
    assert (begun.state, begun.origin) == ("running", hub.endpoint)
    followed: list[PullView] = []
    for snapshot in client.snapshots():
        followed.append(pull_of(snapshot.models))
        if followed[-1].done > 200_000:
            break
    assert followed[-1].total == sum(len(content) for files in hub.repositories.values() for content in files.values())
    assert followed[-1].seconds_left is not None
    # A second request for the same is the same download.
    assert pull_of(client.pull_models(STANDARD)).state == "running"
    stopped = pull_of(client.cancel_pull())
    assert stopped.state == "cancelled"
    assert 0 < stopped.done < stopped.total
    assert not is_here(client)

    hub.faults.rate = None
    client.pull_models(PullRequest(tier="standard", use=True))
    eventually(lambda: pull_of(client.models()).state == "done")
    assert is_here(client)
    assert [asked.begin for asked in hub.asked_for("model.safetensors")][1]
    eventually((service.root / "models.json").exists)
    with pytest.raises(InvalidInputError, match="in use"):
        client.remove_tier("standard")
    client.use_tier("builtin")
    assert client.remove_tier("standard").freed_bytes > LENGTH
    assert client.models().pull is None


def test_a_download_that_fails_says_why_in_the_snapshot_and_the_service_goes_on(service: ServiceProcess, hub: FakeHub) -> None:
    client = service.client()
    hub.faults.status = {"": 403}
    client.pull_models(STANDARD)
    eventually(lambda: pull_of(client.models()).state == "failed")
    assert f"refuses config.json of {EMBEDDER} (403)" in pull_of(client.snapshot().models).sentence
    client.add("I work at Acme.")
    assert client.search("Where do I work?").hits


def test_a_download_of_a_command_is_shown_by_the_service_and_is_not_its_to_stop(
    service: ServiceProcess, hub: FakeHub, tmp_path: Path, environ: dict[str, str]
) -> None:
    client = service.client()
    hub.faults.rate = 300_000
    person = Command(home=tmp_path, environ={**environ, "LM_DATA_ROOT": str(service.root)})
    with person.started("models", "pull") as child:
        eventually(lambda: client.models().pull is not None and pull_of(client.models()).done > 100_000)
        with pytest.raises(ModelFetchError, match="another command's"):
            client.cancel_pull()
        with pytest.raises(ModelFetchError, match="Another command or the service"):
            client.pull_models(STANDARD)
        hub.faults.rate = None
        assert child.wait() == 0
    assert pull_of(client.models()).state == "done"


def test_an_assistant_can_neither_fetch_nor_choose_nor_remove_and_what_is_no_tier_or_folder_is_refused(
    service: ServiceProcess, hub: FakeHub
) -> None:
    assistant = service.client("claude")
    assert assistant.models().tiers
    for act in (
        lambda: assistant.pull_models(STANDARD),
        assistant.cancel_pull,
        lambda: assistant.use_tier("builtin"),
        lambda: assistant.remove_tier("standard"),
    ):
        with pytest.raises(NotAllowedError):
            act()
    client = service.client()
    with pytest.raises(InvalidInputError, match="There is no tier 'huge'"):
        client.pull_models(PullRequest(tier="huge"))
    with pytest.raises(InvalidInputError, match="is no folder"):
        client.pull_models(PullRequest(tier="standard", folder="/nowhere"))
    assert hub.log == []


def test_a_service_that_ends_stops_its_download_and_the_next_one_goes_on(tmp_path: Path, hub: FakeHub, environ: dict[str, str]) -> None:
    hub.faults.rate = 300_000
    with running_service(tmp_path, environ=environ) as first:
        first.client().pull_models(STANDARD)
        eventually(lambda: pull_of(first.client().models()).done > 100_000)
        assert first.terminate() == 0
    hub.faults.rate = None
    with running_service(tmp_path, environ=environ) as second:
        assert pull_of(second.client().models()).state == "cancelled"
        second.client().pull_models(STANDARD)
        eventually(lambda: is_here(second.client()))
    assert [asked.begin for asked in hub.asked_for("model.safetensors")][1]
