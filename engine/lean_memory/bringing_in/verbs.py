"""The verbs by which a person brings in what they have elsewhere."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lean_memory.bringing_in.values import Report
from lean_memory.open_namespace import OpenNamespace
from lean_memory.settings import Settings

_T = TypeVar("_T")


class BringingIn(ABC):
    """What a memory does to take in what a person has elsewhere. The sources are only read."""

    _settings: Settings

    @abstractmethod
    def _with(self, name: str, do: Callable[[OpenNamespace], _T], *, create: bool = True, resume: bool = True) -> _T:
        """Do something with an open namespace."""

    def preview_bring_in(
        self,
        path: str | os.PathLike[str],
        *,
        kind: str | None = None,
        namespace: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Report:
        """Say what `bring_in` with the same arguments would do, and write nothing. Raises as it does."""
        raise NotImplementedError

    def bring_in(
        self,
        path: str | os.PathLike[str],
        *,
        kind: str | None = None,
        namespace: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Report:
        """Bring in what is at `path`, a file or a folder, each text with the date it was said at.

        `kind` is a `Kind` by its value; without it the contents tell. Into `namespace`: without it the older files go into those that they
        name themselves, all else into `default`. `progress` is told how many bytes of how many were read. `cancelled` is asked between two
        batches; what was brought in until then stays. Stopped or killed, the same call goes on from there, and nothing comes twice, also where
        a later export is brought in that holds the same texts. Raises `InvalidInputError` for what is no such thing, is empty, under a password
        or of an unknown kind, `NotFoundError` where there is nothing, and `DamagedFileError` where it cannot be read to its end.
        """
        raise NotImplementedError

    def older_files(self) -> list[Path]:
        """The older lean-memory's files in the data root, which nobody has to look for."""
        raise NotImplementedError
