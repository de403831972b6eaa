"""What a caller may do with the memory, with the rules of the house: let in or not, its share, its turn, and an entry in the log."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lean_memory.errors import LeanMemoryError
from lean_memory.service import MemoryService
from lean_memory_bridge import answering, earlier
from lean_memory_bridge.access_log import AccessLog
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.client_book import OWNER
from lean_memory_bridge.fairness import FairQueue
from lean_memory_bridge.limits import READS, WRITES, Limiter
from lean_memory_bridge.refusals import TooManyCallsError
from lean_memory_bridge.repeats import Repeats
from lean_memory_bridge.schemas import (
    AccessView,
    Added,
    AddItem,
    AddRequest,
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

T = TypeVar("T")

LONGEST_ADD = 20.0
"""Seconds after which an add is answered, finished or not."""
_LOOKS = frozenset({"browse", "compare", "moments", "backups", "retention", "tellers"})
"""What an open window asks again at every change; noted, it would crowd the assistants out of the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call: who, what, where, and whether it writes."""

    caller: Caller
    verb: str
    namespace: str | None
    writes: bool = False
    weight: float = 1.0


@dataclass(slots=True, kw_only=True)
class Verbs:
    """The verbs, for tools and routes alike. `changed` is called after whatever a window would show differently."""

    memory: MemoryService
    queue: FairQueue
    log: AccessLog
    changed: Callable[[], None]
    since: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    """When this process began to serve, in epoch milliseconds."""
    written: int = 0
    """Calls that wrote."""
    wrote: Callable[[str], None] = field(default=lambda _: None)
    """Called with the namespace after each of them."""
    lacking: Callable[[], tuple[str, ...]] = field(default=tuple)
    """What answers lack at present."""
    calls: Counter[str] = field(default_factory=Counter[str])
    reads: Limiter = field(default_factory=lambda: Limiter(rate=READS))
    repeats: Repeats[Added] = field(default_factory=Repeats["Added"])
    writes: Limiter = field(default_factory=lambda: Limiter(rate=WRITES))

    async def add(self, caller: Caller, asked: AddRequest, key: str | None = None) -> Added:
        """Remember a text. Durable when this returns, unless it is `queued` without an episode: then it is not finished yet.

        A caller that got no answer may send the same again with the same `key`: it gets the answer of the first call. Where that call went to
        a process that was killed, it is found again if the key says when it was made (`earlier.made_at`).
        """
        if key is None:
            return await self._add(caller, asked, None)
        made_at = earlier.made_at(key)
        missed = made_at if made_at is not None and made_at < self.since else None
        return await self.repeats.once((caller.name, key, asked), lambda: self._add(caller, asked, missed))

    async def _add(self, caller: Caller, asked: AddRequest, missed: int | None) -> Added:
        namespace = asked.namespace or caller.namespace
        item = AddItem(text=asked.text, t_ref=asked.t_ref, tz=asked.tz, source=asked.source, relearn=asked.relearn)
        call = Asked(caller=caller, verb="add", namespace=namespace, writes=True)
        started = asyncio.Event()
        adding = asyncio.ensure_future(
            self.done(call, lambda: answering.add(self.memory, namespace, item, caller.name, missed), _of_added, started.set)
        )
        finished, _ = await asyncio.wait({adding}, timeout=LONGEST_ADD)
        if finished:
            return adding.result()
        if started.is_set():
            return Added(namespace=namespace, episode_id=None, queued=True)
        adding.cancel()
        raise TooManyCallsError("The memory is busy; nothing of this was stored. Say it again in a moment.", LONGEST_ADD)

    async def add_many(self, caller: Caller, namespace: str | None, items: Sequence[AddItem]) -> tuple[Added, ...]:
        """Remember many texts, oldest first; durable when this returns."""
        where = namespace or caller.namespace
        call = Asked(caller=caller, verb="add", namespace=where, writes=True, weight=len(items) / 8)
        return await self.done(call, lambda: answering.add_many(self.memory, where, items, caller.name), _of_many)

    async def search(self, caller: Caller, asked: SearchRequest) -> Found:
        """The best answers to a question."""
        namespace = asked.namespace or caller.namespace
        call = Asked(caller=caller, verb="search", namespace=namespace)
        return await self.done(call, lambda: answering.search(self.memory, namespace, asked, self.lacking), _of_found)

    async def facts(
        self,
        caller: Caller,
        namespace: str | None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: MomentText | None = None,
        known_at: MomentText | None = None,
        include_history: bool = False,
        include_cold: bool = False,
        limit: int | None = None,
        verb: str = "facts",
    ) -> Facts:
        """The facts of a namespace."""
        where = namespace or caller.namespace
        call = Asked(caller=caller, verb=verb, namespace=where)
        question = answering.FactsAsked(
            subject=subject,
            predicate=predicate,
            as_of=as_of,
            known_at=known_at,
            include_history=include_history,
            include_cold=include_cold,
            limit=limit,
        )
        return await self.done(call, lambda: answering.facts(self.memory, where, question), lambda found: (len(found.facts), found))

    async def history(self, caller: Caller, namespace: str | None, fact_id: str) -> History:
        """The chain a fact belongs to, oldest first."""
        where = namespace or caller.namespace
        call = Asked(caller=caller, verb="history", namespace=where)
        return await self.done(call, lambda: answering.history(self.memory, where, fact_id), lambda found: (len(found.history), found))

    async def explain(self, caller: Caller, namespace: str | None, fact_id: str) -> Explained:
        """Why a fact is held."""
        where = namespace or caller.namespace
        call = Asked(caller=caller, verb="explain", namespace=where)
        return await self.done(call, lambda: answering.explain(self.memory, where, fact_id), lambda told: (1, told))

    async def would_forget(self, caller: Caller, asked: ForgetRequest) -> tuple[str, ...]:
        """The texts that `forget` with the same request would erase."""
        where = asked.namespace or caller.namespace
        call = Asked(caller=caller, verb="would-forget", namespace=where)
        return await self.done(call, lambda: answering.would_forget(self.memory, where, asked), lambda texts: (len(texts), None))

    async def forget(self, caller: Caller, asked: ForgetRequest, key: str | None = None) -> Forgotten:
        """Erase, down to the last byte. A caller that got no answer may send the same again with the same `key`, to whatever process."""
        where = asked.namespace or caller.namespace
        call = Asked(caller=caller, verb="forget", namespace=where, writes=True)
        erased = await self.done(
            call, lambda: answering.forget(self.memory, where, asked, _call_of(caller, key)), lambda done: (done.facts, None)
        )
        self.repeats.forget()
        return erased

    async def has_forgotten(self, caller: Caller, namespace: str | None, key: str | None) -> bool:
        """Whether the caller's call with this key has erased what it asked for."""
        call, where = _call_of(caller, key), namespace or caller.namespace
        return call is not None and await self.read(caller, "would-forget", lambda: self.memory.has_forgotten(where, call))

    async def clear(self, caller: Caller, namespace: str) -> Cleared:
        """Remove a namespace and its file, and its name from the access log."""
        call = Asked(caller=caller, verb="clear", namespace=namespace, writes=True)
        cleared = await self.done(call, lambda: answering.clear(self.memory, namespace), lambda _: (0, None))
        await asyncio.to_thread(self.log.drop_namespace, namespace)
        self.repeats.forget()
        return cleared

    async def namespaces(self, caller: Caller) -> tuple[str, ...]:
        """The names of all namespaces, sorted."""
        call = Asked(caller=caller, verb="namespaces", namespace=None)
        return await self.done(call, lambda: tuple(self.memory.namespaces()), lambda _: (0, None))

    async def known_namespaces(self) -> tuple[str, ...]:
        """The same for the service's own use."""
        return await self.queue.run(OWNER, lambda: tuple(self.memory.namespaces()))

    async def read(self, caller: Caller, verb: str, work: Callable[[], T]) -> T:
        """Any other reading of the engine, under the same rules."""
        return await self.done(Asked(caller=caller, verb=verb, namespace=None), work, lambda _: (0, None))

    async def done(
        self, call: Asked, work: Callable[[], T], given: Callable[[T], tuple[int, object]], started: Callable[[], None] | None = None
    ) -> T:
        """The result of `work` once it is the caller's turn; `given` says how many facts it holds and what of it the assistant reads."""
        outcome, facts, tokens = "failed", 0, 0
        try:
            call.caller.must_be_let_in()
            await self._hold_back(call)
            alone = call.namespace if call.writes else None
            result = await self.queue.run(call.caller.name, work, alone=alone, started=started)
            self.written += call.writes
            if call.writes and call.namespace is not None:
                self.wrote(call.namespace)
            facts, read = given(result)
            outcome, tokens = "ok", answering.tokens_of(read)
            return result
        except LeanMemoryError as error:
            outcome = type(error).__name__.removesuffix("Error").lower()
            raise
        finally:
            self._note(call, outcome, facts, tokens)

    async def _hold_back(self, call: Asked) -> None:
        limiter = self.writes if call.writes else self.reads
        if not call.caller.is_owner:
            wait = limiter.delay(call.caller.name, call.weight)
            if wait:
                await asyncio.sleep(wait)

    def _note(self, call: Asked, outcome: str, facts: int, tokens: int) -> None:
        if call.caller.is_owner and call.verb in _LOOKS:
            return
        self.calls[call.caller.name] += 1
        at = time.time_ns() // 1_000_000
        entry = AccessView(
            at=at, client=call.caller.name, verb=call.verb, namespace=call.namespace, facts=facts, tokens=tokens, outcome=outcome
        )
        self.log.note(entry)
        self.changed()


def _call_of(caller: Caller, key: str | None) -> str | None:
    return None if key is None else f"{caller.name}\n{key}"


def _of_added(added: Added) -> tuple[int, object]:
    return len(added.fact_ids), added


def _of_many(added: Sequence[Added]) -> tuple[int, object]:
    return sum(len(one.fact_ids) for one in added), None


def _of_found(found: Found) -> tuple[int, object]:
    return len(found.hits), found
