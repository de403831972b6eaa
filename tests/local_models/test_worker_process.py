"""The worker itself, as a process, with real libraries and models of the tests; only the weights are made up."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.worker import put_in_use, resident_mb
from lean_memory.errors import ModelUnavailableError
from lean_memory.models.local import load_embedder
from lean_memory.models.manifest import Role, read_manifest
from lean_memory.models.remote import Link, RemoteEmbedder, RemoteExtractor, RemoteReranker
from lean_memory.models.worker_file import WORKER_FILE, State
from support import tiny_gliner, tiny_models, worker
from support.supervised import eventually


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model for each role."""
    folder = tmp_path_factory.mktemp("models")
    tiny_models.make_embedder(folder)
    tiny_models.make_reranker(folder)
    tiny_gliner.make(folder, "span").rename(folder / "extractor")
    return folder


@contextlib.contextmanager
def running(root: Path, manifest: Path, *words: str) -> Generator[subprocess.Popen[bytes]]:
    environ = {**os.environ, **worker.environment(), "LM_MODELS_MANIFEST": str(manifest)}
    process = subprocess.Popen(
        [sys.executable, "-m", "lean_memory.models", "--root", str(root), *words], env=environ, stdin=subprocess.PIPE
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.kill()
        process.wait()


def test_it_loads_what_is_in_use_answers_rests_comes_back_and_ends_with_its_input(models: Path, root: Path) -> None:
    manifest = put_in_use(root, models)
    specs = read_manifest(manifest).tier("bench").models
    with running(root, manifest, "--supervised", "--idle-minutes", "0.2") as process, contextlib.closing(Link(root)) as link:
        worker.wait_for(link, State.READY)
        here = load_embedder(specs[Role.EMBEDDER], models / "embedder")
        texts = [f"The lamp number {number} is red." * (1 + number % 3) for number in range(20)]
        embedder = RemoteEmbedder(link, specs[Role.EMBEDDER], question_seconds=60)
        assert np.allclose(embedder.embed(texts), here.embed(texts), atol=1e-5)
        assert np.allclose(embedder.embed_query("Where?"), here.embed_query("Where?"), atol=1e-5)
        assert "libtorch" in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
        for role in Role:
            worker.wait_for(link, State.IDLE, role)
        # It rests without the libraries too, which are larger than a small model.
        eventually(lambda: "libtorch" not in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8"))
        worker.wait_for(link, State.IDLE, Role.EMBEDDER)
        assert_sent_for_and_back(link, lambda: RemoteReranker(link, specs[Role.RERANKER]).score("Where?", texts, seconds=60).shape == (20,))
        extractor = RemoteExtractor(link, specs[Role.EXTRACTOR])
        assert_sent_for_and_back(
            link, lambda: len(extractor.read(texts[:3], labels=["person"], relations=["works at"], threshold=0.1)) == 3
        )
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    assert not (root / WORKER_FILE).exists()


def test_files_that_cannot_be_used_are_told_of_and_the_others_are_there_all_the_same(models: Path, root: Path) -> None:
    manifest = put_in_use(root, models)
    specs = read_manifest(manifest).tier("bench").models
    weights = models / "reranker" / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(b"\xff" * 64 + whole[64:])
    try:
        with running(root, manifest) as _, contextlib.closing(Link(root)) as link:
            worker.wait_for(link, State.FAILED, Role.RERANKER)
            assert "cannot be loaded" in link.states[Role.RERANKER].message
            worker.wait_for(link, State.READY, Role.EXTRACTOR)
            assert RemoteEmbedder(link, specs[Role.EMBEDDER]).embed(["lamp"]).shape == (1, 64)
    finally:
        weights.write_bytes(whole)


def test_texts_of_ever_new_lengths_do_not_make_it_grow(models: Path, root: Path, tmp_path: Path) -> None:
    # In 16 bits, as the real weights are, the libraries build code for each shape of a batch and would keep it: 300 MB for these.
    tiny_models.make_embedder(tmp_path, dtype=torch.bfloat16)
    for role in (Role.RERANKER, Role.EXTRACTOR):
        (tmp_path / role).symlink_to(models / role, target_is_directory=True)
    manifest = put_in_use(root, tmp_path)
    specs = read_manifest(manifest).tier("bench").models
    with running(root, manifest) as process, contextlib.closing(Link(root)) as link:
        for role in Role:
            worker.wait_for(link, State.READY, role)
        embedder = RemoteEmbedder(link, specs[Role.EMBEDDER])
        before = resident_mb(process.pid)
        for length in range(1, 121):
            embedder.embed(["a" * length])
        assert resident_mb(process.pid) - before < 100


def assert_sent_for_and_back(link: Link, holds: Callable[[], bool]) -> None:
    """A model that rests is sent for by the one who misses it, and answers once it is back."""

    def answers() -> bool:
        link.look()
        try:
            return holds()
        except ModelUnavailableError:
            return False

    eventually(answers)
