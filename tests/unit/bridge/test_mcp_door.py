"""What is behind `/mcp` is loaded when somebody asks for it, or once there is nothing better to do, and not before."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator

import pytest
from starlette.types import Message, Receive, Scope, Send

from lean_memory.errors import ClosedError
from lean_memory_bridge.mcp_door import McpDoor


class Room:
    """What is behind the door. Loading it takes until `let` is set."""

    def __init__(self, *, lets: bool = True) -> None:
        self.made, self.let = 0, threading.Event()
        self.going = asyncio.Event()
        self.is_running = False
        if lets:
            self.let.set()

    def make(self) -> Room:
        self.made += 1
        self.let.wait()
        return self

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        self.is_running = True
        self.going.set()
        yield
        self.is_running = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.is_running
        await send({"type": "answer to", "path": scope["path"]})


async def ask(door: McpDoor, path: str) -> list[Message]:
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        said.append(message)

    await door({"type": "http", "path": path}, receive, send)
    return said


def test_it_is_loaded_once_for_all_who_ask_and_they_wait_for_it() -> None:
    async def play() -> None:
        room = Room(lets=False)
        door = McpDoor(room.make)
        async with door.running():
            assert room.made == 0
            impatient, *patient = [asyncio.create_task(ask(door, str(number))) for number in range(3)]
            await asyncio.sleep(0)
            impatient.cancel()
            await asyncio.wait([impatient])
            room.let.set()
            assert await asyncio.gather(*patient) == [[{"type": "answer to", "path": path}] for path in ("1", "2")]
            assert room.made == 1
        assert not room.is_running

    asyncio.run(play())


def test_it_is_loaded_without_being_asked_for_once_there_is_time() -> None:
    async def play() -> None:
        room = Room()
        door = McpDoor(room.make)
        async with door.running():
            door.open()
            await room.going.wait()
        assert not room.is_running

    asyncio.run(play())


def test_it_is_not_loaded_for_the_end() -> None:
    async def play() -> int:
        room = Room()
        async with McpDoor(room.make).running():
            pass
        return room.made

    assert asyncio.run(play()) == 0


def test_what_cannot_be_loaded_is_told_to_each_who_asks_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def make() -> Room:
        raise ImportError("no such library")

    async def play() -> None:
        door = McpDoor(make)
        async with door.running():
            for _ in range(2):
                with pytest.raises(ClosedError, match="could not be loaded"):
                    await ask(door, "/mcp")

    asyncio.run(play())
    assert [record.getMessage() for record in caplog.records] == ["MCP is not served: ImportError"]


def test_what_failed_to_load_is_tried_again_by_whoever_asks_after_a_rest(caplog: pytest.LogCaptureFixture) -> None:
    room, rested, tries = Room(), asyncio.Event(), 0

    def make() -> Room:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ImportError("half of an update")
        return room.make()

    async def play() -> None:
        door = McpDoor(make, rest=rested.wait)
        async with door.running():
            for _ in range(2):
                with pytest.raises(ClosedError, match="A call after 10 seconds tries it again"):
                    await ask(door, "/mcp")
            assert tries == 1
            rested.set()
            while True:
                with contextlib.suppress(ClosedError):
                    assert await ask(door, "/mcp") == [{"type": "answer to", "path": "/mcp"}]
                    break
                await asyncio.sleep(0)
            assert tries == 2
        assert not room.is_running

    asyncio.run(play())
    assert [record.getMessage() for record in caplog.records] == ["MCP is not served: ImportError"]


def test_the_end_does_not_wait_for_a_rest() -> None:
    def make() -> Room:
        raise ImportError("no such library")

    async def play() -> None:
        door = McpDoor(make, rest=asyncio.Event().wait)
        async with door.running():
            with pytest.raises(ClosedError):
                await ask(door, "/mcp")

    asyncio.run(play())
