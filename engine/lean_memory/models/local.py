"""Models that run in this process on torch; the only module that loads torch and what is built on it, and only when a model is loaded."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.forking import Mutex
from lean_memory.models.manifest import ModelSpec
from lean_memory.models.ports import UNMEASURED, CosineThresholds, FoundEntity, FoundRelation, Markup, Vectors

BATCH = 8
"""Texts in one pass of the extractor's encoder."""
EMBEDDED_AT_ONCE = 32
JUDGED_AT_ONCE = 16
"""Pairs that the cross-encoder reads between two looks at the clock."""

_RELATIONS = "relation_extraction"
_MOST_TOKENS = 8192
"""Where the spec of a model names no length."""
_CHARACTERS_A_TOKEN = 16
"""Far more than any text has; beyond it a text is cut before it is tokenized, which takes time in proportion to its length."""
_UNUSABLE = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError, MemoryError)
"""What the libraries raise for texts and files they cannot use."""


class LocalEmbedder:
    """A sentence-transformers model in memory; an `Embedder`. Its texts and its questions have the prompts of its spec before them."""

    def __init__(self, model: SentenceEncoder, spec: ModelSpec) -> None:
        if spec.max_tokens is not None:
            model.max_seq_length = spec.max_tokens
        own = model.get_embedding_dimension() or spec.dims
        # Leading components stand for the whole only where the model was trained for it.
        if own != spec.dims and (spec.prefix is None or own < spec.dims):
            raise ModelError(f"The model {spec.model_id!r} makes vectors of {own} numbers, and {spec.dims} were expected.")
        self._model, self._spec = model, spec
        self._cut = None if own == spec.dims else spec.dims
        self._alone = Mutex()

    @property
    def identity(self) -> ModelIdentity:
        return self._spec.identity

    @property
    def thresholds(self) -> CosineThresholds:
        return self._spec.thresholds or UNMEASURED

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors for stored texts, in order; shape (len(texts), dims). Raises `ModelError`."""
        return self._encoded(texts, self._spec.text_prompt)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector for a question; shape (dims,). Raises `ModelError`."""
        return self._encoded([text], self._spec.query_prompt)[0]

    def _encoded(self, texts: Sequence[str], prompt: str) -> Vectors:
        if not texts:
            return np.empty((0, self._spec.dims), np.float32)
        given = [_readable(text, self._spec.max_tokens) for text in texts]
        with self._alone.held, _translated(self._spec):
            # Normalized after the cut: the beginning of a unit vector is not one.
            made = self._model.encode(
                given,
                prompt=prompt,
                batch_size=EMBEDDED_AT_ONCE,
                show_progress_bar=False,
                normalize_embeddings=True,
                truncate_dim=self._cut,
            )
        return np.ascontiguousarray(made, np.float32)


class LocalReranker:
    """A cross-encoder of sentence-transformers in memory; a `Reranker`."""

    def __init__(self, model: PairModel, spec: ModelSpec, squashed: object) -> None:
        self._model, self._spec, self._squashed = model, spec, squashed
        self._alone = Mutex()

    @property
    def identity(self) -> ModelIdentity:
        return self._spec.identity

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> NDArray[np.float32]:
        """How well each text answers `query`, 0 to 1, in order. Raises `ModelUnavailableError` where that takes more than `seconds`."""
        ends = monotonic() + seconds
        asked = _readable(query, self._spec.max_tokens)
        pairs = [(asked, _readable(text, self._spec.max_tokens)) for text in texts]
        order = sorted(range(len(pairs)), key=lambda row: -len(pairs[row][1]))
        scores = np.empty(len(pairs), np.float32)
        with self._alone.held, _translated(self._spec):
            for start in range(0, len(order), JUDGED_AT_ONCE):
                if monotonic() > ends:
                    raise ModelUnavailableError("The cross-encoder could not read all the texts in time.")
                rows = order[start : start + JUDGED_AT_ONCE]
                # Which function makes a share of a score is the model's own affair and differs; the scale asked for here does not.
                scores[rows] = self._model.predict(
                    [pairs[row] for row in rows], batch_size=JUDGED_AT_ONCE, show_progress_bar=False, activation_fn=self._squashed
                )
        return scores


class SentenceEncoder(Protocol):
    """What is used of the library's `SentenceTransformer`."""

    max_seq_length: int | None

    def get_embedding_dimension(self) -> int | None: ...

    def encode(
        self,
        inputs: list[str],
        *,
        prompt: str | None,
        batch_size: int,
        show_progress_bar: bool,
        normalize_embeddings: bool,
        truncate_dim: int | None,
    ) -> NDArray[np.float32]: ...


class PairModel(Protocol):
    """What is used of the library's `CrossEncoder`."""

    def predict(
        self, inputs: list[tuple[str, str]], *, batch_size: int, show_progress_bar: bool, activation_fn: object
    ) -> NDArray[np.float32]: ...


def load_embedder(spec: ModelSpec, folder: Path, *, device: str = "cpu") -> LocalEmbedder:
    """The embedder whose files are in `folder`; nothing is fetched. Raises `ModelError` where its files cannot be used, or the library is not installed."""
    with _loading(spec):
        from sentence_transformers import SentenceTransformer  # pyright: ignore  # noqa: PLC0415 - brings torch

        loaded = _read_in(SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=_numbers()))
        return LocalEmbedder(cast("SentenceEncoder", loaded), spec)


def load_reranker(spec: ModelSpec, folder: Path, *, device: str = "cpu") -> LocalReranker:
    """The cross-encoder whose files are in `folder`; nothing is fetched. Raises as `load_embedder` does."""
    with _loading(spec):
        from sentence_transformers import CrossEncoder  # pyright: ignore  # noqa: PLC0415 - brings torch

        options = {"local_files_only": True, "max_length": spec.max_tokens, "model_kwargs": _numbers()}
        loaded = cast("PairModel", _read_in(CrossEncoder(str(folder), device=device, **options)))
        return LocalReranker(loaded, spec, _torch().nn.Sigmoid())


def best_device() -> str:
    """Where models run fastest on this machine: a GPU, Apple's, or the processor. Raises `ModelError` where torch is not installed."""
    torch = _torch()
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def cap_threads(threads: int) -> None:
    """Let torch compute on at most `threads` cores; under load, a thread per core makes each batch many times slower. Raises `ModelError`."""
    _torch().set_num_threads(threads)


def give_memory_back() -> None:
    """Return to the system what models that nobody refers to any more have left behind."""
    gc.collect()
    if "torch" in sys.modules:
        torch = _torch()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if torch.backends.mps.is_available():
            torch.mps.empty_cache()
    give_pieces_back()


def give_pieces_back() -> None:
    """Return to the system what earlier batches have left behind; takes some milliseconds."""
    if sys.platform == "linux":
        # glibc keeps freed pieces for later; musl has no such function and needs none.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _torch() -> Any:
    try:
        import torch  # pyright: ignore  # noqa: PLC0415 - never loaded without need
    except ImportError as error:
        raise ModelError("Torch is not installed; install lean-memory-desktop[models] to use models.") from error
    return cast("Any", torch)


def _numbers() -> dict[str, object]:
    """How weights are kept: as they were published where the hardware computes with 16 bits, else as float32. Pickled ones are not read."""
    torch = _torch()
    # Without such instructions 16 bits are computed in software, many times slower.
    has_short = best_device() != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return {"dtype": "auto" if has_short else torch.float32, "use_safetensors": True}


def _read_in(model: Any) -> Any:
    """The model, with its weights read from the disk: they are mapped, so that a rare word would wait for the disk when it is first read."""
    for weights in model.parameters():
        if weights.device.type == "cpu":
            # An element of each page.
            weights.detach().reshape(-1)[:: max(1, 4096 // weights.element_size())].sum()
    return model


@contextmanager
def _loading(spec: ModelSpec) -> Generator[None]:
    try:
        yield
    except ImportError as error:
        lacking = error.name or "A library"
        raise ModelError(f"{lacking} is not installed, so no model can be loaded; install lean-memory-desktop[models].") from error
    except _unloadable() as error:
        raise ModelError(f"The model {spec.model_id!r} cannot be loaded ({type(error).__name__}: {error}).") from error


def _unloadable() -> tuple[type[Exception], ...]:
    """What the libraries raise for files they cannot use."""
    try:
        from safetensors import SafetensorError  # pyright: ignore  # noqa: PLC0415 - comes with torch's libraries
    except ImportError:
        return (OSError, *_UNUSABLE)
    return (OSError, *_UNUSABLE, cast("type[Exception]", SafetensorError))


@contextmanager
def _translated(spec: ModelSpec) -> Generator[None]:
    try:
        yield
    except _UNUSABLE as error:
        raise ModelError(f"The model {spec.model_id!r} could not read a text ({type(error).__name__}).") from error


def _readable(text: str, max_tokens: int | None) -> str:
    """A text as tokenizers take it: a lone surrogate, which has no UTF-8 form, becomes a question mark, and a blank, which has no tokens, a full stop."""
    clean = text[: (max_tokens or _MOST_TOKENS) * _CHARACTERS_A_TOKEN].encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else "."


class LocalGliner:
    """A GLiNER2 model of either architecture, in memory; an `EntityRelationModel`."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._alone = Mutex()

    def read(self, texts: Sequence[str], *, labels: Sequence[str], relations: Sequence[str], threshold: float) -> list[Markup]:
        """What is in each text, in order; everything that scores at least `threshold`. Raises `ModelError`."""
        filled = [text for text in texts if text.strip()]
        if not filled:
            return [Markup() for _ in texts]
        try:
            with self._alone.held:
                schema = self._extractor.create_schema().entities(list(labels)).relations(list(relations))
                found = self._extractor.batch_extract(
                    filled, schema, batch_size=BATCH, threshold=threshold, include_confidence=True, include_spans=True
                )
        except _UNUSABLE as error:
            raise ModelError(f"The GLiNER2 model could not read a text ({type(error).__name__}); the rules' facts stand.") from error
        marked = map(markup_of, found)
        return [next(marked) if text.strip() else Markup() for text in texts]


class Extractor(Protocol):
    """What is used of the library's extractor classes."""

    def create_schema(self) -> Schema: ...

    def batch_extract(
        self, texts: list[str], schemas: Schema, batch_size: int, *, threshold: float, include_confidence: bool, include_spans: bool
    ) -> list[dict[str, object]]: ...


class Schema(Protocol):
    """What is used of the library's schema builder."""

    def entities(self, entity_types: list[str]) -> Schema: ...

    def relations(self, relation_types: list[str]) -> Schema: ...


class _Loader(Protocol):
    """What is used of the library's loader, which knows both architectures."""

    def from_pretrained(self, where: str, /, **options: object) -> Extractor: ...


def load_gliner(model: str | Path, *, revision: str | None = None, offline: bool = True, device: str = "cpu") -> LocalGliner:
    """A GLiNER2 model from a local folder, or by its hub id.

    While `offline`, a hub id is looked for among the files that are already on this machine, and nothing is fetched. Raises `ModelError`
    where the library is not installed or the model cannot be had.
    """
    try:
        from gliner2 import AutoExtractor  # pyright: ignore  # noqa: PLC0415 - an extra that brings torch; never loaded without need
    except ImportError as error:
        raise ModelError("GLiNER2 is not installed; install lean-memory-desktop[gliner] to use it.") from error
    where = str(model)
    hub = {} if Path(where).is_dir() else {"local_files_only": offline, "revision": revision}
    try:
        loaded = cast("Extractor", _read_in(cast("_Loader", AutoExtractor).from_pretrained(where, map_location=device, **hub)))
    except _unloadable() as error:
        raise ModelError(f"The GLiNER2 model {where!r} cannot be loaded ({type(error).__name__}: {error}).") from error
    return LocalGliner(loaded)


def markup_of(result: Mapping[str, object]) -> Markup:
    """One result of the library, with confidence and spans, as values; whatever has another form in it is left out."""
    entities = cast("Mapping[str, object]", result.get("entities") or {})
    relations = cast("Mapping[str, object]", result.get(_RELATIONS) or {})
    return Markup(
        entities=tuple(
            FoundEntity(label=label, start=start, end=end, score=score)
            for label, rows in entities.items()
            for start, end, score in _spans(rows)
        ),
        # The span architecture names a relation that has a description "name: description".
        relations=tuple(found for name, rows in relations.items() for found in _relations(name.partition(":")[0], rows)),
    )


def _spans(rows: object) -> Iterator[tuple[int, int, float]]:
    for row in cast("list[object]", rows) if isinstance(rows, list) else [rows]:
        found = _span(row)
        if found:
            yield found


def _relations(name: str, rows: object) -> Iterator[FoundRelation]:
    for row in cast("list[object]", rows) if isinstance(rows, list) else []:
        if not isinstance(row, dict):
            continue
        entry = cast("dict[str, object]", row)
        head, tail = _span(entry.get("head")), _span(entry.get("tail"))
        if head and tail:
            yield FoundRelation(name=name, head=head[:2], tail=tail[:2], score=_number(entry.get("confidence"), min(head[2], tail[2])))


def _span(row: object) -> tuple[int, int, float] | None:
    if not isinstance(row, dict):
        return None
    entry = cast("dict[str, object]", row)
    start, end = entry.get("start"), entry.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end:
        return None
    return start, end, _number(entry.get("confidence"), 0.0)


def _number(value: object, default: float) -> float:
    return min(1.0, max(0.0, float(value))) if isinstance(value, int | float) else default
