"""Opening the memory that a command was pointed at, and finding facts in it by what the person typed."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import NotFoundError
from lean_memory.settings import read_settings
from lean_memory_bridge.runtime import RUNTIME_FILE
from lean_memory_desktop.cli.moments import read_zone
from lean_memory_desktop.cli.options import BadUseError, Options

if TYPE_CHECKING:
    from lean_memory import Memory
    from lean_memory.domain import Fact
    from lean_memory_desktop.cli.served import ServedMemory

    AnyMemory = Memory | ServedMemory

_ID_SHOWN = 8


def open_memory(options: Options) -> AnyMemory:
    """The memory at `--root`, else at the configured place: through the service where one runs, else its files."""
    settings = read_settings(options.root)
    root = settings.root
    if (root / RUNTIME_FILE).exists():
        from lean_memory_bridge.client import ServiceClient
        from lean_memory_desktop.cli.served import ServedMemory

        client = ServiceClient.find(root)
        if client is not None:
            return ServedMemory(client, timezone=settings.timezone)
    return open_files(options)


def open_files(options: Options) -> Memory:
    """The memory at `--root`, else at the configured place, in this process."""
    from lean_memory import Memory

    return Memory(root=options.root)


def short_id(fact: Fact) -> str:
    """The end of a fact's id, which is what tells it from others: ids begin with the moment they were made. A passage's id is whole."""
    return fact.id if is_passage(fact.id) else fact.id[-_ID_SHOWN:]


def is_passage(given: str) -> bool:
    """Whether an id is that of a passage, which is its episode's id, a dot and a number."""
    return "." in given


def data_root(options: Options) -> Path:
    """The folder that `open_memory` would use."""
    return read_settings(options.root).root


def zone_of(options: Options) -> tzinfo | None:
    """The zone in which moments are read and shown; `None` is this computer's."""
    return read_zone(options.tz, read_settings(options.root).timezone)


def find_fact(memory: AnyMemory, namespace: str, given: str) -> Fact:
    """The one fact whose id is `given` or ends with it; raises `NotFoundError` for none and `BadUseError` for several."""
    if not given.strip():
        raise BadUseError("A fact's id cannot be empty; `lean-memory facts` shows the ids.")
    try:
        return fact_by_id(memory, namespace, given)
    except NotFoundError:
        known = memory.facts(namespace, include_history=True, include_cold=True)
    found = [fact for fact in known if fact.id.endswith(given)]
    if not found:
        raise NotFoundError(f"There is no fact {given!r} in {namespace!r}; `lean-memory facts --history` lists them all.")
    if len(found) > 1:
        raise BadUseError(f"{len(found)} facts in {namespace!r} have ids that end with {given!r}; give more characters.")
    return found[0]


def fact_by_id(memory: AnyMemory, namespace: str, fact_id: str) -> Fact:
    """The fact with exactly this id, current or not."""
    return next(entry.fact for entry in memory.history(namespace, fact_id) if entry.fact.id == fact_id)
