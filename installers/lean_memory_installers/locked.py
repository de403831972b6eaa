"""The locked list of what the installers hold (`requirements/installers.txt`), and what of it one system and Python need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker

from lean_memory_installers.targets import Target

FROM_SOURCE = frozenset({"proxy-tools"})
"""What the registry has as a source archive only; its wheel is made here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """One line of the list: a package at a version, where it is needed, and the SHA-256 of each of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    def is_for(self, target: Target, python: str) -> bool:
        return not self.marker or Marker(self.marker).evaluate(target.markers(python))

    def line(self, hashes: Iterable[str]) -> str:
        """The line as an installer of packages reads it, with some of the digests."""
        condition = f" ; {self.marker}" if self.marker else ""
        return f"{self.name}=={self.version}{condition}" + "".join(f" \\\n    --hash=sha256:{one}" for one in sorted(hashes)) + "\n"


def read_locked(file: Path) -> list[Locked]:
    """The whole list. Raises `ValueError` at a line without a version or a digest."""
    return [_parsed(line) for line in _joined(file.read_text(encoding="utf-8").splitlines())]


def _joined(lines: Iterable[str]) -> Iterator[str]:
    whole = ""
    for line in lines:
        whole += line.removesuffix("\\").strip() + " "
        if line.strip() and not line.endswith("\\"):
            yield whole.strip()
            whole = ""


def _parsed(line: str) -> Locked:
    requirement, *hashes = line.split("--hash=sha256:")
    pinned, _, marker = requirement.partition(";")
    name, same, version = pinned.strip().partition("==")
    if not same or not hashes:
        raise ValueError(f"not a locked requirement: {requirement}")
    return Locked(name=name, version=version.strip(), marker=marker.strip(), hashes=tuple(one.strip() for one in hashes))
