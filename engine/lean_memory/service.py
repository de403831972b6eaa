"""The memory: every namespace of one data root, behind one small set of verbs."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from lean_memory.clock import Clock, system_clock
from lean_memory.domain import (
    AddResult,
    Fact,
    FactId,
    ForgetResult,
    HistoryEntry,
    Instant,
    Modality,
    NamespaceStatus,
    SearchHit,
    Source,
    Visibility,
)
from lean_memory.errors import ClosedError, InvalidInputError, InvalidTextError
from lean_memory.ingest import Addition, Ingest
from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.models.ports import Embedder
from lean_memory.retrieval import pipeline, recipes
from lean_memory.settings import Settings, read_settings
from lean_memory.store import namespaces
from lean_memory.store.namespace_store import NamespaceStore

Moment = int | dt.datetime
"""Epoch milliseconds, or an aware datetime."""

MAX_TEXT = 4_000_000
"""Characters that one `add` takes at most."""

BATCH = 64
"""Episodes that `add_many` learns in one transaction."""


class MemoryService:
    """A memory over one data root; exported as `lean_memory.Memory`.

    Safe to use from several threads, and several processes may have the same root open. A context manager; `close()`
    ends it, and later calls raise `ClosedError`. `embedder` and `clock` default to the built-in model and the wall clock.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._settings = settings if settings is not None else read_settings(root)
        self._clock = clock
        self._embedder = embedder if embedder is not None else BuiltinEmbedder()
        self._open: dict[str, _Namespace] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def root(self) -> Path:
        """The folder that holds the namespaces' files."""
        return self._settings.root

    def add(
        self,
        namespace: str,
        text: str,
        *,
        t_ref: Moment | None = None,
        tz: str | None = None,
        source: str = "user",
        client: str | None = None,
    ) -> AddResult:
        """Remember `text`, said at `t_ref` (now, if not given); durable when this returns.

        Raises `InvalidInputError` and writes nothing if an argument cannot be used.
        """
        addition = self._addition({"text": text, "t_ref": t_ref, "tz": tz, "source": source, "client": client})
        return self._namespace(namespace).ingest.add([addition])[0]

    def add_many(
        self,
        namespace: str,
        items: Iterable[str | Mapping[str, object]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[AddResult]:
        """Remember many texts, oldest first: strings, or mappings with the arguments of `add`.

        `progress` is called with the number of items that are durable so far. An item that cannot be used raises
        before anything of its batch is written; earlier batches stay.
        """
        ingest = self._namespace(namespace).ingest
        results: list[AddResult] = []
        for batch in _batches(items, BATCH):
            results += ingest.add([self._addition({"text": i} if isinstance(i, str) else i) for i in batch])
            if progress is not None:
                progress(len(results))
        return results

    def search(
        self,
        namespace: str,
        query: str,
        k: int = 5,
        *,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        is_latest_only: bool = True,
        include_cold: bool = False,
        now: Moment | None = None,
        recipe: str | None = None,
    ) -> list[SearchHit]:
        """The `k` best answers to `query`, best first: what is current, or what was true at `as_of`, or believed at `known_at`.

        Writes nothing. Raises `InvalidInputError` for an empty query, a `k` outside 1..1000 or an unknown recipe.
        """
        if not query.strip():
            raise InvalidInputError("The query is empty; ask with at least one word.")
        if not 1 <= k <= 1000:
            raise InvalidInputError(f"k must lie between 1 and 1000, not {k}.")
        opened = self._existing(namespace)
        if opened is None:
            return []
        return pipeline.search(
            opened.store,
            opened.codes,
            self._embedder,
            _clean(query),
            k=k,
            visibility=self._visibility(as_of, known_at, now, latest_only=is_latest_only, include_cold=include_cold),
            recipe=recipes.named(recipe),
        )

    def facts(
        self,
        namespace: str,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        include_history: bool = False,
        include_cold: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        """The facts of a namespace: by default the current ones (asserted, open, not superseded).

        `include_history` adds superseded facts and those that are past, planned or reported.
        """
        opened = self._existing(namespace)
        if opened is None:
            return []
        return opened.store.facts(
            subject=subject,
            predicate=predicate,
            visibility=self._visibility(as_of, known_at, None, latest_only=not include_history, include_cold=include_cold),
            modalities=None if include_history else frozenset({Modality.ASSERTED}),
            limit=limit,
        )

    def history(self, namespace: str, fact_id: str) -> list[HistoryEntry]:
        """The chain a fact belongs to, oldest first, with the reason of each change. Raises `NotFoundError`."""
        return self._namespace(namespace, create=False).store.history(FactId(fact_id))

    def forget(
        self, namespace: str, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None
    ) -> ForgetResult:
        """Erase a fact, an episode or everything about an entity, down to the last byte, and do not learn it again.

        Exactly one of the three is given. Raises `NotFoundError` if there is no such thing.
        """
        if sum(x is not None for x in (fact_id, episode_id, entity)) != 1:
            raise InvalidInputError("Say what to forget: exactly one of fact_id, episode_id and entity.")
        return self._namespace(namespace, create=False).forget(fact_id, episode_id, entity)

    def would_forget(
        self, namespace: str, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None
    ) -> list[str]:
        """The texts that `forget` with the same arguments would erase, to show before asking. Raises as `forget` does."""
        if sum(x is not None for x in (fact_id, episode_id, entity)) != 1:
            raise InvalidInputError("Say what to forget: exactly one of fact_id, episode_id and entity.")
        return self._namespace(namespace, create=False).store.would_forget(fact_id=fact_id, episode_id=episode_id, entity=entity)

    def clear(self, namespace: str) -> bool:
        """Remove a namespace and its file; gives whether there was one. Raises `LeaseHeldError` during maintenance."""
        with self._lock:
            self._check_open()
            opened = self._open.pop(namespace, None)
            if opened is not None:
                opened.store.close()
            return NamespaceStore.clear(self._settings.root, namespace, settings=self._settings, clock=self._clock)

    def namespaces(self) -> list[str]:
        """The names of all namespaces in the data root, sorted."""
        self._check_open()
        return sorted(entry.name for entry in namespaces.listing(self._settings.root).namespaces)

    def other_files(self) -> list[tuple[str, str]]:
        """Databases in the data root that are no namespaces of ours, each path with the reason; they are never written."""
        self._check_open()
        return [(str(other.path), other.reason) for other in namespaces.listing(self._settings.root).others]

    def status(self, namespace: str | None = None) -> list[NamespaceStatus]:
        """Counts and sizes of one namespace, or of all."""
        names = self.namespaces() if namespace is None else [namespace]
        return [self._namespace(name, create=False).store.status() for name in names]

    def check(self, namespace: str) -> list[str]:
        """The invariants that do not hold in a namespace, a sentence each; empty when it is sound."""
        return self._namespace(namespace, create=False).store.check()

    def close(self) -> None:
        """Close every file. Calling it again does nothing."""
        with self._lock:
            self._closed = True
            for opened in self._open.values():
                opened.store.close()
            self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("This memory is closed; make a new Memory to go on.")

    def _existing(self, name: str) -> _Namespace | None:
        """The namespace, or `None` where nothing was ever added to it: reading makes no file."""
        self._check_open()
        if name not in self._open and not namespaces.path_of(self._settings.root, name).exists():
            return None
        return self._namespace(name, create=False)

    def _namespace(self, name: str, *, create: bool = True) -> _Namespace:
        with self._lock:
            self._check_open()
            opened = self._open.get(name)
            if opened is None:
                opened = self._open[name] = self._opened(name, create=create)
        return opened

    def _opened(self, name: str, *, create: bool) -> _Namespace:
        store = NamespaceStore.open(self._settings.root, name, settings=self._settings, clock=self._clock, create=create)
        opened = _Namespace(store, self._embedder)
        if store.writable:
            opened.ingest.resume()
        return opened

    def _addition(self, item: Mapping[str, object]) -> Addition:
        unknown = set(item) - {"text", "t_ref", "tz", "source", "client"}
        if unknown:
            raise InvalidInputError(f"An item to add has no field {sorted(unknown)[0]!r}.")
        client = item.get("client")
        return Addition(
            text=_text(item.get("text")),
            t_ref=self._clock() if item.get("t_ref") is None else _instant(item["t_ref"], "t_ref"),
            tz=self._timezone(item.get("tz")),
            source=_source(item.get("source", "user")),
            client=None if client is None else _text(client),
        )

    def _timezone(self, tz: object) -> str:
        name = tz or self._settings.timezone or tzlocal.get_localzone_name()
        try:
            ZoneInfo(str(name))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise InvalidInputError(f"{name!r} is not a time zone; use an IANA name such as 'Europe/Lisbon'.") from None
        return str(name)

    def _visibility(
        self, as_of: Moment | None, known_at: Moment | None, now: Moment | None, *, latest_only: bool, include_cold: bool
    ) -> Visibility:
        return Visibility(
            now=self._clock() if now is None else _instant(now, "now"),
            as_of=None if as_of is None else _instant(as_of, "as_of"),
            known_at=None if known_at is None else _instant(known_at, "known_at"),
            latest_only=latest_only and as_of is None,
            include_cold=include_cold or as_of is not None,
        )


class _Namespace:
    """One open namespace: its store, its codes in memory, its ingest."""

    def __init__(self, store: NamespaceStore, embedder: Embedder) -> None:
        self.store = store
        self.embedder = embedder
        self.codes = pipeline.codes_for(store, embedder)
        self.ingest = Ingest(store=store, embedder=embedder)

    def forget(self, fact_id: str | None, episode_id: str | None, entity: str | None) -> ForgetResult:
        try:
            return self.store.forget(fact_id=fact_id, episode_id=episode_id, entity=entity)
        finally:
            self.ingest.forget_context()


_T = TypeVar("_T")


def _batches(items: Iterable[str | Mapping[str, object]], size: int) -> Iterable[Sequence[str | Mapping[str, object]]]:
    batch: list[str | Mapping[str, object]] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidTextError(f"The text must be a string, not {type(value).__name__}; nothing was stored.")
    if not value.strip():
        raise InvalidTextError("The text is empty; nothing was stored.")
    if len(value) > MAX_TEXT:
        raise InvalidTextError(f"The text has {len(value):,} characters; one add takes at most {MAX_TEXT:,}. Nothing was stored: split it.")
    if "\x00" in value:
        raise InvalidTextError("The text holds a NUL character; nothing was stored: take it out and add it again.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidTextError(
            "The text holds half a character (a lone surrogate); nothing was stored: re-encode it and add it again."
        ) from None
    return value


def _clean(query: str) -> str:
    """A query with what no stored text can hold replaced by spaces."""
    return "".join(" " if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in query)


def _source(value: object) -> Source:
    try:
        return Source(str(value))
    except ValueError:
        raise InvalidInputError(f"{value!r} is not a source; use one of {', '.join(Source)}.") from None


_EARLIEST = int(dt.datetime(1, 1, 2, tzinfo=dt.UTC).timestamp() * 1000)
_LATEST = int(dt.datetime(9999, 12, 30, tzinfo=dt.UTC).timestamp() * 1000)


def _instant(value: object, name: str) -> Instant:
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise InvalidInputError(f"{name} has no time zone; give an aware datetime or epoch milliseconds.")
        return Instant(round(value.timestamp() * 1000))
    if not isinstance(value, int) or isinstance(value, bool) or not _EARLIEST <= value <= _LATEST:
        raise InvalidInputError(f"{name} must be epoch milliseconds or an aware datetime, not {value!r}.")
    return Instant(value)
