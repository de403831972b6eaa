"""The link that says which environment is in use, and which is replaced in one step."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Link(Protocol):
    """`path` leads to the environment in use."""

    @property
    def path(self) -> Path: ...

    def target(self) -> Path | None:
        """Where it leads; nothing where there is no link yet."""
        ...

    def lead_to(self, folder: Path) -> None:
        """Let it lead to `folder` from now on. Whoever looks meanwhile finds the old or the new one. Raises `OSError`."""
        ...

    def remove(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicLink:
    """Linux and macOS: a symbolic link that another one is renamed over."""

    path: Path

    def target(self) -> Path | None:
        try:
            return self.path.parent / self.path.readlink()
        except OSError:
            return None

    def lead_to(self, folder: Path) -> None:
        fresh = self.path.with_name(f".{self.path.name}-{os.getpid()}")
        fresh.unlink(missing_ok=True)
        # Relative, so that the whole folder may be looked at from another root.
        fresh.symlink_to(folder.relative_to(self.path.parent))
        fresh.replace(self.path)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
