"""`/api/v1/clients` and `/api/v1/access`: who may use the memory, and who did. For the person's own programs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from lean_memory_bridge.client_book import Client, ClientBook
from lean_memory_bridge.routes.parts import Parts, TheOwner, TheParts
from lean_memory_bridge.schemas import AccessLog, ClientChange, Clients, ClientView, IssuedToken

router = APIRouter(prefix="/api/v1", tags=["clients"])


@router.get("/clients")
async def clients(parts: TheParts, _: TheOwner) -> Clients:
    """Every client that is known."""
    return Clients(clients=await asyncio.to_thread(client_views, parts))


@router.post("/clients/{name}/token")
async def issue_token(name: str, parts: TheParts, _: TheOwner) -> IssuedToken:
    """A new token for a client, which is entered if it is new; its token before stops working at once."""
    token = await asyncio.to_thread(parts.book.issue, name)
    _changed(parts, name)
    return IssuedToken(name=name, token=token)


@router.delete("/clients/{name}/token")
async def revoke_token(name: str, parts: TheParts, _: TheOwner) -> ClientView:
    """Take a client's token away; it stops working at once."""
    client = await asyncio.to_thread(parts.book.revoke, name)
    _changed(parts, name)
    return _view(parts, client)


@router.patch("/clients/{name}")
async def change_client(name: str, change: ClientChange, parts: TheParts, _: TheOwner) -> ClientView:
    """Pause or resume a client, or set where its calls go."""
    client = await asyncio.to_thread(_change, parts.book, name, change)
    _changed(parts, name)
    return _view(parts, client)


@router.delete("/clients/{name}")
async def remove_client(name: str, parts: TheParts, _: TheOwner) -> Clients:
    """Strike a client out, with its token; gives those that are left."""
    await asyncio.to_thread(parts.book.remove, name)
    _changed(parts, name)
    return Clients(clients=await asyncio.to_thread(client_views, parts))


@router.get("/access")
async def access(
    parts: TheParts,
    _: TheOwner,
    client: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=2000)] = 100,
) -> AccessLog:
    """The last uses of the memory, newest first."""
    return AccessLog(entries=parts.verbs.log.last(limit, client))


def client_views(parts: Parts) -> tuple[ClientView, ...]:
    """Every client with what it did."""
    return tuple(_view(parts, client) for client in parts.book.all())


def _change(book: ClientBook, name: str, change: ClientChange) -> Client:
    client = book.pause(name, change.paused) if change.paused is not None else book.known(name)
    if change.default_namespace is not None or change.reset_namespace:
        client = book.send_to(name, change.default_namespace)
    return client


def _changed(parts: Parts, name: str) -> None:
    """A client whose rights changed loses the answers it has open; it may ask again."""
    parts.streams.end(name)
    parts.feed.changed()


def _view(parts: Parts, client: Client) -> ClientView:
    last = parts.verbs.log.last(1, client.name)
    return ClientView(
        name=client.name,
        has_token=client.token_hash is not None,
        paused=client.paused,
        default_namespace=client.default_namespace,
        created_at=client.created_at,
        last_seen=last[0].at if last else None,
        calls=parts.verbs.calls[client.name],
    )
