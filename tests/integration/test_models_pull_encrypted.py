"""Fetching models over TLS: a stranger's certificate is refused, and so is the way from encryption to none."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory.errors import ModelFetchError
from lean_memory.models.library import ModelLibrary
from lean_memory.models.manifest import read_manifest
from support.certificates import write_certificate
from support.fake_hub import FakeHub, serving
from support.model_manifest import tiny_repositories, write_manifest


def library(folder: Path, hub: FakeHub) -> ModelLibrary:
    manifest = read_manifest(write_manifest(folder / "models.toml", hub.repositories))
    return ModelLibrary(folder / "data", manifest=manifest, endpoint=hub.endpoint)


def test_a_certificate_counts_once_this_computer_trusts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = write_certificate(tmp_path / "hub.pem")
    with serving(tiny_repositories(), certificate=certificate) as hub:
        models = library(tmp_path, hub)
        with pytest.raises(ModelFetchError, match=r"certificate of 127\.0\.0\.1:\d+ is not trusted .* SSL_CERT_FILE"):
            models.pull("standard", report=lambda _: None)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        models.pull("standard", report=lambda _: None)
        assert models.is_here("standard")


def test_nothing_is_fetched_from_where_the_hub_sends_us_without_encryption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = write_certificate(tmp_path / "hub.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(tiny_repositories(), certificate=certificate) as hub, serving(tiny_repositories()) as plain:
        hub.faults.storage = f"{plain.storage}/storage"
        with pytest.raises(ModelFetchError, match=r"sends us on to .* without encryption"):
            library(tmp_path, hub).pull("standard", report=lambda _: None)
        assert plain.log == []
