"""What the menu's entries do, each a few calls of the service or of the system. They block, and raise `LeanMemoryError` or `OSError`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory_bridge import pausing
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.schemas.maintenance import MaintainRequest
from lean_memory_desktop.news import Notice
from lean_memory_desktop.state import CONNECTED, running

if TYPE_CHECKING:
    from lean_memory_bridge.schemas import AssistantView


class Errands:
    """`find` finds the service, `tell` shows a person what came of what they asked for."""

    def __init__(self, root: Path, find: Callable[[], MaintenanceClient | None], tell: Callable[[Notice], None]) -> None:
        self._root, self._find, self._tell = root, find, tell

    def assistants(self) -> tuple[AssistantView, ...]:
        """How the assistants of this computer stand."""
        return self._service().assistants().assistants

    def switch(self, name: str, standing: tuple[AssistantView, ...]) -> None:
        """Connect an assistant, or disconnect it where it is connected anywhere."""
        service = self._service()
        is_on = any(one.id == name and one.standing in CONNECTED for one in standing)
        done = service.disconnect_assistant(name) if is_on else service.connect_assistant(name)
        refused = any(one.outcome in {"refused", "silent"} for one in done.outcomes)
        title = f"{_called(name, standing)}: {'that did not work' if refused else 'disconnected' if is_on else 'connected'}"
        self._tell(Notice(title=title, text=done.sentence, page="assistants", is_trouble=refused))

    def run_maintenance(self) -> None:
        """Let every namespace be tidied now; what comes of it is seen in the states that follow."""
        self._service().run_maintenance(MaintainRequest(every=True, apply=True, force=True, trigger="person", wait=0))

    def cancel_maintenance(self) -> None:
        """End the runs that go on."""
        service = self._service()
        for upkeep in running(service.snapshot()):
            service.cancel_maintenance(upkeep.namespace)

    def pause(self, paused: bool) -> None:
        """Let no assistant in, or let them in again."""
        if paused:
            pausing.pause(self._root)
        else:
            pausing.resume(self._root)
        found = self._find()
        if found is not None:
            # Asked for anew, the state is sent to every window too.
            found.snapshot()

    def check_connections(self) -> None:
        """Start the memory the way each connected assistant would, and say what answered."""
        service = self._service()
        connected = {one.id: one.name for one in service.assistants().assistants if one.standing in CONNECTED}
        done = [(name, service.test_assistant(short)) for short, name in connected.items()]
        mute = [f"{name}: {one.sentence}" for name, one in done if any(outcome.outcome != "answered" for outcome in one.outcomes)]
        if mute:
            self._tell(Notice(title="A connection does not work", text="\n".join(mute), page="assistants", is_trouble=True))
        elif done:
            names = ", ".join(connected.values())
            self._tell(Notice(title="Every connection works", text=f"The memory answered as {names} would start it.", page="assistants"))
        else:
            text = "The service answers. No assistant is connected yet; the menu has a switch for each."
            self._tell(Notice(title="Nothing is connected", text=text, page="assistants"))

    def _service(self) -> MaintenanceClient:
        found = self._find()
        if found is None:
            raise UnreachableError("The memory service does not answer at the moment; it is being started. Try again in a few seconds.")
        return found


def _called(name: str, standing: tuple[AssistantView, ...]) -> str:
    return next((one.name for one in standing if one.id == name), name)
