"""A data root with a library of models on it, for a fake hub."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from lean_memory.errors import ModelFetchError
from lean_memory.models.library import Cancelled, ModelLibrary, Progress, Pulled
from lean_memory.models.manifest import read_manifest
from lean_memory.models.provision.hub import Patience
from support.fake_hub import FakeHub
from support.model_manifest import EMBEDDER, write_manifest

HASTE = Patience(stall=0.3, first=2, attempts=3, pause=0.01, longest_pause=0.02)
BIG = "model.safetensors"


class Desk:
    """A data root and a library on it."""

    def __init__(self, folder: Path, hub: FakeHub, *, unpublished: Sequence[str] = (), optional: Sequence[str] = ()) -> None:
        self.root = folder / "data"
        self.hub = hub
        folder.mkdir(exist_ok=True)
        self.manifest = read_manifest(write_manifest(folder / "models.toml", hub.repositories, unpublished=unpublished, optional=optional))
        self.library = ModelLibrary(self.root, manifest=self.manifest, endpoint=hub.endpoint, patience=HASTE)
        self.seen: list[Progress] = []

    def pull(self, *, cancel: threading.Event | None = None, source: Path | None = None) -> Pulled | Cancelled:
        return self.library.pull("standard", report=self.seen.append, cancel=cancel, source=source)

    def refusal(self, *, source: Path | None = None) -> str:
        with pytest.raises(ModelFetchError) as caught:
            self.pull(source=source)
        return str(caught.value)

    def path(self, name: str = BIG, model: str = EMBEDDER) -> Path:
        spec = next(spec for spec in self.manifest.tier("standard").models.values() if spec.model_id == model)
        return self.root / "models" / model.replace("/", "--") / spec.revision / name

    def content(self, name: str = BIG, model: str = EMBEDDER) -> bytes:
        return self.hub.repositories[model][name]

    def is_right(self) -> bool:
        return self.library.is_here("standard") and all(
            self.path(name, model).read_bytes() == content
            for model, files in self.hub.repositories.items()
            for name, content in files.items()
        )
