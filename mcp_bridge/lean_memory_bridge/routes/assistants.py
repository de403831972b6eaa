"""`/api/v1/assistants`: which assistants are on this computer, and connecting them. For the person's own programs."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from lean_memory_bridge import assistants
from lean_memory_bridge.routes.parts import TheOwner, TheParts
from lean_memory_bridge.schemas import AssistantAsked, AssistantDone, Assistants

router = APIRouter(prefix="/api/v1/assistants", tags=["clients"])


@router.get("")
async def known(parts: TheParts, _: TheOwner) -> Assistants:
    """Every assistant that is known, and how it stands on this computer."""
    return await asyncio.to_thread(assistants.known_assistants, parts.root)


@router.post("/{name}/connect")
async def connect(name: str, _asked: AssistantAsked, parts: TheParts, _: TheOwner) -> AssistantDone:
    """Enter the memory into an assistant's configuration, and try it."""
    done = await asyncio.to_thread(assistants.connect, parts.root, name)
    parts.feed.changed(beyond=True)
    return done


@router.post("/{name}/disconnect")
async def disconnect(name: str, _asked: AssistantAsked, parts: TheParts, _: TheOwner) -> AssistantDone:
    """Take the memory out of an assistant's configuration."""
    done = await asyncio.to_thread(assistants.disconnect, parts.root, name)
    parts.feed.changed(beyond=True)
    return done


@router.post("/{name}/test")
async def test(name: str, _asked: AssistantAsked, parts: TheParts, _: TheOwner) -> AssistantDone:
    """Start the memory the way an assistant would, and say what answered."""
    return await asyncio.to_thread(assistants.test, parts.root, name)
