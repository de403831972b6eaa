"""The service and its clients: what it says of itself, and what may be changed about a client."""

from __future__ import annotations

from typing import Literal

from lean_memory_bridge.schemas.base import Answer, NamespaceName, Request
from lean_memory_bridge.schemas.maintenance import ScheduleView, Upkeep
from lean_memory_bridge.schemas.memory import NamespaceView
from lean_memory_bridge.schemas.models import ModelsView


class Status(Answer):
    """The service and its namespaces."""

    root: str
    version: str
    instance: str
    pid: int
    port: int
    started_at: int
    namespaces: tuple[NamespaceView, ...]


class ClientView(Answer):
    """An assistant or a program that uses the memory."""

    name: str
    has_token: bool
    paused: bool
    default_namespace: str | None
    created_at: int
    last_seen: int | None = None
    calls: int = 0
    """Calls since the service started."""


class Clients(Answer):
    """Every client that is known."""

    clients: tuple[ClientView, ...]


class IssuedToken(Answer):
    """A client's new token; it is shown once, and only its fingerprint is kept."""

    name: str
    token: str


class AccessView(Answer):
    """One use of the memory by a client. Holds no text of the person."""

    at: int
    client: str
    verb: str
    namespace: str | None = None
    facts: int = 0
    """Facts given out or written."""
    tokens: int = 0
    """About how many tokens the answer took in the assistant's context."""
    outcome: str = "ok"

    @property
    def sentence(self) -> str:
        """The entry in words, without its time."""
        done = {
            "search": "read",
            "facts": "read",
            "history": "read",
            "explain": "read",
            "profile": "read",
            "changes": "read",
            "review": "read",
            "proposal": "read",
            "add": "wrote",
        }.get(self.verb)
        if done is None or self.outcome != "ok":
            return f"{self.client}: {self.verb}, {self.outcome}"
        noun = "fact" if self.facts == 1 else "facts"
        return f"{self.client} {done} {self.facts} {noun}" + (f", {self.tokens} tokens" if self.tokens else "")


class AccessLog(Answer):
    """The last uses of the memory, newest first."""

    entries: tuple[AccessView, ...]


class ModelView(Answer):
    """The state of the built-in embedder."""

    state: Literal["loading", "ready", "failed"]
    message: str = ""


class Snapshot(Answer):
    """The whole state that a window or a tray shows; each one replaces the one before."""

    version: int
    """Counts up with every change within one instance."""
    instance: str
    service_version: str
    model: ModelView
    namespaces: tuple[str, ...]
    clients: tuple[ClientView, ...]
    degraded: tuple[str, ...] = ()
    """What answers lack at present."""
    stopping: bool = False
    paused: bool = False
    """Whether the person has paused the memory for every assistant."""
    written: int = 0
    """Counts up with every call of this instance that wrote, so that a window knows when to look again."""
    upkeep: tuple[Upkeep, ...] = ()
    """Maintenance of each namespace: what waits for the person, the run that goes on, the last one."""
    schedule: ScheduleView | None = None
    """When the next nightly run is."""
    models: ModelsView | None = None
    """The tier in use, its models and what they are at."""


class Health(Answer):
    """That the service lives, and if it was challenged, the proof that it knows the token of its data root."""

    instance: str
    version: str
    pid: int
    proof: str | None = None


class Stopping(Answer):
    """The service is ending."""

    instance: str


class Problem(Answer):
    """Why a request was not done: the kind of error, and a sentence for a person."""

    error: str
    message: str


class ClientChange(Request):
    """What to change about a client; what is left out stays."""

    paused: bool | None = None
    default_namespace: NamespaceName | None = None
    """Where its calls go when they name no namespace; null leaves it as it is, and `reset_namespace` takes it away."""
    reset_namespace: bool = False
