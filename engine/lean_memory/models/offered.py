"""The pack of packages that the release of this program gives out for this computer, where it names an address. Standard library alone.

The setup program puts `packs.json` into the environment that it makes; whoever made the installers wrote the address and the sums into it.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

FILE = "packs.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.zip")
_ADDRESS = re.compile(r"https?://[^\s?#]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
_MACHINES = {"AMD64": "x86_64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A pack that can be fetched: the file `name` of so many `bytes` lies directly below `address`."""

    version: str
    address: str
    name: str
    bytes: int
    sha256: str


def offered(prefix: Path = Path(sys.prefix)) -> Offer | None:
    """What is offered to a program in the environment `prefix`; `None` where its release names no place, or has none for this computer."""
    try:
        held = cast("Mapping[str, object]", json.loads((prefix / FILE).read_bytes()))
        packs = cast("list[Mapping[str, object]]", held["packs"])
        mine = next((pack for pack in packs if (pack["target"], pack["python"]) == (this_target(), this_python())), None)
        return None if mine is None else _offer(held, mine)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def this_python() -> str:
    """The version of CPython that runs, such as `3.11`."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def this_target() -> str:
    """The system and machine, such as `linux-x86_64`."""
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{_MACHINES.get(platform.machine(), platform.machine())}"


def _offer(held: Mapping[str, object], pack: Mapping[str, object]) -> Offer:
    """Raises `ValueError`, `KeyError` and `TypeError` for what is not as a release writes it."""
    size = pack["bytes"]
    if not isinstance(size, int) or size < 1:
        raise ValueError(size)
    return Offer(
        version=str(held["version"]),
        address=_matching(_ADDRESS, held["address"]).rstrip("/"),
        name=_matching(_NAME, pack["file"]),
        bytes=size,
        sha256=_matching(_SHA256, pack["sha256"]),
    )


def _matching(form: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(value)
    return value
