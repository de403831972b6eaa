"""The search index in memory: every row's visibility and sign code, as of one snapshot of the file.

A million rows take 28 MB, and 49 MB more for the codes of each 384-wide model that is asked with. They are kept in segments that are
never changed: following the file replaces the segments that hold changed blocks, so a search goes on with the view it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar, cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import ModelIdentity, Visibility
from lean_memory.store.past_rows import known_rows
from lean_memory.store.search_index import BLOCK, RECORD, ROWS_LAYER, code_record_size, model_number
from lean_memory.store.visibility import RowArrays, visible_rows

Mask = NDArray[np.bool_]

_BLOCKS = 16
SEGMENT = _BLOCKS * BLOCK
"""Rows in one segment: its codes and the intermediate results fit in a core's cache."""

_RECORD_TYPE = np.dtype(
    [("valid_at", "<i8"), ("valid_to", "<i8"), ("recorded_at", "<i8"), ("tokens", "<u2"), ("asks", "u1"), ("flags", "u1")]
)
_FAR = np.iinfo(np.uint16).max
_SAMPLE = 8192

S = TypeVar("S")
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSegment:
    """The codes of one segment, a row of `words` per 64-bit word so that each is read in one sweep; shape (words, rows)."""

    words: NDArray[np.uint64]
    there: Mask
    """Which rows have a vector; shape (rows,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer(Generic[S]):
    """The segments of one layer of blocks, and for each the number of its last change."""

    newest: int = 0
    changes: tuple[int, ...] = ()
    segments: tuple[S, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a layer's blocks are in the file."""

    number: int
    table: str
    record_size: int


@dataclass(frozen=True, kw_only=True)
class IndexView:
    """The index as of one snapshot; positions in its arrays are row ids. Immutable."""

    rows: Layer[RowArrays]
    codes: Layer[CodeSegment]

    @cached_property
    def tokens(self) -> NDArray[np.uint16]:
        """The number of tokens of each row."""
        return self._joined([segment.tokens for segment in self.rows.segments], np.uint16)

    @cached_property
    def asks(self) -> NDArray[np.uint8]:
        """The share of each row's text that stands in questions, of 255."""
        return self._joined([segment.asks for segment in self.rows.segments], np.uint8)

    @cached_property
    def statistics(self) -> tuple[int, float]:
        """How many rows there are, and their mean number of tokens (at least 1)."""
        lengths = self.tokens[self.tokens > 0]
        return int(lengths.shape[0]), max(1.0, float(lengths.mean())) if lengths.shape[0] else 1.0

    def visible(self, con: apsw.Connection, visibility: Visibility) -> Mask:
        """Which rows a search may see. `con` is the snapshot the view was made for; it is read only for `known_at`."""
        mask = self._joined([visible_rows(segment, visibility) for segment in self.rows.segments], np.bool_)
        if visibility.known_at is not None:
            row_ids, arrays = known_rows(con, visibility.known_at)
            mask[row_ids] = visible_rows(arrays, visibility)
        return mask

    def lacks_vectors(self, mask: Mask) -> bool:
        """Whether any of the rows has no vector."""
        return bool((mask > self._there).any())

    def nearest(self, code: NDArray[np.uint8], mask: Mask, k: int) -> NDArray[np.int64]:
        """Ids of the up to `k` masked rows whose codes differ from `code` in the fewest bits, in no order."""
        distances = np.empty(mask.shape[0], dtype=np.uint16)
        query = code.view(np.uint64)[:, None]
        for number, segment in enumerate(self.codes.segments):
            out = distances[number * SEGMENT :][: segment.there.shape[0]]
            np.add.reduce(np.bitwise_count(segment.words ^ query), axis=0, dtype=np.uint16, out=out)
        distances[~(mask & self._there)] = _FAR
        return _least(distances, k)

    @cached_property
    def _there(self) -> Mask:
        """Which rows have a vector."""
        return self._joined([segment.there for segment in self.codes.segments], np.bool_)

    @cached_property
    def _size(self) -> int:
        """One more than the highest row id there can be."""
        segments = self.rows.segments
        return (len(segments) - 1) * SEGMENT + segments[-1].flags.shape[0] if segments else 0

    def _joined(self, parts: Sequence[NDArray[T]], kind: type[T]) -> NDArray[T]:
        whole = np.zeros(self._size, dtype=kind)
        for number, part in enumerate(parts):
            whole[number * SEGMENT :][: part.shape[0]] = part
        return whole


class CodeTable:
    """Keeps the latest view of one namespace's index with the codes of each model that was asked for. Thread-safe."""

    def __init__(self) -> None:
        self._rows: Layer[RowArrays] = Layer()
        self._views: dict[ModelIdentity | None, IndexView] = {}
        self._lock = Lock()

    def refresh(self, con: apsw.Connection, model: ModelIdentity | None) -> IndexView:
        """The index with the codes of a model, or of none, as the snapshot of `con`'s transaction shows it, whoever wrote it.

        Reads only blocks that changed.
        """
        with self._lock:
            base = self._views.get(model) or IndexView(rows=self._rows, codes=Layer())
            self._rows = _follow_rows(con, self._rows)
            codes = _follow_codes(con, base.codes, model)
            if self._rows is not base.rows or codes is not base.codes:
                base = IndexView(rows=self._rows, codes=codes)
            self._views[model] = base
            return base


def _least(distances: NDArray[np.uint16], k: int) -> NDArray[np.int64]:
    """Places of up to `k` of the least distances that are not `_FAR`, in no order.

    A sample tells a bound below which there are hardly more than `k`, so that only those need to be ordered.
    """
    step = max(1, distances.shape[0] // _SAMPLE)
    sample = distances[::step]
    place = min(sample.shape[0] - 1, 2 * k // step + 16)
    found = (
        np.flatnonzero(distances <= min(np.partition(sample, place)[place], _FAR - 1)) if sample.shape[0] else np.zeros(0, dtype=np.int64)
    )
    if found.shape[0] < k:
        found = np.flatnonzero(distances < _FAR)
    return found[np.argpartition(distances[found], k)[:k]] if found.shape[0] > k else found


def _follow_rows(con: apsw.Connection, base: Layer[RowArrays]) -> Layer[RowArrays]:
    return _follow(con, base, _Place(number=ROWS_LAYER, table="index_block", record_size=RECORD.size), _decode_rows)


def _follow_codes(con: apsw.Connection, base: Layer[CodeSegment], model: ModelIdentity | None) -> Layer[CodeSegment]:
    number = None if model is None else model_number(con, model)
    if model is None or number is None:
        return Layer() if base.newest else base
    return _follow(con, base, _Place(number=number, table=f"code_{number:d}", record_size=code_record_size(model)), _decode_codes)


def _follow(con: apsw.Connection, base: Layer[S], place: _Place, decode: Callable[[NDArray[np.uint8]], S]) -> Layer[S]:
    """The layer as the snapshot has it; the segments that are the same there are taken from `base`.

    The snapshot may also be older than `base`, or of another file: segments are the same where the numbers of their last changes are.
    """
    newest: int = con.execute("SELECT coalesce(max(change), 0) FROM index_change WHERE layer = ?", (place.number,)).get
    if newest == base.newest:
        return base
    changes = _changes(con, place.number)
    segments = tuple(
        base.segments[i] if base.changes[i : i + 1] == (change,) else decode(_read_segment(con, place, i))
        for i, change in enumerate(changes)
    )
    return Layer(newest=newest, changes=changes, segments=segments)


def _changes(con: apsw.Connection, number: int) -> tuple[int, ...]:
    """The number of the last change of every segment."""
    found = dict(
        cast(
            "list[tuple[int, int]]",
            con.execute("SELECT block / ?, max(change) FROM index_change WHERE layer = ? GROUP BY 1", (_BLOCKS, number)).fetchall(),
        )
    )
    return tuple(found.get(i, 0) for i in range(max(found, default=-1) + 1))


def _read_segment(con: apsw.Connection, place: _Place, segment: int) -> NDArray[np.uint8]:
    """The records of a segment up to its last block, shape (rows, record_size); blocks that were never written are zero."""
    first = segment * _BLOCKS
    query = f"SELECT id - ?1, rows FROM {place.table} WHERE id >= ?1 AND id < ?1 + ?2 ORDER BY id DESC"
    found = cast("list[tuple[int, bytes]]", con.execute(query, (first, _BLOCKS)).fetchall())
    raw = np.zeros(((found[0][0] + 1) * BLOCK if found else 0, place.record_size), dtype=np.uint8)
    for position, content in found:
        raw[position * BLOCK : (position + 1) * BLOCK] = np.frombuffer(content, dtype=np.uint8).reshape(BLOCK, -1)
    return raw


def _decode_rows(raw: NDArray[np.uint8]) -> RowArrays:
    records = raw.view(_RECORD_TYPE)[:, 0]
    return RowArrays(
        **{name: np.ascontiguousarray(records[name]) for name in ("valid_at", "valid_to", "recorded_at", "tokens", "asks", "flags")}
    )


def _decode_codes(raw: NDArray[np.uint8]) -> CodeSegment:
    codes = np.ascontiguousarray(raw[:, 1:]).view(np.uint64)
    return CodeSegment(words=np.ascontiguousarray(codes.T), there=raw[:, 0] != 0)
