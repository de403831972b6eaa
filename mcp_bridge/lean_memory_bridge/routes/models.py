"""`/api/v1/models`: the models of the tier in use, and fetching, choosing and removing a tier, which only the person's own programs may."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from lean_memory_bridge.routes.parts import TheCaller, TheOwner, TheParts
from lean_memory_bridge.schemas import ModelsView
from lean_memory_bridge.schemas.downloads import PullRequest, TierRemoved, TierRequest

router = APIRouter(prefix="/api/v1/models", tags=["models"])


@router.get("")
async def models(parts: TheParts, caller: TheCaller) -> ModelsView:
    """The tier in use, how far its models and their vectors are, every tier that can be had, and the last download."""
    caller.must_be_let_in()
    return await parts.models()


@router.post("/pull", status_code=202)
async def pull(asked: PullRequest, parts: TheParts, _: TheOwner) -> ModelsView:
    """Begin to fetch what is missing or damaged of a tier; the snapshots say how far it is. It goes on where an earlier one stopped."""
    await asyncio.to_thread(parts.desk.pull, asked.tier, asked.folder, then_use=asked.use)
    return await parts.models()


@router.post("/cancel")
async def cancel(parts: TheParts, _: TheOwner) -> ModelsView:
    """Stop the download; what came is kept."""
    await asyncio.to_thread(parts.desk.cancel)
    return await parts.models()


@router.post("/use")
async def use(asked: TierRequest, parts: TheParts, _: TheOwner) -> ModelsView:
    """Choose a tier that is here, or `builtin`. The service begins anew with it at once where a supervisor runs it."""
    await asyncio.to_thread(parts.desk.use, asked.tier)
    return await parts.models()


@router.post("/remove")
async def remove(asked: TierRequest, parts: TheParts, _: TheOwner) -> TierRemoved:
    """Delete the models of a tier that is not in use."""
    return TierRemoved(tier=asked.tier, freed_bytes=await asyncio.to_thread(parts.desk.remove, asked.tier))
