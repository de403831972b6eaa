"""The embedder that comes with the package: what it understands, and that nothing odd stops it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from lean_memory.errors import ModelError
from lean_memory.models.builtin import DATA, BuiltinEmbedder

ODD = ["", " ", "\0", "a\0b", "🙂🙂", "a\ud800b", "\u202e\u200b", "x" * 100_000, "多" * 100_000, "\n" * 100_000, "́" * 5_000]


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def sentences(count: int, seed: int = 7) -> list[str]:
    """Plain sentences of three to eighty words."""
    draw = random.Random(seed)
    words = ["the", "a", "of", "my", "friend", "works", "near", "river", "paints", "every", "morning", "blue", "music", "old", "books"]
    return [" ".join(draw.choices(words, k=draw.choice((3, 5, 8, 12, 20, 80)))) for _ in range(count)]


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("Who is my employer?", ["I work at Globex.", "The cat sleeps on the sofa.", "We had pasta on Friday."]),
        ("What can't I eat?", ["I am allergic to peanuts.", "My car is in the garage.", "She studies law."]),
        ("Where does she live?", ["Maria has moved to Lisbon.", "Maria likes jazz.", "The meeting lasted an hour."]),
        ("Does anyone play an instrument?", ["Tom practises the cello every day.", "Tom runs marathons.", "The flat is cold."]),
    ],
)
def test_a_question_is_nearest_to_the_statement_that_answers_it(
    embedder: BuiltinEmbedder, question: str, statements: Sequence[str]
) -> None:
    cosines = embedder.embed(statements) @ embedder.embed_query(question)
    assert int(cosines.argmax()) == 0


def test_a_paraphrase_reaches_the_threshold_for_duplicates_and_another_subject_stays_below_that_for_conflicts(
    embedder: BuiltinEmbedder,
) -> None:
    statement, paraphrase, elsewhere = embedder.embed(
        ["My sister is a nurse.", "My sister works as a nurse.", "The server room is on the second floor."]
    )
    assert statement @ paraphrase >= embedder.thresholds.duplicate
    assert statement @ elsewhere < embedder.thresholds.conflict_candidate


def test_vectors_are_float32_of_unit_length_in_the_order_of_the_texts(embedder: BuiltinEmbedder) -> None:
    texts = sentences(40)
    vectors = embedder.embed(texts)
    assert vectors.shape == (40, embedder.identity.dims)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.abs(embedder.embed(texts[::-1])[::-1] - vectors).max() < 1e-5


def test_a_vector_does_not_depend_on_what_else_is_embedded_with_it(embedder: BuiltinEmbedder) -> None:
    texts = sentences(60)
    together = embedder.embed(texts)
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_the_same_text_has_the_same_vector_in_every_process(embedder: BuiltinEmbedder) -> None:
    program = (
        "import sys; from lean_memory.models.builtin import BuiltinEmbedder; "
        "sys.stdout.buffer.write(BuiltinEmbedder().embed_query('I moved to Lisbon in May.').tobytes())"
    )
    elsewhere = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60).stdout
    assert elsewhere == embedder.embed_query("I moved to Lisbon in May.").tobytes()


def test_no_texts_give_no_vectors(embedder: BuiltinEmbedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.identity.dims)


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:4]))
def test_any_string_has_a_vector_in_bounded_time(embedder: BuiltinEmbedder, text: str) -> None:
    embedder.embed_query("ready")
    started = time.monotonic()
    vector = embedder.embed_query(text)
    assert time.monotonic() - started < 2
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("one", "other"),
    [("猫", "狗"), ("ฉันทำงานที่กูเกิล", "แมวนอนบนโซฟา"), ("🐶", "🐱"), ("我喜欢猫", "我喜欢狗")],
)
def test_words_without_a_token_are_told_apart_and_equal_ones_are_equal(embedder: BuiltinEmbedder, one: str, other: str) -> None:
    first, second, again = embedder.embed([one, other, one])
    assert first @ second < embedder.thresholds.object_match
    assert first @ again == pytest.approx(1, abs=1e-5)


def test_texts_in_a_script_without_tokens_are_near_when_they_share_most_of_their_letters(embedder: BuiltinEmbedder) -> None:
    moved, lives, cat = embedder.embed(["ฉันย้ายไปเชียงใหม่", "ฉันอยู่เชียงใหม่", "แมวนอนบนโซฟา"])
    assert moved @ lives > moved @ cat + 0.2


def test_only_the_first_256_tokens_count(embedder: BuiltinEmbedder) -> None:
    prose = "word " * 254
    assert np.array_equal(embedder.embed_query(prose), embedder.embed_query(prose + "and then something else entirely"))


def test_long_and_short_texts_are_embedded_together(embedder: BuiltinEmbedder) -> None:
    texts = ["a cup of tea", *ODD, "word " * 400, "another cup of tea"]
    vectors = embedder.embed(texts)
    assert vectors[0] @ vectors[-1] > 0.8


def test_several_threads_use_one_embedder_from_its_first_use_on() -> None:
    embedder, texts = BuiltinEmbedder(threads=1), sentences(12)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(embedder.embed, [texts] * 8))
    assert all(np.abs(vectors - results[0]).max() < 1e-5 for vectors in results)


def test_two_embedders_have_one_identity_whatever_their_threads() -> None:
    assert BuiltinEmbedder(threads=1).identity == BuiltinEmbedder(threads=8).identity


def test_importing_and_naming_the_embedder_loads_no_model_runtime() -> None:
    program = (
        "import sys; from lean_memory.models.builtin import BuiltinEmbedder; BuiltinEmbedder().identity; "
        "print([name for name in ('onnxruntime', 'tokenizers', 'torch') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert printed.strip() == "[]"


def test_embedding_leaves_nothing_in_the_home_folder_as_a_runtime_that_reports_to_its_maker_would(tmp_path: Path) -> None:
    program = "from lean_memory.models.builtin import BuiltinEmbedder; BuiltinEmbedder().embed(['I live in Porto.'])"
    # CI systems are not reported on, so this must not look like one.
    environment = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith(("ORT_", "GITHUB_", "XDG_"))}
    subprocess.run([sys.executable, "-c", program], env={**environment, "HOME": str(tmp_path)}, check=True, timeout=60)
    assert list(tmp_path.rglob("*")) == []


def test_embedding_opens_no_connection_and_loads_no_client_of_a_model_hub() -> None:
    program = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind"):
        raise SystemExit(f"asked the network: {event}")
sys.addaudithook(refuse)
from lean_memory.models.builtin import BuiltinEmbedder
BuiltinEmbedder().embed(["I work at Globex.", "Hello."])
print([name for name in ("huggingface_hub", "httpx", "requests", "urllib3") if name in sys.modules])
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert printed.strip() == "[]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(DATA, tmp_path / "data")


@pytest.mark.parametrize("name", ["minilm-l6-int8.onnx", "tokenizer.json"])
def test_a_damaged_file_of_the_model_is_named_and_not_used(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=rf"{name} is damaged.*install the package again"):
        BuiltinEmbedder(folder=folder).embed(["text"])


@pytest.mark.parametrize("name", ["minilm-l6-int8.onnx", "tokenizer.json"])
def test_a_missing_file_of_the_model_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"{name} cannot be read"):
        BuiltinEmbedder(folder=folder).embed_query("text")


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"files": []}', json.dumps({"files": {"model": "x"}})])
def test_a_manifest_that_is_missing_or_damaged_is_named(folder: Path, content: str | None) -> None:
    manifest = folder / "builtin.json"
    manifest.unlink() if content is None else manifest.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"builtin\.json (cannot be read|is damaged)"):
        BuiltinEmbedder(folder=folder)


def test_a_model_that_was_put_back_is_used_after_a_failure(folder: Path) -> None:
    model = folder / "minilm-l6-int8.onnx"
    kept = model.rename(folder / "kept")
    embedder = BuiltinEmbedder(folder=folder)
    with pytest.raises(ModelError):
        embedder.embed_query("text")
    kept.rename(model)
    assert embedder.embed_query("text").shape == (embedder.identity.dims,)


def test_the_manifest_tells_where_the_model_comes_from_and_under_which_licence() -> None:
    manifest = json.loads((DATA / "builtin.json").read_text(encoding="utf-8"))
    assert manifest["source"]["licence"] == "Apache-2.0"
    assert (DATA / "LICENSE").exists()
    assert (DATA / "NOTICE").exists()
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 24_000_000
