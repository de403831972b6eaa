"""`/api/v1/browse`, `/compare` and `/moments`: looking through a memory, for the window."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from lean_memory_bridge import browsing
from lean_memory_bridge.routes.parts import InNamespace, TheCaller, TheParts
from lean_memory_bridge.schemas import Axis, Browsed, Compared, Moments, MomentText

router = APIRouter(prefix="/api/v1", tags=["window"])


@router.get("/browse")
async def browse(
    *,
    parts: TheParts,
    caller: TheCaller,
    namespace: InNamespace = None,
    entity: Annotated[str | None, Query(max_length=1000)] = None,
    text: Annotated[str, Query(max_length=1000, description="Words that the facts hold.")] = "",
    include_history: bool = False,
    include_cold: bool = False,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Browsed:
    """One page of facts, and the entities that they are about."""
    where = namespace or caller.namespace
    asked = browsing.PageAsked(
        entity=entity, text=text, include_history=include_history, include_cold=include_cold, offset=offset, limit=limit
    )
    return await parts.verbs.read(caller, "browse", lambda: browsing.browse(parts.verbs.memory, where, asked))


@router.get("/compare")
async def compare(parts: TheParts, caller: TheCaller, at: MomentText, axis: Axis = "true", namespace: InNamespace = None) -> Compared:
    """What was true, or known, at a moment beside what holds now."""
    where = namespace or caller.namespace
    return await parts.verbs.read(caller, "compare", lambda: browsing.compare(parts.verbs.memory, where, at, axis))


@router.get("/moments")
async def moments(parts: TheParts, caller: TheCaller, axis: Axis = "true", namespace: InNamespace = None) -> Moments:
    """The moments at which something changed."""
    where = namespace or caller.namespace
    return await parts.verbs.read(caller, "moments", lambda: browsing.moments(parts.verbs.memory, where, axis))
