"""The embedder that comes with the package: all-MiniLM-L6-v2 with int8 weights, on onnxruntime; it never asks a network for anything."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.errors import ModelError
from lean_memory.forking import Mutex
from lean_memory.models.ports import CosineThresholds, Vectors
from lean_memory.models.unknown_words import direction

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

DATA = Path(__file__).parent / "data"
MANIFEST = "builtin.json"

_LONGEST_TEXT = 4096
"""Characters looked at: some three times what the model's 256 tokens hold in prose, so that tokenizing stays bounded."""
_FRAMING = 2
"""Tokens that the tokenizer adds around every text."""
_RECIPE = 1
"""Counts up when the way from a text to its vector changes while the model's file stays: old vectors are not comparable."""
_TOKENS_AT_ONCE = 256
"""Token places in one run of the model, padding included; it bounds the memory of a run."""


class BuiltinEmbedder:
    """384 dimensions, English; a text is cut at 256 tokens. The model is loaded on first use.

    A text's vector does not depend on what else is in its batch (differences stay below 1e-6), because weights are int8 but
    arithmetic is float32.

    Raises `ModelError` when a file of the model is missing or damaged: at construction for the manifest, else on first use.
    """

    def __init__(self, *, threads: int = 2, folder: Path = DATA) -> None:
        self._manifest = _read_manifest(folder)
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        self._loading = Mutex()
        self._model: _Model | None = None

    @property
    def identity(self) -> ModelIdentity:
        return self._manifest.identity

    @property
    def thresholds(self) -> CosineThresholds:
        return self._manifest.thresholds

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for stored texts, in order; shape (len(texts), 384). Any string has one, the empty string too."""
        vectors = np.empty((len(texts), self.identity.dims), np.float32)
        if texts:
            model = self._loaded()
            tokens = [model.tokens(text) for text in texts]
            for rows in _batches([len(text.ids) for text in tokens]):
                vectors[rows] = model.run([tokens[row] for row in rows])
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector for a question, shape (384,); the model treats questions and statements alike."""
        model = self._loaded()
        return model.run([model.tokens(text)])[0]

    def _loaded(self) -> _Model:
        if self._model is None:
            with self._loading.held:
                if self._model is None:
                    self._model = _load(self._manifest, self._threads)
        return self._model


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    path: Path
    sha256: str

    def verified(self) -> Path:
        """The path of the file, once its content is seen to be what was shipped."""
        try:
            with self.path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _incomplete(self.path, "cannot be read") from error
        if found != self.sha256:
            raise _incomplete(self.path, "is damaged")
        return self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    identity: ModelIdentity
    max_tokens: int
    model: _File
    tokenizer: _File
    thresholds: CosineThresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tokens:
    """A text as the model reads it, and the words that it has no token for."""

    ids: list[int]
    unknown: list[str]


class _Session(Protocol):
    def run(self, output_names: Sequence[str], input_feed: Mapping[str, NDArray[np.int32]]) -> list[Vectors]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """The loaded model; both parts may be used by several threads at once."""

    tokenizer: Tokenizer
    session: _Session
    unknown_id: int

    def tokens(self, text: str) -> _Tokens:
        # A lone surrogate has no UTF-8 form, and the tokenizer refuses it: it becomes a question mark.
        clean = text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
        read = self.tokenizer.encode(clean)
        ids = read.ids
        if self.unknown_id not in ids:
            return _Tokens(ids=ids, unknown=[])
        return _Tokens(ids=ids, unknown=[clean[slice(*read.offsets[at])] for at, id_ in enumerate(ids) if id_ == self.unknown_id])

    def run(self, texts: Sequence[_Tokens]) -> Vectors:
        """The unit vectors of a batch; unknown words weigh in by their share of the tokens."""
        shape = (len(texts), max(len(text.ids) for text in texts))
        ids, mask = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        for row, text in enumerate(texts):
            ids[row, : len(text.ids)] = text.ids
            mask[row, : len(text.ids)] = 1
        vectors = self.session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
        for row, text in enumerate(texts):
            if text.unknown:
                vectors[row] = _blend(vectors[row], text)
        return vectors


def _blend(vector: NDArray[np.float32], text: _Tokens) -> NDArray[np.float32]:
    share = len(text.unknown) / (len(text.ids) - _FRAMING)
    mixed = (1 - share) * vector + share * direction(text.unknown, len(vector))
    return np.asarray(mixed / np.linalg.norm(mixed), np.float32)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The rows in batches of like length, so that little is spent on padding and no batch is too big."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > _TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(row)
    yield batch


def _read_manifest(folder: Path) -> _Manifest:
    path = folder / MANIFEST
    try:
        written = json.loads(path.read_text("utf-8"))
        files = {part: _File(path=folder / file["name"], sha256=file["sha256"]) for part, file in written["files"].items()}
        return _Manifest(
            identity=ModelIdentity(model_id=written["model_id"], revision=f"{files['model'].sha256[:12]}.{_RECIPE}", dims=written["dims"]),
            max_tokens=written["max_tokens"],
            model=files["model"],
            tokenizer=files["tokenizer"],
            thresholds=CosineThresholds(**written["thresholds"]),
        )
    except OSError as error:
        raise _incomplete(path, "cannot be read") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _incomplete(path, "is damaged") from error


def _load(manifest: _Manifest, threads: int) -> _Model:
    model, tokenizer_json = manifest.model.verified(), manifest.tokenizer.verified()
    try:
        tokenizer, session = _open_tokenizer(tokenizer_json, manifest.max_tokens), _open_session(model, threads)
    except ImportError as error:
        raise ModelError(
            f"The built-in embedder needs onnxruntime and tokenizers, and they cannot be loaded here ({error}). Nothing stored was "
            "touched; install the package again, and on Windows the Microsoft Visual C++ Redistributable."
        ) from error
    log.info("loaded the built-in embedder %s, %d threads", manifest.identity, threads)
    return _Model(tokenizer=tokenizer, session=session, unknown_id=_token_id(tokenizer, "[UNK]"))


def _token_id(tokenizer: Tokenizer, token: str) -> int:
    found = tokenizer.token_to_id(token)
    if found is None:
        raise ModelError(f"The built-in embedder's tokenizer has no token {token}.")
    return found


def _open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    # Imported here, like onnxruntime below: both take longer than the rest of the engine, and a search by words needs neither.
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_str(path.read_text("utf-8"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)  # pyright: ignore[reportUnknownMemberType] - its stub leaves **kwargs untyped
    return tokenizer


def _open_session(path: Path, threads: int) -> _Session:
    # Its official builds report to Microsoft and keep an id of the machine in the home folder, from the import on, unless told not to
    # before it: elsewhere than on Windows by these variables (the name differs by version), there by the call.
    os.environ.update({"ORT_DISABLE_TELEMETRY": "1", "ORT_TELEMETRY_DISABLED": "1"})
    onnxruntime = importlib.import_module("onnxruntime")  # It has no type stubs.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Threads that spin between runs would burn a laptop's battery, and slow down everything beside them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Parts of a run are small enough for a thread to take more of them while another one is held up by what else the machine does.
    options.add_session_config_entry("session.dynamic_block_base", "4")
    # Weights become float32 here, once. Otherwise activations are rounded to 8 bits too, where the processor can, and differently there.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    # The arena would keep the memory of the largest run for ever.
    options.enable_cpu_mem_arena = False
    return cast("_Session", onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]))


def _incomplete(path: Path, what: str) -> ModelError:
    return ModelError(
        f"The built-in embedder's file {path.name} {what}. Nothing stored was touched; install the package again to put it back."
    )
