"""`/api/v1`: the memory itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query

from lean_memory_bridge.routes.parts import InNamespace, TheCaller, TheParts
from lean_memory_bridge.schemas import (
    Added,
    AddedMany,
    AddManyRequest,
    AddRequest,
    Cleared,
    ClearRequest,
    Explained,
    Facts,
    ForgetRequest,
    Forgotten,
    Found,
    History,
    MomentText,
    Namespaces,
    SearchRequest,
    Sound,
    WouldForget,
)

router = APIRouter(prefix="/api/v1", tags=["memory"])


RepeatedKey = Annotated[
    str | None,
    Header(max_length=200, description="A call that repeats the key of an earlier one gets its answer and is not done again."),
]


@router.post("/add")
async def add(
    asked: AddRequest,
    parts: TheParts,
    caller: TheCaller,
    idempotency_key: RepeatedKey = None,
) -> Added:
    """Remember a text; durable when this answers."""
    return await parts.verbs.add(caller, asked, idempotency_key)


@router.post("/add-many")
async def add_many(asked: AddManyRequest, parts: TheParts, caller: TheCaller) -> AddedMany:
    """Remember many texts, oldest first."""
    return AddedMany(results=await parts.verbs.add_many(caller, asked.namespace, asked.items))


@router.post("/search")
async def search(asked: SearchRequest, parts: TheParts, caller: TheCaller) -> Found:
    """The best answers to a question. Changes nothing; a POST so that no address holds the question."""
    return await parts.verbs.search(caller, asked)


@router.get("/facts")
async def facts(
    *,
    parts: TheParts,
    caller: TheCaller,
    namespace: InNamespace = None,
    subject: Annotated[str | None, Query(max_length=1000)] = None,
    predicate: Annotated[str | None, Query(max_length=200)] = None,
    as_of: MomentText | None = None,
    known_at: MomentText | None = None,
    include_history: bool = False,
    include_cold: bool = False,
    limit: Annotated[int | None, Query(ge=1, le=100_000)] = None,
) -> Facts:
    """The facts that hold now, or held or were believed at a moment."""
    return await parts.verbs.facts(
        caller,
        namespace,
        subject=subject,
        predicate=predicate,
        as_of=as_of,
        known_at=known_at,
        include_history=include_history,
        include_cold=include_cold,
        limit=limit,
    )


@router.get("/history")
async def history(
    parts: TheParts, caller: TheCaller, fact_id: Annotated[str, Query(min_length=1, max_length=200)], namespace: InNamespace = None
) -> History:
    """The chain a fact belongs to, oldest first."""
    return await parts.verbs.history(caller, namespace, fact_id)


@router.get("/explain")
async def explain(
    parts: TheParts, caller: TheCaller, fact_id: Annotated[str, Query(min_length=1, max_length=200)], namespace: InNamespace = None
) -> Explained:
    """Why a fact is held: its sentence, the pass and the rule that read it, its doubts, what it ended, how it ended itself."""
    return await parts.verbs.explain(caller, namespace, fact_id)


@router.post("/would-forget")
async def would_forget(asked: ForgetRequest, parts: TheParts, caller: TheCaller) -> WouldForget:
    """The texts that a forgetting would erase, to show before asking. Changes nothing."""
    texts = await parts.verbs.would_forget(caller, asked)
    return WouldForget(namespace=asked.namespace or caller.namespace, texts=texts)


@router.post("/forget")
async def forget(asked: ForgetRequest, parts: TheParts, caller: TheCaller, idempotency_key: RepeatedKey = None) -> Forgotten:
    """Erase a fact, an episode or everything about an entity."""
    return await parts.verbs.forget(caller, asked, idempotency_key)


@router.post("/clear")
async def clear(asked: ClearRequest, parts: TheParts, caller: TheCaller) -> Cleared:
    """Remove a namespace."""
    return await parts.verbs.clear(caller, asked.namespace)


@router.get("/namespaces")
async def namespaces(parts: TheParts, caller: TheCaller) -> Namespaces:
    """The namespaces there are, and the caller's own default."""
    return Namespaces(namespaces=await parts.verbs.namespaces(caller), default=caller.namespace)


@router.get("/check")
async def check(parts: TheParts, caller: TheCaller, namespace: InNamespace = None) -> Sound:
    """The invariants of a namespace that do not hold."""
    where = namespace or caller.namespace
    problems = await parts.verbs.read(caller, "check", lambda: parts.verbs.memory.check(where))
    return Sound(namespace=where, problems=tuple(problems))
