"""Additions that an earlier process of the service stored and did not live to answer, found again when they are sent once more.

Within one process `repeats` knows a call by its key. A process that was killed leaves what it stored and nothing of its keys; but a key
begins with the moment it was made, and what was stored since then with the same words is that call.
"""

from __future__ import annotations

import re

from lean_memory.domain import Fact, RecordKind
from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory.service import MemoryService
from lean_memory_bridge import views
from lean_memory_bridge.schemas import Added

_KEY = re.compile(r"(?P<made_at>[0-9]{13})-[0-9a-f]+")
_LOOKED_FOR = 2000
"""Characters of a text by which it is looked for; compared are all of them."""
_LOOKED_AT = 50


def made_at(key: str) -> int | None:
    """When a key was made, in epoch milliseconds; `None` for one that does not say."""
    found = _KEY.fullmatch(key)
    return None if found is None else int(found["made_at"])


def stored_earlier(memory: MemoryService, namespace: str, text: str, since: int) -> Added | None:
    """The answer to an addition of `text` that was stored at `since` (epoch milliseconds) or later; `None` where there is none."""
    try:
        hits = memory.search(namespace, text[:_LOOKED_FOR], _LOOKED_AT, is_latest_only=False, include_cold=True)
    except (NotFoundError, InvalidInputError):
        return None
    facts = [hit.fact for hit in hits if hit.fact.recorded_at >= since]
    for episode in dict.fromkeys(fact.episode_id for fact in facts):
        if text in _texts(memory, namespace, episode):
            return _answer(namespace, episode, [fact for fact in facts if fact.episode_id == episode])
    return None


def _texts(memory: MemoryService, namespace: str, episode: str) -> list[str]:
    try:
        return memory.would_forget(namespace, episode_id=episode)
    except NotFoundError:
        return []


def _answer(namespace: str, episode: str, found: list[Fact]) -> Added:
    facts = [fact for fact in found if fact.record_kind is RecordKind.FACT]
    return Added(namespace=namespace, episode_id=episode, fact_ids=tuple(fact.id for fact in facts), facts=views.fact_views(facts))
