"""`/healthz`, `/api/v1/status`, `/api/v1/snapshot`, `/api/v1/events` and `/api/v1/shutdown`: the service itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from lean_memory_bridge import views
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.routes.parts import InNamespace, Parts, TheCaller, TheOwner, TheParts
from lean_memory_bridge.runtime import proof
from lean_memory_bridge.schemas import Health, Snapshot, Status, Stopping
from lean_memory_bridge.shim.presence import present

HEARTBEAT = 15.0
"""Seconds without news after which a comment is sent, so that both ends notice a dead connection."""

router = APIRouter(tags=["service"])


@router.get("/healthz", include_in_schema=False)
async def health(parts: TheParts, challenge: Annotated[str | None, Query(min_length=16, max_length=200)] = None) -> Health:
    """That the service lives; with a challenge also the proof that it knows the token of its data root."""
    runtime = parts.runtime
    answered = proof(parts.token, challenge, runtime.instance, runtime.port) if challenge is not None else None
    return Health(instance=runtime.instance, version=runtime.version, pid=runtime.pid, proof=answered)


@router.get("/api/v1/status")
async def status(parts: TheParts, caller: TheCaller, namespace: InNamespace = None) -> Status:
    """The service, and counts and health of one namespace or of all."""
    found = await parts.verbs.read(caller, "status", lambda: parts.verbs.memory.status(namespace))
    runtime = parts.runtime
    return Status(
        root=str(parts.root),
        version=runtime.version,
        instance=runtime.instance,
        pid=runtime.pid,
        port=runtime.port,
        started_at=runtime.started_at,
        namespaces=tuple(views.namespace_view(one) for one in found),
    )


@router.get("/api/v1/snapshot")
async def snapshot(parts: TheParts, caller: TheCaller) -> Snapshot:
    """The whole state of this moment."""
    caller.must_be_let_in()
    return _seen_by(caller, await parts.feed.refresh())


@router.get("/api/v1/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
async def events(parts: TheParts, caller: TheCaller) -> StreamingResponse:
    """Server-sent events: the whole state now, and again whenever it is another one."""
    caller.must_be_let_in()
    return StreamingResponse(_events(parts, caller), media_type="text/event-stream", headers={"cache-control": "no-store"})


@router.post("/api/v1/shutdown", status_code=202)
async def shutdown(parts: TheParts, _: TheOwner) -> Stopping:
    """End the service in good order: what is being done is finished first."""
    asyncio.get_running_loop().call_soon(parts.stop)
    return Stopping(instance=parts.runtime.instance)


async def _events(parts: Parts, caller: Caller) -> AsyncGenerator[bytes]:
    # An open window is somebody who uses the memory, so that a service which an assistant had started does not leave under it.
    with present(parts.root) if caller.is_owner else contextlib.nullcontext():
        async for news in parts.feed.follow(HEARTBEAT):
            if news is None:
                yield b": still here\n\n"
            else:
                body = _seen_by(caller, news).model_dump_json()
                yield f"id: {news.version}\nevent: snapshot\ndata: {body}\n\n".encode()


def _seen_by(caller: Caller, whole: Snapshot) -> Snapshot:
    """An assistant sees itself among the clients, not the others."""
    if caller.is_owner:
        return whole
    return whole.model_copy(update={"clients": tuple(client for client in whole.clients if client.name == caller.name)})
