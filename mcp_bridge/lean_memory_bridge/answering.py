"""Each verb as one call of the engine, from a request to an answer; these run in threads and block."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from lean_memory.domain import AddResult, Fact, HistoryEntry
from lean_memory.errors import NotFoundError
from lean_memory.service import MemoryService
from lean_memory_bridge import earlier, views
from lean_memory_bridge.moments import milliseconds_of, moment_of
from lean_memory_bridge.schemas import (
    Added,
    AddItem,
    Cleared,
    Explained,
    Facts,
    ForgetRequest,
    Forgotten,
    Found,
    History,
    MomentText,
    SearchRequest,
)
from lean_memory_bridge.schemas.maintenance import ProposalView, Review

SHOWN = 10
"""Facts of one add whose text is part of the answer; the others are named by their ids."""
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsAsked:
    """Which facts to list."""

    subject: str | None = None
    predicate: str | None = None
    as_of: MomentText | None = None
    known_at: MomentText | None = None
    include_history: bool = False
    include_cold: bool = False
    limit: int | None = None


def add(memory: MemoryService, namespace: str, item: AddItem, client: str, missed: int | None = None) -> Added:
    """Remember one text; one that may have been stored since `missed` (epoch milliseconds) only if it was not."""
    known = None if missed is None else earlier.stored_earlier(memory, namespace, item.text, missed)
    if known is not None:
        return known
    result = memory.add(
        namespace,
        item.text,
        t_ref=moment_of(item.t_ref, "t_ref"),
        tz=item.tz,
        source=item.source,
        client=client,
        relearn=item.relearn,
    )
    return views.added_view(namespace, result, _shown(memory, namespace, result))


def add_many(memory: MemoryService, namespace: str, items: Sequence[AddItem], client: str) -> tuple[Added, ...]:
    """Remember many texts."""
    given = [
        {
            "text": item.text,
            "t_ref": moment_of(item.t_ref, "t_ref"),
            "tz": item.tz,
            "source": item.source,
            "client": client,
            "relearn": item.relearn,
        }
        for item in items
    ]
    return tuple(views.added_view(namespace, result) for result in memory.add_many(namespace, given))


def search(memory: MemoryService, namespace: str, asked: SearchRequest, lacking: Callable[[], tuple[str, ...]] = tuple) -> Found:
    """Answer a question. `lacking` tells what answers lack where there is no hit that would tell it."""
    as_of, known_at = moment_of(asked.as_of, "as_of"), moment_of(asked.known_at, "known_at")
    hits = memory.search(
        namespace,
        asked.query,
        asked.k,
        as_of=as_of,
        known_at=known_at,
        is_latest_only=not asked.include_history,
        include_cold=asked.include_cold,
    )
    return Found(
        namespace=namespace,
        query=asked.query,
        as_of=_milliseconds(as_of),
        known_at=_milliseconds(known_at),
        hits=tuple(views.hit_view(hit) for hit in hits),
        is_known=views.is_known(hits),
        degraded=tuple(sorted({lack for hit in hits for lack in hit.degraded})) if hits else lacking(),
    )


def facts(memory: MemoryService, namespace: str, asked: FactsAsked) -> Facts:
    """List facts."""
    as_of, known_at = moment_of(asked.as_of, "as_of"), moment_of(asked.known_at, "known_at")
    found = memory.facts(
        namespace,
        subject=asked.subject,
        predicate=asked.predicate,
        as_of=as_of,
        known_at=known_at,
        include_history=asked.include_history,
        include_cold=asked.include_cold,
        limit=asked.limit,
    )
    return Facts(namespace=namespace, as_of=_milliseconds(as_of), known_at=_milliseconds(known_at), facts=views.fact_views(found))


def history(memory: MemoryService, namespace: str, fact_id: str) -> History:
    """The chain of a fact."""
    chain = memory.history(namespace, fact_id)
    return History(namespace=namespace, fact_id=fact_id, history=tuple(views.link_view(entry) for entry in chain))


def explain(memory: MemoryService, namespace: str, fact_id: str) -> Explained:
    """Why a fact is held."""
    return views.explained_view(namespace, memory.explain(namespace, fact_id))


def would_forget(memory: MemoryService, namespace: str, asked: ForgetRequest) -> tuple[str, ...]:
    """What a forgetting would erase."""
    return tuple(memory.would_forget(namespace, fact_id=asked.fact_id, episode_id=asked.episode_id, entity=asked.entity))


def forget(memory: MemoryService, namespace: str, asked: ForgetRequest, call: str | None = None) -> Forgotten:
    """Erase, once for all calls of one name."""
    if call is not None and memory.has_forgotten(namespace, call):
        return Forgotten(namespace=namespace, facts=0, episodes=0, passages=0, entities=0, tombstones=0, earlier=True)
    result = memory.forget(namespace, fact_id=asked.fact_id, episode_id=asked.episode_id, entity=asked.entity, call=call)
    return views.forgotten_view(namespace, result)


def clear(memory: MemoryService, namespace: str) -> Cleared:
    """Remove a namespace."""
    return views.cleared_view(namespace, memory.clear(namespace))


def tokens_of(read: object) -> int:
    """About how many tokens an answer takes in an assistant's context; 0 for one that it does not read."""
    if not isinstance(read, BaseModel):
        return 0
    sentences = [sentence for sentence in _sentences(read) if sentence]
    return sum(map(len, sentences)) // _CHARACTERS_A_TOKEN


def _sentences(read: BaseModel) -> list[str]:
    match read:
        case Found():
            return [hit.fact.fact_text for hit in read.hits]
        case Facts():
            return [fact.fact_text for fact in read.facts]
        case History():
            return [link.source_text for link in read.history]
        case Explained():
            return [read.source_text]
        case _:
            return _proposed(read)


def _proposed(read: BaseModel) -> list[str]:
    """The texts of proposals."""
    match read:
        case Review():
            return [text for group in read.groups for proposal in group.proposals for text in _proposed(proposal)]
        case ProposalView():
            return [*(fact.fact_text for fact in read.facts), read.text, *read.lost]
        case _:
            return []


def _shown(memory: MemoryService, namespace: str, result: AddResult) -> list[Fact]:
    """The first facts that an add made, met again or closed, as they stand now."""
    wanted = (*result.fact_ids, *result.superseded, *result.existing)[:SHOWN]
    known: dict[str, Fact] = {}
    for fact_id in wanted:
        if fact_id not in known:
            known |= {entry.fact.id: entry.fact for entry in _chain(memory, namespace, fact_id)}
    return [known[fact_id] for fact_id in wanted if fact_id in known]


def _chain(memory: MemoryService, namespace: str, fact_id: str) -> list[HistoryEntry]:
    """The chain of a fact; nothing of one that somebody has forgotten meanwhile."""
    try:
        return memory.history(namespace, fact_id)
    except NotFoundError:
        return []


def _milliseconds(moment: int | dt.datetime | None) -> int | None:
    return None if moment is None else milliseconds_of(moment)
