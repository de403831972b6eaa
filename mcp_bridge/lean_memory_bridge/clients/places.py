"""Where on this computer the configurations lie that the catalogue speaks of."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lean_memory_bridge.clients.catalogue import Client, Location

_BASES = {
    "home": ("", ""),
    "support": ("", "Library/Application Support"),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "roaming": ("APPDATA", "AppData/Roaming"),
    "local": ("LOCALAPPDATA", "AppData/Local"),
    "claude": ("CLAUDE_CONFIG_DIR", ""),
    "codex": ("CODEX_HOME", ".codex"),
    "gemini": ("GEMINI_CLI_HOME", ""),
}
"""The bases of the catalogue: the variable that may say where one is, and where in the home folder it is otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """What decides where configurations lie."""

    home: Path
    environ: Mapping[str, str]
    system: str

    @classmethod
    def this(cls) -> Computer:
        """The computer and the person this process runs for."""
        return cls(home=Path.home(), environ=os.environ, system="linux" if sys.platform not in ("darwin", "win32") else sys.platform)

    def base(self, name: str) -> Path:
        """The folder that a base of the catalogue stands for: what its variable says, else its usual place in the home folder."""
        variable, usual = _BASES[name]
        given = self.environ.get(variable) if variable else None
        return Path(given).expanduser() if given else self.home / usual


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A configuration file of a client, there or not, and whether the client itself seems to be there."""

    file: Path
    installed: bool


def places_of(client: Client, computer: Computer) -> list[Place]:
    """Where a client reads its configuration on this computer: every installed edition, else where the usual one would."""
    here = [location for location in client.locations if computer.system in location.systems]
    found = [place for location in here for place in _installed(location, computer)]
    return found or [
        Place(file=_file(folder, location), installed=False) for location in here[:1] for folder in [_path(location.folder, computer)]
    ]


def _installed(location: Location, computer: Computer) -> list[Place]:
    if not any(_matches(sign, computer) for sign in location.signs):
        return []
    return [Place(file=_file(folder, location), installed=True) for folder in _folders(location.folder, computer)]


def _folders(template: str, computer: Computer) -> list[Path]:
    """The folders of a template; what stands behind its `*` need not exist yet."""
    if "*" not in template:
        return [_path(template, computer)]
    head, _, tail = template.partition("*")
    return [found / tail.strip("/") for found in _matches(f"{head}*", computer)]


def _matches(template: str, computer: Computer) -> list[Path]:
    path = _path(template, computer)
    if "*" in path.name:
        return sorted(path.parent.glob(path.name)) if path.parent.is_dir() else []
    return [path] if path.exists() else []


def _path(template: str, computer: Computer) -> Path:
    base, _, rest = template.partition("/")
    folder = computer.base(base.strip("{}"))
    return folder / rest if rest else folder


def _file(folder: Path, location: Location) -> Path:
    return next((folder / name for name in location.files if (folder / name).exists()), folder / location.files[0])
