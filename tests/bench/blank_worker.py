"""A worker whose embedder takes no time, to see what the way there and back costs: `python -m bench.blank_worker ROOT`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lean_memory.models.manifest import ModelFile, ModelSpec, Role
from lean_memory.models.ports import UNMEASURED
from lean_memory.models.residents import Loader
from lean_memory.models.serving import serve

BLANK = ModelSpec(
    model_id="bench/blank",
    revision="1",
    role=Role.EMBEDDER,
    architecture="none",
    licence="none",
    files=(ModelFile(path="config.json", size=2),),
    dims=1024,
)


class BlankEmbedder:
    """Gives every text the same vector."""

    identity, thresholds = BLANK.identity, UNMEASURED

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), BLANK.dims), 1 / 32, np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed([text])[0]


if __name__ == "__main__":
    sys.exit(serve(Path(sys.argv[1]), {Role.EMBEDDER: Loader(identity=BLANK.identity, load=BlankEmbedder)}))
