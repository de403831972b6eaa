"""Models that run in this process on torch; the only module that loads torch or gliner2, and only when a model is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from lean_memory.errors import ModelError
from lean_memory.forking import Mutex
from lean_memory.models.ports import FoundEntity, FoundRelation, Markup

BATCH = 8
"""Texts in one pass of the encoder."""

_RELATIONS = "relation_extraction"


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
            with self._alone:
                schema = self._extractor.create_schema().entities(list(labels)).relations(list(relations))
                found = self._extractor.batch_extract(
                    filled, schema, batch_size=BATCH, threshold=threshold, include_confidence=True, include_spans=True
                )
        except (RuntimeError, ValueError, IndexError, KeyError) as error:
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
        loaded = cast("_Loader", AutoExtractor).from_pretrained(where, map_location=device, **hub)
    except (OSError, ValueError, RuntimeError, TypeError, KeyError) as error:
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
