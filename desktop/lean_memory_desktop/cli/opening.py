"""Opening the memory that a command was pointed at, and finding facts in it by what the person typed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import NotFoundError, StorageError
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
_NAMES_SHOWN = 10


def open_memory(options: Options) -> AnyMemory:
    """The memory at `--root`, else at the configured place: through the service where one runs, else its files."""
    settings = read_settings(options.root)
    root = data_root(options)
    if (root / RUNTIME_FILE).exists():
        from lean_memory_bridge.client import ServiceClient
        from lean_memory_desktop.cli.served import ServedMemory

        client = ServiceClient.find(root)
        if client is not None:
            return ServedMemory(client, timezone=settings.timezone)
    return open_files(options)


def open_files(options: Options) -> Memory:
    """The memory at `--root`, else at the configured place, in this process. Raises `StorageError` where that is no folder."""
    from lean_memory import Memory

    data_root(options)
    return Memory(root=options.root)


@contextmanager
def known_memory(options: Options) -> Generator[AnyMemory]:
    """`open_memory` for a command that makes nothing. Raises `NotFoundError` where the person named a folder or a namespace that is not there."""
    check_root(options)
    with open_memory(options) as memory:
        check_namespace(options, memory.namespaces, memory.status)
        yield memory


@contextmanager
def known_files(options: Options) -> Generator[Memory]:
    """`open_files` in the same way."""
    check_root(options)
    with open_files(options) as memory:
        check_namespace(options, memory.namespaces, memory.status)
        yield memory


def check_root(options: Options) -> None:
    """Raises `NotFoundError` where the person named a data folder that is not there."""
    if "root" in vars(options) and not data_root(options).exists():
        raise NotFoundError(
            f"There is no folder {data_root(options)}, so nothing is remembered there; nothing was made. Look at the name after --root."
        )


def check_namespace(options: Options, names: Callable[[], Sequence[str]], look: Callable[[str], object]) -> None:
    """Raises `NotFoundError` with the names there are where the person named a namespace that is not there; what `look` raises of one that is damaged."""
    if "namespace" not in vars(options) or options.namespace in (there := names()):
        return
    try:
        look(options.namespace)
    except NotFoundError as error:
        raise no_namespace(options, options.namespace, there) from error


def no_namespace(options: Options, name: str, there: Sequence[str]) -> NotFoundError:
    """What to tell somebody who named a namespace that is not there."""
    if not there:
        return NotFoundError(
            f"There is no namespace {name!r} in {data_root(options)}, nor any other; the first `lean-memory add` makes one."
        )
    return NotFoundError(f"There is no namespace {name!r} in {data_root(options)}. {names_there(there)}")


def names_there(there: Sequence[str]) -> str:
    """A sentence with the namespaces there are, the first ten of many."""
    more = f" and {len(there) - _NAMES_SHOWN} more (`lean-memory namespaces` lists all)" if len(there) > _NAMES_SHOWN else ""
    return f"{'There is' if len(there) == 1 else 'There are'} {', '.join(map(repr, there[:_NAMES_SHOWN]))}{more}."


def short_id(fact: Fact) -> str:
    """The end of a fact's id, which is what tells it from others: ids begin with the moment they were made. A passage's id is whole."""
    return fact.id if is_passage(fact.id) else fact.id[-_ID_SHOWN:]


def is_passage(given: str) -> bool:
    """Whether an id is that of a passage, which is its episode's id, a dot and a number."""
    return "." in given


def data_root(options: Options) -> Path:
    """The folder that `open_memory` would use, which may not be there yet. Raises `StorageError` where something else has its place."""
    root = read_settings(options.root).root
    with suppress(PermissionError):
        there = next((place for place in (root, *root.parents) if place.exists()), None)
        if there is not None and not there.is_dir():
            raise StorageError(
                f"{there} is no folder, so no memory can be in {'it' if there == root else root}; nothing was changed. "
                "Name a folder with --root or LM_DATA_ROOT."
            )
    return root


def command_line(options: Options, *words: str) -> str:
    """What to type for another command about the same data folder."""
    typed = ["lean-memory", *words, *(["--root", str(data_root(options))] if "root" in vars(options) else [])]
    return subprocess.list2cmdline(typed) if sys.platform == "win32" else shlex.join(typed)


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
