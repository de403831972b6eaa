"""What the routes work with: the parts of the running service, and who is calling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Query, Request

from lean_memory_bridge.bring_in_jobs import BringInJobs
from lean_memory_bridge.callers import Caller
from lean_memory_bridge.client_book import ClientBook
from lean_memory_bridge.events import Feed
from lean_memory_bridge.guard import CALLER
from lean_memory_bridge.maintenance import Maintenance
from lean_memory_bridge.model_desk import ModelDesk
from lean_memory_bridge.model_room import ModelRoom
from lean_memory_bridge.runtime import Runtime
from lean_memory_bridge.schemas import ModelsView, ModelView
from lean_memory_bridge.streams import Streams
from lean_memory_bridge.uploads import Uploads
from lean_memory_bridge.verbs import Verbs
from lean_memory_bridge.window import WindowDoor


@dataclass(slots=True, kw_only=True)
class Parts:
    """The running service. `stop` asks it to end in good order."""

    root: Path
    runtime: Runtime
    token: str
    verbs: Verbs
    maintenance: Maintenance
    book: ClientBook
    feed: Feed
    streams: Streams
    window: WindowDoor
    stop: Callable[[], None]
    model: ModelView
    room: ModelRoom
    desk: ModelDesk
    uploads: Uploads
    bringing_in: BringInJobs
    stopping: asyncio.Event

    async def models(self) -> ModelsView:
        """The models of the tier in use, every tier, which was chosen, and the last download."""
        chosen, tiers, pull = await asyncio.to_thread(lambda: (self.desk.chosen(), self.desk.tiers(), self.desk.last_pull()))
        return self.room.view().model_copy(update={"chosen": chosen, "tiers": tiers, "pull": pull})


def parts_of(request: Request) -> Parts:
    """The parts of the app that serves a request."""
    return cast("Parts", request.app.state.parts)


def caller_of(request: Request) -> Caller:
    """Whoever the guard let in."""
    return cast("Caller", request.scope[CALLER])


def owner_of(request: Request) -> Caller:
    """One of the person's own programs. Raises `NotAllowedError` for anybody else."""
    caller = caller_of(request)
    caller.must_be_owner()
    return caller


TheParts = Annotated[Parts, Depends(parts_of)]
TheCaller = Annotated[Caller, Depends(caller_of)]
TheOwner = Annotated[Caller, Depends(owner_of)]
InNamespace = Annotated[str | None, Query(min_length=1, max_length=1000, description="The caller's own default where it is left out.")]
