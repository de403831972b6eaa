"""The memory behind a running service, with the verbs of the library: the commands need not know which of the two they speak to."""

from __future__ import annotations

import datetime as dt
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self, cast

from pydantic import ValidationError

from lean_memory.domain import (
    AddResult,
    ClearResult,
    Ending,
    EndReason,
    EpisodeId,
    Explanation,
    Fact,
    FactId,
    ForgetResult,
    HistoryEntry,
    Instant,
    Modality,
    NamespaceStatus,
    Polarity,
    RecordKind,
    SearchHit,
    Source,
    Span,
    Tier,
    Trust,
)
from lean_memory.errors import InvalidInputError, InvalidTextError
from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.schemas import MAX_BATCH, Added, AddItem, EndingView, FactView, ForgetRequest, HitView, NamespaceView

Moment = int | dt.datetime


class ServedMemory:
    """What the commands use of `Memory`, done by the service, which alone writes while it runs. Raises what the service says went wrong.

    `timezone` is that of texts that name none; `None` is the service's.
    """

    def __init__(self, client: ServiceClient, *, timezone: str | None) -> None:
        self._client, self._timezone = client, timezone

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
        """Remember a text."""
        _refuse_empty(text, InvalidTextError("The text is empty; nothing was stored."))
        speaking = self._client.speaking_for(client)
        with _in_words(InvalidTextError):
            moment, zone = _milliseconds(t_ref), tz or self._timezone
            return _added(speaking.add(text, namespace=namespace, t_ref=moment, tz=zone, source=source, relearn=relearn))

    def add_many(self, namespace: str, items: Iterable[Mapping[str, object]]) -> list[AddResult]:
        """Remember many texts of one client, oldest first; each is as `add` takes it."""
        given = list(items)
        client = cast("str | None", given[0].get("client")) if given else None
        speaking = self._client.speaking_for(client)
        results: list[AddResult] = []
        with _in_words(InvalidTextError):
            asked = [self._item(item) for item in given]
            for start in range(0, len(asked), MAX_BATCH):
                results += [_added(one) for one in speaking.add_many(asked[start : start + MAX_BATCH], namespace=namespace)]
        return results

    def _item(self, item: Mapping[str, object]) -> AddItem:
        named = {name: value for name, value in item.items() if name != "client"}
        return AddItem.model_validate({**named, "tz": item.get("tz") or self._timezone})

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
    ) -> list[SearchHit]:
        """The best answers to a question."""
        _refuse_empty(query, InvalidInputError("The query is empty; ask with at least one word."))
        with _in_words(InvalidInputError):
            found = self._client.search(
                query,
                namespace=namespace,
                k=k,
                as_of=_milliseconds(as_of),
                known_at=_milliseconds(known_at),
                include_history=not is_latest_only,
                include_cold=include_cold,
            )
        return [_hit(view) for view in found.hits]

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
        """The facts of a namespace."""
        found = self._client.facts(
            namespace=namespace,
            subject=subject,
            predicate=predicate,
            as_of=_milliseconds(as_of),
            known_at=_milliseconds(known_at),
            include_history=include_history,
            include_cold=include_cold,
            limit=limit,
        )
        return [_fact(view) for view in found.facts]

    def history(self, namespace: str, fact_id: str) -> list[HistoryEntry]:
        """The chain a fact belongs to, oldest first."""
        return [
            HistoryEntry(
                fact=_fact(link.fact),
                reason=None if link.reason is None else EndReason(link.reason),
                source_text=link.source_text,
                confirmed_at=tuple(Instant(moment) for moment in link.confirmed_at),
            )
            for link in self._client.history(fact_id, namespace=namespace).history
        ]

    def explain(self, namespace: str, fact_id: str) -> Explanation:
        """Why a fact is held."""
        told = self._client.explain(fact_id, namespace=namespace)
        return Explanation(
            fact=_fact(told.fact),
            source_text=told.source_text,
            said_at=Instant(told.said_at),
            source=Source(told.source),
            client=told.client,
            made_by=told.made_by,
            doubts=told.doubts,
            confirmed_at=tuple(Instant(moment) for moment in told.confirmed_at),
            echoes=told.echoes,
            ended=tuple(_ending(view) for view in told.ended),
            ending=None if told.ending is None else _ending(told.ending),
        )

    def would_forget(
        self, namespace: str, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None
    ) -> list[str]:
        """The texts that `forget` would erase."""
        return list(self._client.would_forget(ForgetRequest(namespace=namespace, fact_id=fact_id, episode_id=episode_id, entity=entity)))

    def forget(
        self, namespace: str, *, fact_id: str | None = None, episode_id: str | None = None, entity: str | None = None
    ) -> ForgetResult:
        """Erase, down to the last byte."""
        done = self._client.forget(ForgetRequest(namespace=namespace, fact_id=fact_id, episode_id=episode_id, entity=entity))
        return ForgetResult(
            facts=done.facts,
            episodes=done.episodes,
            passages=done.passages,
            entities=done.entities,
            tombstones=done.tombstones,
            backups_holding_copies=done.backups_holding_copies,
        )

    def clear(self, namespace: str) -> ClearResult:
        """Remove a namespace."""
        done = self._client.clear(namespace)
        return ClearResult(existed=done.cleared, copies=done.copies)

    def namespaces(self) -> list[str]:
        """The names of all namespaces, sorted."""
        return list(self._client.namespaces().namespaces)

    def status(self, namespace: str | None = None) -> list[NamespaceStatus]:
        """Counts and sizes of one namespace, or of all."""
        return [_status(view) for view in self._client.status(namespace).namespaces]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Nothing stays open between two calls."""


def _refuse_empty(text: str, told: InvalidInputError) -> None:
    """Raise what the library says of emptiness, which the service's schema would refuse in words of its own."""
    if not text.strip():
        raise told


@contextmanager
def _in_words(kind: type[InvalidInputError]) -> Generator[None]:
    """Whatever cannot be put into a request is bad input, which reached nobody."""
    try:
        yield
    except InvalidInputError:
        raise
    except ValidationError as error:
        first = error.errors()[0]
        raise kind(f"This cannot be sent to the service ({'.'.join(map(str, first['loc']))}: {first['msg']}). Nothing was done.") from error
    except ValueError as error:
        raise kind("This is no text that can be stored, as some of its characters are half of a pair. Nothing was done.") from error


def _milliseconds(moment: Moment | None) -> int | None:
    return round(moment.timestamp() * 1000) if isinstance(moment, dt.datetime) else moment


def _ids(names: Sequence[str]) -> tuple[FactId, ...]:
    return tuple(FactId(name) for name in names)


def _added(view: Added) -> AddResult:
    return AddResult(
        episode_id=None if view.episode_id is None else EpisodeId(view.episode_id),
        fact_ids=_ids(view.fact_ids),
        existing=_ids(view.existing),
        superseded=_ids(view.superseded),
        redacted=view.redacted,
        queued=view.queued,
        withheld=view.withheld,
        echoed=view.echoed,
        flags=view.flags,
    )


def _hit(view: HitView) -> SearchHit:
    return SearchHit(
        fact=_fact(view.fact),
        final_score=view.final_score,
        relevance=view.relevance,
        recency=view.recency,
        importance=view.importance,
        dense_rank=view.dense_rank,
        sparse_rank=view.sparse_rank,
        rrf_score=view.rrf_score,
        source=view.source,
        degraded=view.degraded,
    )


def _fact(view: FactView) -> Fact:
    return Fact(
        id=FactId(view.id),
        namespace=view.namespace,
        subject=view.subject,
        predicate=view.predicate,
        object=view.object,
        fact_text=view.fact_text,
        valid_at=Instant(view.valid_at),
        valid_to=None if view.valid_to is None else Instant(view.valid_to),
        recorded_at=Instant(view.recorded_at),
        retired_at=None if view.retired_at is None else Instant(view.retired_at),
        is_latest=view.is_latest,
        superseded_by=None if view.superseded_by is None else FactId(view.superseded_by),
        polarity=Polarity(view.polarity),
        modality=Modality(view.modality),
        confidence=view.confidence,
        salience=view.salience,
        is_inference=view.is_inference,
        record_kind=RecordKind(view.record_kind),
        tier=Tier(view.tier),
        trust=Trust(view.trust),
        episode_id=EpisodeId(view.episode_id),
        end_reason=None if view.end_reason is None else EndReason(view.end_reason),
        span=None if view.span is None else Span(start=view.span.start, end=view.span.end),
        found_by=view.found_by,
        rule=view.rule,
        reasons=view.reasons,
        flags=view.flags,
    )


def _ending(view: EndingView) -> Ending:
    return Ending(
        fact=_fact(view.fact),
        reason=EndReason(view.reason),
        rung=view.rung,
        said=view.said,
        by=None if view.by is None else FactId(view.by),
    )


def _status(view: NamespaceView) -> NamespaceStatus:
    return NamespaceStatus(
        name=view.name,
        path=view.path,
        bytes=view.bytes,
        facts=view.facts,
        latest=view.latest,
        episodes=view.episodes,
        unfinished=view.unfinished,
        entities=view.entities,
        schema_version=view.schema_version,
        writable=view.writable,
        problems=view.problems,
    )
