"""The service as an ASGI app: MCP, HTTP and the door before both, in one lifespan."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.routing import Route
from starlette.types import ASGIApp

from lean_memory.errors import LeanMemoryError
from lean_memory.models.in_use import RemoteModels
from lean_memory.service import MemoryService
from lean_memory.settings import read_settings
from lean_memory_bridge import problems
from lean_memory_bridge.access_log import AccessLog
from lean_memory_bridge.bring_in_jobs import BringInJobs
from lean_memory_bridge.callers import Callers
from lean_memory_bridge.client_book import ClientBook
from lean_memory_bridge.events import Feed
from lean_memory_bridge.fairness import FairQueue
from lean_memory_bridge.guard import Guard
from lean_memory_bridge.jobs import Jobs
from lean_memory_bridge.maintenance import Maintenance
from lean_memory_bridge.mcp_door import McpDoor, loaded
from lean_memory_bridge.model_desk import ModelDesk
from lean_memory_bridge.model_room import ModelRoom
from lean_memory_bridge.pausing import is_paused
from lean_memory_bridge.routes import (
    assistants,
    autostart,
    bringing_in,
    browsing,
    clients,
    custody,
    maintenance,
    memory,
    models as model_routes,
    page,
    retention,
    service,
)
from lean_memory_bridge.routes.parts import Parts
from lean_memory_bridge.runtime import Runtime
from lean_memory_bridge.schemas import LARGEST_BODY, ModelView, Snapshot
from lean_memory_bridge.streams import Streams
from lean_memory_bridge.uploads import Uploads
from lean_memory_bridge.verbs import Verbs
from lean_memory_bridge.window import WindowDoor

log = logging.getLogger(__name__)

LOOK_EVERY = 30.0
"""Seconds after which a snapshot is made anew without news: the schedule and commands without the service change what it shows, too."""
AT_ONCE = 4
"""Calls of the engine that run at the same time."""


class Service:
    """The app and what it is made of.

    `warm` loads the built-in model, in a thread; `stop` ends the process's server; `models` are those that the worker holds, and `outdated`
    is called while others are to be used than those.
    """

    def __init__(
        self,
        *,
        root: Path,
        memory: MemoryService,
        runtime: Runtime,
        token: str,
        warm: Callable[[], None],
        stop: Callable[[], None],
        models: RemoteModels | None = None,
        outdated: Callable[[], None] = lambda: None,
    ) -> None:
        self._executor = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="engine")
        self._warm = warm
        self._queue = FairQueue(self._executor, at_once=AT_ONCE)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs = Jobs(memory, self._changed_elsewhere)
        settings = read_settings(root)
        self._room = ModelRoom(memory, models or RemoteModels(settings), changed=self._changed_elsewhere, outdated=outdated)
        self._desk = ModelDesk(settings, self._changed_elsewhere, self._room.chosen)
        self.parts = self._made(root=root, memory=memory, runtime=runtime, token=token, stop=stop)
        self._mcp = McpDoor(lambda: loaded(self.parts.maintenance, runtime.version, self.parts.stopping))
        self.api = self._build()
        callers = Callers(token, self.parts.book, lambda: is_paused(root))
        self.app: ASGIApp = Guard(self.api, port=runtime.port, callers=callers, streams=self.parts.streams, window=self.parts.window)

    def begin_to_stop(self) -> None:
        """End what stays open, so that the server can wait for the rest. Safe to call again."""
        self.parts.stopping.set()
        self.parts.streams.end_all()

    def _made(self, *, root: Path, memory: MemoryService, runtime: Runtime, token: str, stop: Callable[[], None]) -> Parts:
        feed = Feed(self._snapshot)
        verbs = Verbs(
            memory=memory,
            queue=self._queue,
            log=AccessLog(root),
            changed=feed.changed,
            wrote=self._room.touched,
            lacking=lambda: self._room.lacking,
        )
        return Parts(
            root=root,
            runtime=runtime,
            token=token,
            verbs=verbs,
            maintenance=Maintenance(root=root, verbs=verbs, jobs=self._jobs),
            book=ClientBook(root),
            feed=feed,
            streams=Streams(),
            window=WindowDoor(token),
            stop=stop,
            model=ModelView(state="loading"),
            room=self._room,
            desk=self._desk,
            uploads=Uploads(root),
            bringing_in=BringInJobs(memory, self._brought_in),
            stopping=asyncio.Event(),
        )

    def _build(self) -> FastAPI:
        api = FastAPI(
            title="Lean Memory",
            version=self.parts.runtime.version,
            openapi_url="/api/v1/openapi.json",
            docs_url=None,
            redoc_url=None,
            lifespan=self._lifespan,
            responses=problems.DOCUMENTED,
            max_body_size=LARGEST_BODY,
            # For readers of the document; the door has checked the token before.
            dependencies=[Depends(HTTPBearer(auto_error=False, description="The token of a client, or that of the data folder"))],
        )
        api.state.parts = self.parts
        for module in (
            memory,
            custody,
            bringing_in,
            retention,
            assistants,
            autostart,
            browsing,
            maintenance,
            clients,
            model_routes,
            service,
            page,
        ):
            api.include_router(module.router)
        api.router.routes.append(Route("/mcp", endpoint=self._mcp, methods=["GET", "POST", "DELETE"]))
        problems.register(api)
        return api

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncGenerator[None]:
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self.parts.uploads.clean)
        tasks = [
            asyncio.create_task(self.parts.feed.keep_up()),
            asyncio.create_task(self._get_ready()),
            asyncio.create_task(self._look_around()),
        ]
        self._desk.start()
        async with self._mcp.running():
            yield
            self.begin_to_stop()
            await asyncio.to_thread(self._jobs.close)
            await asyncio.to_thread(self.parts.bringing_in.close)
            await asyncio.to_thread(self.parts.uploads.clean)
            await asyncio.to_thread(self._desk.close)
            await asyncio.to_thread(self._room.close)
            await self._queue.drained()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._executor.shutdown()
        await asyncio.to_thread(self.parts.verbs.memory.close)

    def _brought_in(self, namespaces: tuple[str, ...]) -> None:
        """Say from any thread that something was brought in."""
        for name in namespaces:
            self.parts.verbs.written += 1
            self._room.touched(name)
        self._changed_elsewhere()

    def _changed_elsewhere(self) -> None:
        """Say from any thread that the state may be another one."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.parts.feed.changed)

    async def _look_around(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await asyncio.to_thread(self.parts.uploads.drop_old)
            self.parts.feed.changed()

    async def _get_ready(self) -> None:
        """Load the models and finish what an earlier process left, while the first calls are being answered."""
        try:
            await asyncio.to_thread(self._warm)
        except LeanMemoryError as error:
            self.parts.model = ModelView(state="failed", message=str(error))
            log.warning("The models could not be loaded: %s", type(error).__name__)
        else:
            self.parts.model = ModelView(state="ready")
        if not self.parts.stopping.is_set():
            self._room.start()
            self._mcp.open()
        self.parts.feed.changed()

    async def _snapshot(self) -> Snapshot:
        parts = self.parts
        model = parts.model
        return Snapshot(
            version=0,
            instance=parts.runtime.instance,
            service_version=parts.runtime.version,
            model=model,
            namespaces=await parts.verbs.known_namespaces(),
            clients=await asyncio.to_thread(clients.client_views, parts),
            written=parts.verbs.written,
            upkeep=await parts.maintenance.upkeep(),
            schedule=await parts.maintenance.schedule(),
            models=await parts.models(),
            degraded=(*(() if model.state == "ready" else ("embedder",)), *self._room.lacking),
            stopping=parts.stopping.is_set(),
            paused=is_paused(parts.root),
        )
