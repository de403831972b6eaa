"""What the list of models names is enough for the libraries that load them: a copy of the listed files alone gives the same answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from lean_memory.models.local import load_embedder, load_gliner, load_reranker
from lean_memory.models.manifest import Role, read_manifest
from support import tiny_gliner, tiny_models

OF_OTHER_TOKENIZERS = {"vocab.json", "merges.txt", "generation_config.json", "spm.model", "added_tokens.json", "special_tokens_map.json"}
"""Listed for the real models; the tiny ones have all of it in tokenizer.json."""


def listed(role: Role, made: Path, folder: Path) -> Path:
    """A copy of those files of a model that the list names for the real model of that role."""
    for file in read_manifest().tier("standard").models[role].files:
        if (made / file.path).exists():
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(made / file.path, folder / file.path)
        else:
            assert file.path in OF_OTHER_TOKENIZERS, file.path
    return folder


def test_the_embedders_files_suffice(tmp_path: Path) -> None:
    made = tiny_models.make_embedder(tmp_path / "made")
    spec = tiny_models.spec(Role.EMBEDDER, dims=64)
    texts = ["I moved to Porto.", "The deploy is on Tuesday."]
    whole, copy = (load_embedder(spec, folder).embed(texts) for folder in (made, listed(Role.EMBEDDER, made, tmp_path / "copy")))
    assert np.array_equal(whole, copy)


def test_the_rerankers_files_suffice(tmp_path: Path) -> None:
    made = tiny_models.make_reranker(tmp_path / "made")
    spec = tiny_models.spec(Role.RERANKER)
    asked = ("When is the deploy?", ["The deploy is on Tuesday.", "I moved to Porto."])
    whole, copy = (
        load_reranker(spec, folder).score(*asked, seconds=30) for folder in (made, listed(Role.RERANKER, made, tmp_path / "copy"))
    )
    assert np.array_equal(whole, copy)


@pytest.mark.parametrize("architecture", ["span", "boundary"])
def test_the_extractors_files_suffice(tmp_path: Path, architecture: str) -> None:
    made = tiny_gliner.make(tmp_path / "made", architecture)
    asked = {"labels": ["person", "city"], "relations": ["lives_in"], "threshold": 0.0}
    whole, copy = (
        load_gliner(folder).read(["Ada lives in Berlin."], **asked) for folder in (made, listed(Role.EXTRACTOR, made, tmp_path / "copy"))
    )
    assert whole == copy
