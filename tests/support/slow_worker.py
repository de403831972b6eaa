"""The worker's own process with models that are made up and slow to load: `python -m support.slow_worker --root R --seconds 3`.

Everything but the models is the real worker. The embedder adds up directions of words, the cross-encoder counts shared words, the extractor
finds words in capitals.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.models.manifest import ModelFile, ModelSpec, Role
from lean_memory.models.ports import FoundEntity, Markup
from lean_memory.models.residents import Loader, Model
from lean_memory.models.serving import serve
from support.embedding import WordEmbedder

MANIFEST = """
[tiers]
slow = ["tests/words", "tests/shared", "tests/capitals"]

[[models]]
id = "tests/words"
revision = "1"
role = "embedder"
architecture = "made up"
licence = "Apache-2.0"
dims = 64
files = [{ path = "config.json", size = 2 }]

[[models]]
id = "tests/shared"
revision = "1"
role = "reranker"
architecture = "made up"
licence = "Apache-2.0"
files = [{ path = "config.json", size = 2 }]

[[models]]
id = "tests/capitals"
revision = "1"
role = "extractor"
architecture = "made up"
licence = "Apache-2.0"
files = [{ path = "config.json", size = 2 }]
"""


class SlowEmbedder(WordEmbedder):
    """Takes its time for every text; says in a file how many it has read, a line each."""

    def __init__(self, pause: float, log: Path | None) -> None:
        super().__init__()
        self.identity = IDENTITIES[Role.EMBEDDER]
        self._pause, self._log = pause, log

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(self._pause * len(texts))
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.writelines(f"{' '.join(text.split())}\n" for text in texts)
        return super().embed(texts)


class SharedWords:
    identity = ModelIdentity(model_id="tests/shared", revision="1", dims=0)

    def __init__(self, pause: float = 0.0) -> None:
        self._pause = pause

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        time.sleep(self._pause)
        asked = set(query.casefold().split())
        return np.array([len(asked & set(text.casefold().split())) / max(1, len(asked)) for text in texts], np.float32)


class Capitals:
    def read(self, texts: Sequence[str], *, labels: Sequence[str], relations: Sequence[str], threshold: float) -> list[Markup]:
        return [Markup(entities=tuple(_capitals(text, labels[0]))) for text in texts]


IDENTITIES = {
    Role.EMBEDDER: ModelIdentity(model_id="tests/words", revision="1", dims=64),
    Role.RERANKER: SharedWords.identity,
    Role.EXTRACTOR: ModelIdentity(model_id="tests/capitals", revision="1", dims=0),
}


def spec(role: Role) -> ModelSpec:
    """A made up model as the manifest would tell of it."""
    identity = IDENTITIES[role]
    files = (ModelFile(path="config.json", size=2),)
    return ModelSpec(
        model_id=identity.model_id, revision="1", role=role, architecture="made up", licence="Apache-2.0", files=files, dims=identity.dims
    )


def _capitals(text: str, label: str) -> list[FoundEntity]:
    at, found = 0, list[FoundEntity]()
    for word in text.split():
        at = text.index(word, at)
        if word[0].isupper():
            found.append(FoundEntity(label=label, start=at, end=at + len(word), score=0.75))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long the embedder takes to load; the others take no time")
    parser.add_argument("--until", type=Path, help="a file without which the embedder is not loaded")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds for each text that is embedded")
    parser.add_argument("--judging", type=float, default=0.0, help="seconds for each question of the cross-encoder")
    parser.add_argument("--lull", type=float, default=900.0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--supervised", action="store_true")
    chosen = parser.parse_args()
    models: dict[Role, Model] = {
        Role.EMBEDDER: SlowEmbedder(chosen.pause, chosen.log),
        Role.RERANKER: SharedWords(chosen.judging),
        Role.EXTRACTOR: Capitals(),
    }
    tick = threading.Event()

    def load(role: Role) -> Model:
        if role is Role.EMBEDDER:
            tick.wait(chosen.seconds)
            while chosen.until is not None and not chosen.until.exists():
                tick.wait(0.02)
        return models[role]

    loaders = {role: Loader(identity=identity, load=partial(load, role)) for role, identity in IDENTITIES.items()}
    return serve(chosen.root, loaders, lull=chosen.lull, supervised=chosen.supervised)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
