"""The fake hub of the tests is one that the hub's own client can use, and our download brings what that client brings."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from lean_memory.models.library import ModelLibrary, Pulled
from lean_memory.models.manifest import read_manifest
from support.fake_hub import REVISION, serving
from support.model_manifest import EMBEDDER, RERANKER, tiny_repositories, write_manifest


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_hubs_own_client_and_ours_bring_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for quiet in ("TELEMETRY", "PROGRESS_BARS", "XET"):
        monkeypatch.setenv(f"HF_HUB_DISABLE_{quiet}", "1")
    hub_client = importlib.import_module("huggingface_hub")
    repositories = tiny_repositories()
    manifest = read_manifest(write_manifest(tmp_path / "models.toml", repositories, unpublished=["config.json", "model.safetensors"]))
    cache = tmp_path / "cache"
    with serving(repositories) as hub:
        told = hub_client.HfApi(endpoint=hub.endpoint).model_info(EMBEDDER, revision=REVISION, files_metadata=True)
        assert {file.rfilename: file.size for file in told.siblings} == {name: len(text) for name, text in repositories[EMBEDDER].items()}
        for model in (EMBEDDER, RERANKER):
            theirs = hub_client.snapshot_download(model, revision=REVISION, endpoint=hub.endpoint, cache_dir=cache)
            assert files_of(Path(theirs)) == repositories[model]
        ours = ModelLibrary(tmp_path / "ours", manifest=manifest, endpoint=hub.endpoint)
        ours.pull("standard", report=lambda _: None)
        for standing in ours.standing("standard"):
            assert files_of(standing.folder) == repositories[standing.spec.model_id]

    # The client's cache can be carried to a computer without a network as it is.
    carried = ModelLibrary(tmp_path / "carried", manifest=manifest, endpoint="http://hub.invalid")
    done = carried.pull("standard", report=lambda _: None, source=cache)
    assert isinstance(done, Pulled)
    assert len(done.fetched) == 5
    for standing in carried.standing("standard"):
        assert files_of(standing.folder) == repositories[standing.spec.model_id]
