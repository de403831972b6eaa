"""The real sentence-transformers loads an embedder and a cross-encoder and reads texts with them; only the weights are made up."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Literal, cast

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.local import LocalEmbedder, LocalReranker, best_device, give_memory_back, load_embedder, load_reranker
from lean_memory.models.manifest import Role
from support import tiny_models

TEXTS = ["The deploy happens on Tuesday.", "", "I live in Porto with my dog Rex, who is old.", "User prefers dark mode."]
SPEC = tiny_models.spec(Role.EMBEDDER, dims=64, query_prompt="Instruct: Find it.\nQuery:", text_prompt="")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.make_embedder(tmp_path_factory.mktemp("embedder"))


@pytest.fixture(scope="module")
def embedder(folder: Path) -> LocalEmbedder:
    return load_embedder(SPEC, folder)


@pytest.fixture(scope="module", params=["one", "modules"])
def reranker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LocalReranker:
    form = cast("Literal['one', 'modules']", request.param)
    folder = tiny_models.make_reranker(tmp_path_factory.mktemp(form), form=form)
    return load_reranker(tiny_models.spec(Role.RERANKER), folder)


def test_every_text_has_a_vector_of_unit_length_in_its_place(embedder: LocalEmbedder) -> None:
    made = embedder.embed(TEXTS)
    assert (made.shape, made.dtype) == ((4, 64), np.float32)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    alone = np.stack([embedder.embed([text])[0] for text in TEXTS])
    assert np.allclose(made, alone, atol=1e-5)
    assert embedder.embed([]).shape == (0, 64)


def test_a_text_is_its_last_token_and_a_question_has_the_prompt_before_it(embedder: LocalEmbedder, folder: Path) -> None:
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)

    def last_token(text: str) -> np.ndarray:
        with torch.inference_mode():
            state = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, -1].numpy()
        return state / np.linalg.norm(state)

    assert np.allclose(embedder.embed(TEXTS[:1])[0], last_token(TEXTS[0]), atol=1e-5)
    assert np.allclose(embedder.embed_query("Where?"), last_token("Instruct: Find it.\nQuery:Where?"), atol=1e-5)
    assert not np.allclose(embedder.embed_query("Where?"), embedder.embed(["Where?"])[0], atol=1e-3)


def test_any_string_has_a_vector_and_a_long_one_is_cut(embedder: LocalEmbedder) -> None:
    made = embedder.embed(["\udc80 alone", "a" * 100_000, "a" * 300])
    assert np.isfinite(made).all()
    assert np.allclose(made[1], made[2], atol=1e-5)


def test_the_beginning_of_a_vector_is_used_only_of_a_model_trained_for_it_and_has_unit_length(
    folder: Path, embedder: LocalEmbedder
) -> None:
    short = load_embedder(replace(SPEC, dims=32, prefix=16), folder).embed(TEXTS)
    whole = embedder.embed(TEXTS)[:, :32]
    assert np.allclose(short, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-5)
    with pytest.raises(ModelError, match="makes vectors of 64 numbers, and 32 were expected"):
        load_embedder(replace(SPEC, dims=32), folder)


def test_pairs_are_judged_between_0_and_1_each_in_its_place(reranker: LocalReranker) -> None:
    texts = [f"{text} {number}" * (1 + number % 3) for number, text in enumerate(TEXTS * 5)]
    scores = reranker.score("When do we deploy?", texts, seconds=60)
    assert (scores.shape, scores.dtype) == ((20,), np.float32)
    assert ((scores > 0) & (scores < 1)).all()
    assert np.allclose(scores[7], reranker.score("When do we deploy?", [texts[7]], seconds=60), atol=1e-5)
    assert len(set(scores.tolist())) > 10
    assert reranker.score("Anything?", [], seconds=60).shape == (0,)


def test_a_judgement_that_would_take_too_long_is_not_waited_for(reranker: LocalReranker) -> None:
    with pytest.raises(ModelUnavailableError, match="in time"):
        reranker.score("When?", TEXTS, seconds=-1)


def test_files_that_are_missing_or_damaged_are_told_of_and_nothing_is_fetched(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("tried to connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    empty = tmp_path / "empty"
    empty.mkdir()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in folder.iterdir():
        if file.is_file():
            (damaged / file.name).write_bytes(file.read_bytes()[:3000] if file.suffix == ".safetensors" else file.read_bytes())
    for load, spec in ((load_embedder, SPEC), (load_reranker, tiny_models.spec(Role.RERANKER))):
        for where in (empty, tmp_path / "not-there", damaged):
            with pytest.raises(ModelError, match="cannot be loaded"):
                load(spec, where)


def test_what_models_leave_behind_is_given_back_on_any_device() -> None:
    assert best_device() in {"cpu", "cuda", "mps"}
    give_memory_back()
