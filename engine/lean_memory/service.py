"""The memory: every namespace of one data root, behind one small set of verbs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self, TypeVar

from lean_memory.arguments import (
    batches_of,
    check_callable,
    check_count,
    check_seconds,
    check_target,
    encodable,
    flag_of,
    instant_of,
    item_of,
    query_of,
    root_of,
    word_of,
    word_or_none,
)
from lean_memory.bringing_in import BringingIn
from lean_memory.clock import Clock, system_clock
from lean_memory.domain import (
    AddResult,
    ClearResult,
    Explanation,
    Fact,
    FactId,
    ForgetResult,
    HistoryEntry,
    Modality,
    NamespaceStatus,
    SearchHit,
    VectorsMade,
    Visibility,
)
from lean_memory.errors import NotFoundError, StorageError
from lean_memory.explaining import explanation
from lean_memory.finishing import Finished
from lean_memory.keeping import Addition, addition_of
from lean_memory.maintaining import Maintaining
from lean_memory.model_choice import passes_of
from lean_memory.models.builtin import BuiltinEmbedder
from lean_memory.models.ports import Embedder, Reranker
from lean_memory.open_namespace import OpenNamespace
from lean_memory.open_namespaces import OpenNamespaces
from lean_memory.owning import Owning
from lean_memory.passes import Passes
from lean_memory.retention import drop_rules_of
from lean_memory.retrieval import recipes
from lean_memory.retrieval.space import SearchModels
from lean_memory.settings import Settings, read_settings
from lean_memory.store import namespaces
from lean_memory.store.health import unusable
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.vectors import Pace

Moment = int | dt.datetime
"""Epoch milliseconds, or an aware datetime."""


BATCH = 256
"""Episodes that `add_many` learns in one transaction: enough texts for batches of like length, and still less than half a second."""

_FIELDS = frozenset(["text", "t_ref", "tz", "source", "client", "relearn"])
_T = TypeVar("_T")


class MemoryService(BringingIn, Maintaining, Owning):
    """A memory over one data root; exported as `lean_memory.Memory`.

    Safe to use from several threads, several processes may have the same root open, and a process that forks may go on using it in
    the child too. A context manager; `close()` ends it, and later calls raise `ClosedError`. `embedder` and `clock` default to the
    built-in model and the wall clock. Every text gets the vector of `embedder` when it is added, and that of `second`, a better model
    that may be slow to start, with `catch_up_vectors`; a namespace whose vectors of `second` are complete is searched with those.
    `reranker` reads the best hits of a search together with the question.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Clock = system_clock,
        passes: Passes | None = None,
        second: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._settings = settings if settings is not None else read_settings(root_of(root))
        encodable(self._settings.root)
        self._clock = clock
        self._embedder = embedder if embedder is not None else BuiltinEmbedder()
        self._passes = passes if passes is not None else passes_of(self._settings)
        self._files = OpenNamespaces(
            partial(
                OpenNamespace,
                settings=self._settings,
                embedder=self._embedder,
                clock=clock,
                passes=self._passes,
                models=SearchModels(embedder=self._embedder, second=second, reranker=reranker),
            )
        )

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
        relearn: bool = False,
    ) -> AddResult:
        """Remember `text`, said at `t_ref` (now, if not given); durable when this returns.

        `relearn` lets it say what the person had erased before. Raises `InvalidInputError` and writes nothing if an argument cannot be used.
        """
        item = {"text": text, "t_ref": t_ref, "tz": tz, "source": source, "client": client, "relearn": relearn}
        addition = self._addition(item)
        return self._learn(namespace, [addition])[0]

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
        results: list[AddResult] = []
        check_callable(progress, "progress")
        for batch in batches_of(items, BATCH):
            additions = [self._addition(item_of(item, _FIELDS)) for item in batch]
            results += self._learn(namespace, additions)
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
        asked = query_of(query)
        check_count(k, "k", most=1000)
        visibility = self._visibility(as_of, known_at, now, latest_only=is_latest_only, include_cold=include_cold)
        chosen = recipes.named(word_or_none(recipe, "recipe"))
        return self._read(namespace, lambda opened: opened.search(asked, k, visibility, chosen))

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
        if limit is not None:
            check_count(limit, "limit")
        about, kind = word_or_none(subject, "subject"), word_or_none(predicate, "predicate")
        current = not flag_of(include_history, "include_history")
        visibility = self._visibility(as_of, known_at, None, latest_only=current, include_cold=include_cold)
        return self._read(
            namespace,
            lambda opened: opened.facts(
                subject=about,
                predicate=kind,
                visibility=visibility,
                modalities=frozenset({Modality.ASSERTED}) if current else None,
                limit=limit,
            ),
        )

    def history(self, namespace: str, fact_id: str) -> list[HistoryEntry]:
        """The chain a fact belongs to, oldest first, with the reason of each change. Raises `NotFoundError`."""
        wanted = FactId(word_of(fact_id, "fact_id"))
        return self._with(namespace, lambda opened: opened.store.history(wanted), create=False)

    def explain(self, namespace: str, fact_id: str) -> Explanation:
        """Why a fact is held: what was said, which pass and rule read it, how sure it is, what it ended. Raises `NotFoundError`."""
        wanted = FactId(word_of(fact_id, "fact_id"))
        return self._with(namespace, lambda opened: explanation(opened.store.grounds(wanted)), create=False)

    def forget(
        self,
        namespace: str,
        *,
        fact_id: str | None = None,
        episode_id: str | None = None,
        entity: str | None = None,
        call: str | None = None,
    ) -> ForgetResult:
        """Erase a fact, an episode or everything about an entity, down to the last byte, and do not learn it again.

        Exactly one of the three is given. Raises `NotFoundError` if there is no such thing. A `call` is a name of your own for this
        call, by which `has_forgotten` knows it from the moment on in which it is erased; only a digest of it is kept.
        """
        check_target(fact_id, episode_id, entity)
        named = word_or_none(call, "call")
        return self._with(namespace, lambda opened: opened.forget(fact_id, episode_id, entity, named), create=False)

    def has_forgotten(self, namespace: str, call: str) -> bool:
        """Whether a `forget` with this `call` has erased what it asked for, also where its caller did not live to be told."""
        named = word_of(call, "call")
        return self._with(namespace, lambda opened: opened.store.has_erased(named), create=False)

    def would_forget(
        self, namespace: str, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None
    ) -> list[str]:
        """The texts that `forget` with the same arguments would erase, to show before asking. Raises as `forget` does."""
        check_target(fact_id, episode_id, entity)
        return self._with(
            namespace,
            lambda opened: opened.store.would_forget(fact_id=fact_id, episode_id=episode_id, entity=entity),
            create=False,
        )

    def finish_queued(self, namespace: str, *, limit: int | None = None, seconds: float | None = None) -> Finished:
        """Let the models that are set add to what the rules made of the texts that wait for them, the oldest first.

        At most `limit` texts, and none begun after `seconds`. Where a model cannot be had the rest waits on, and the result says why.
        """
        if limit is not None:
            check_count(limit, "limit", least=0)
        if seconds is not None:
            check_seconds(seconds, "seconds")
        return self._with(namespace, lambda opened: opened.finisher.run(limit=limit, seconds=seconds), create=False)

    def catch_up_vectors(
        self,
        namespace: str,
        *,
        limit: int | None = None,
        seconds: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> VectorsMade:
        """Make the vectors that are missing in a namespace: all of them where a model is new to it, else those of texts that came without.

        At most `limit` texts, and no batch begun after `seconds` or once `cancelled` gives true; `progress` is told how many were made and
        how many of that model are missing. Goes on where it was broken off, however it was. Meanwhile everything else may be done, and
        whoever else calls this is told that it is being done.
        """
        if limit is not None:
            check_count(limit, "limit", least=0)
        if seconds is not None:
            check_seconds(seconds, "seconds")
        check_callable(progress, "progress")
        check_callable(cancelled, "cancelled")
        ends = None if seconds is None else monotonic() + seconds
        pace = Pace(limit=limit, ends=ends, progress=progress, cancelled=cancelled or (lambda: False))
        return self._with(namespace, lambda opened: opened.catch_up_vectors(pace), create=False)

    def drop_old_vectors(self, namespace: str) -> int:
        """Drop the vectors of models that this memory was not opened with, which were kept for going back; gives of how many models."""
        return self._with(namespace, lambda opened: opened.drop_old_vectors(), create=False)

    def clear(self, namespace: str) -> ClearResult:
        """Remove a namespace and its file; the result is true if there was one, and names the copies that stay. Raises `LeaseHeldError` during maintenance."""
        with self._files.cleared(namespace):
            cleared = NamespaceStore.clear(self._settings.root, namespace, settings=self._settings, clock=self._clock)
            # Within it: a rule that is set once the name is free again is another one.
            left = drop_rules_of(self._settings.root, namespace)
        return replace(cleared, copies=(*cleared.copies, *left))

    def namespaces(self) -> list[str]:
        """The names of all namespaces in the data root, sorted."""
        return sorted(entry.name for entry in self._listing().namespaces)

    def other_files(self) -> list[tuple[str, str]]:
        """Databases in the data root that are no namespaces of ours, each path with the reason; they are never written."""
        return [(str(other.path), other.reason) for other in self._listing().others]

    def status(self, namespace: str | None = None) -> list[NamespaceStatus]:
        """Counts and sizes of one namespace, or of all; of one whose file cannot be used, why."""
        if namespace is not None:
            return [self._with(namespace, lambda opened: opened.status(), create=False, resume=False)]
        listed = self._listing()
        found = [unusable(other.name, other.path, other.reason) for other in listed.others if other.name is not None]
        for entry in listed.namespaces:
            try:
                found += self.status(entry.name)
            except NotFoundError:
                continue
            except StorageError as error:
                found.append(unusable(entry.name, entry.path, str(error)))
        return sorted(found, key=lambda status: status.name)

    def check(self, namespace: str) -> list[str]:
        """The invariants that do not hold in a namespace, a sentence each; empty when it is sound."""
        return self._with(namespace, lambda opened: opened.store.check(), create=False, resume=False)

    def close(self) -> None:
        """Close every file. Calling it again does nothing."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _listing(self) -> namespaces.Listing:
        with self._files.all_looked_at():
            return namespaces.listing(self._settings.root)

    def _with(self, name: str, do: Callable[[OpenNamespace], _T], *, create: bool = True, resume: bool = True) -> _T:
        """Do something with an open namespace, which stays open until it is done, whatever other threads clear meanwhile."""
        opened, call = self._files.begin(name)
        try:
            opened.open(create=create, resume=resume)
            return do(opened)
        finally:
            self._files.end(opened, call)

    def _learn(self, name: str, additions: Sequence[Addition]) -> list[AddResult]:
        return self._with(name, lambda opened: opened.ingest.add(additions))

    def _read(self, name: str, read: Callable[[OpenNamespace], list[_T]]) -> list[_T]:
        """What a namespace answers; nothing where nothing was ever added to it: reading makes no file."""
        try:
            return self._with(name, read, create=False)
        except NotFoundError:
            return []

    def _addition(self, item: Mapping[str, object]) -> Addition:
        return addition_of(item, now=self._clock(), timezone=self._settings.timezone)

    def _visibility(
        self, as_of: Moment | None, known_at: Moment | None, now: Moment | None, *, latest_only: bool, include_cold: bool
    ) -> Visibility:
        return Visibility(
            now=self._clock() if now is None else instant_of(now, "now"),
            as_of=None if as_of is None else instant_of(as_of, "as_of"),
            known_at=None if known_at is None else instant_of(known_at, "known_at"),
            latest_only=flag_of(latest_only, "is_latest_only") and as_of is None,
            include_cold=flag_of(include_cold, "include_cold") or as_of is not None,
        )
