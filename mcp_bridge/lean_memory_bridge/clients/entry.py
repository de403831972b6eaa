"""Our entry in a client's configuration: what it starts, and how to tell it from somebody else's."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from lean_memory.settings import DEFAULT_ROOT
from lean_memory_bridge.clients.catalogue import Client, Dialect
from lean_memory_bridge.clients.json_edit import JsonEntries
from lean_memory_bridge.clients.toml_edit import TomlEntries

SERVER_NAME = "lean-memory"
_COMMAND = "lean-memory-mcp"
_MODULE = "lean_memory_bridge.stdio"
_WRITTEN = frozenset({"LM_CLIENT", "LM_DATA_ROOT", "PYTHONPATH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command with its arguments, and what it finds in its environment beside what the client passes on."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def our_launch(client_id: str, root: Path) -> Launch:
    """How a client starts the shim of this installation for the data in `root`; the command is absolute."""
    environment = {"LM_CLIENT": client_id}
    if root != Path(DEFAULT_ROOT).expanduser().absolute():
        environment["LM_DATA_ROOT"] = str(root)
    script = Path(sys.executable).with_name(f"{_COMMAND}.exe" if os.name == "nt" else _COMMAND)
    if script.exists():
        return Launch(command=[str(script)], environment=environment)
    return Launch(command=[sys.executable, "-P", "-m", _MODULE], environment={**environment, **_import_path()})


def entry_of(client: Client, launch: Launch) -> dict[str, object]:
    """The entry as this client writes one."""
    shape = client.shape
    command: dict[str, object] = (
        {"command": list(launch.command)} if shape.command_is_list else {"command": launch.command[0], "args": list(launch.command[1:])}
    )
    return {**shape.first, **command, shape.environment: dict(launch.environment), **shape.last}


def launch_of(client: Client, entry: object) -> Launch | None:
    """What the client would start for an entry; `None` for an entry that starts nothing, such as an address."""
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, object]", entry)
    command, arguments, environment = fields.get("command"), fields.get("args"), fields.get(client.shape.environment)
    words = [command, *_list(arguments)] if isinstance(command, str) else _list(command)
    if not words:
        return None
    held = cast("dict[str, object]", environment) if isinstance(environment, dict) else {}
    return Launch(command=[str(word) for word in words], environment={key: str(value) for key, value in held.items()})


def is_ours(client: Client, entry: object) -> bool:
    """Whether an entry starts our shim, of this installation or another one."""
    launch = launch_of(client, entry)
    if launch is None:
        return False
    names = {word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") for word in launch.command}
    return _COMMAND in names or _MODULE in launch.command


def is_as_written(client: Client, entry: object) -> bool:
    """Whether an entry is one that `connect` writes, for whatever installation and data root: nobody has added to it."""
    launch = launch_of(client, entry)
    if launch is None or not is_ours(client, entry) or entry != entry_of(client, launch):
        return False
    return launch.environment.get("LM_CLIENT") == client.id and set(launch.environment) <= _WRITTEN


def entries_of(client: Client) -> JsonEntries | TomlEntries:
    """How this client's configuration is edited."""
    return TomlEntries(client.path) if client.dialect is Dialect.TOML else JsonEntries(client.path)


def _list(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list) else []


def _import_path() -> dict[str, str]:
    """Where the package lies, for an interpreter that would not find it by itself: a checkout, not an installation."""
    package = Path(__file__).resolve().parents[2]
    if package.name in ("site-packages", "dist-packages"):
        return {}
    given = os.environ.get("PYTHONPATH", "")
    return {"PYTHONPATH": given or str(package)}
