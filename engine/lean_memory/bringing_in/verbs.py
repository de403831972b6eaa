"""The verbs by which a person brings in what they have elsewhere."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import tzlocal

from lean_memory.arguments import check_callable, name_of, path_of_argument, timezone_of
from lean_memory.bringing_in.detecting import Chosen, choose, kind_named
from lean_memory.bringing_in.older import Older, bring_older_in
from lean_memory.bringing_in.sources import Source, opened_source
from lean_memory.bringing_in.taking_in import Count, Course, look_at, take_in, told_with_error
from lean_memory.bringing_in.values import Report, State
from lean_memory.clock import Clock
from lean_memory.errors import NotFoundError
from lean_memory.open_namespace import OpenNamespace
from lean_memory.open_namespaces import OpenNamespaces
from lean_memory.settings import Settings
from lean_memory.store.namespaces import checked_name
from lean_memory.store.older_file import older_files_in

_T = TypeVar("_T")
DEFAULT = "default"
"""The namespace into which goes what names none itself."""


class BringingIn(ABC):
    """What a memory does to take in what a person has elsewhere. The sources are only read."""

    _clock: Clock
    _settings: Settings
    _files: OpenNamespaces

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
        return self._bring(path, kind, namespace, progress, cancelled, apply=False)

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
        or of an unknown kind, `NotFoundError` where there is nothing, and `DamagedFileError` where it cannot be read to its end; `came_before`
        gives of an error what was brought in by then.
        """
        return self._bring(path, kind, namespace, progress, cancelled, apply=True)

    def older_files(self) -> list[Path]:
        """The older lean-memory's files in the data root, which nobody has to look for."""
        with self._files.all_looked_at():
            return older_files_in(self._settings.root)

    def _bring(
        self,
        path: str | os.PathLike[str],
        kind: str | None,
        namespace: str | None,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
        *,
        apply: bool,
    ) -> Report:
        check_callable(progress, "progress")
        check_callable(cancelled, "cancelled")
        named, given = kind_named(kind), path_of_argument(path, "path")
        into = None if namespace is None else checked_name(name_of(namespace))
        with opened_source(given) as source:
            chosen = choose(source, named)
            source.expect(chosen.entries)

            def tell() -> None:
                if progress is not None:
                    progress(min(source.done, source.total), source.total)

            course = Course(progress=tell, cancelled=cancelled or (lambda: False))
            tell()
            if chosen.read is None:
                return self._bring_older(source, chosen, into, course, apply=apply)
            return self._bring_texts(source, chosen, DEFAULT if into is None else into, course, apply=apply)

    def _bring_texts(self, source: Source, chosen: Chosen, into: str, course: Course, *, apply: bool) -> Report:
        tz = timezone_of(self._settings.timezone or tzlocal.get_localzone_name())
        count, state = Count(), State.DONE if apply else State.PREVIEW
        report = Report(kind=chosen.kind, path=source.path, state=state, namespaces=(into,), notes=chosen.notes)
        assert chosen.read is not None
        with closing(chosen.read(source, chosen.entries, tz)) as found:
            if apply:
                with told_with_error(lambda: replace(count.on(report), reached=source.reached)):
                    self._with(into, lambda opened: take_in(found, opened, chosen.kind, tz=tz, course=course, count=count))
            else:
                self._looked(into, lambda opened: look_at(found, opened, chosen.kind, course=course, count=count))
        if count.is_stopped:
            return replace(count.on(report), reached=source.reached)
        source.done = source.total
        course.progress()
        return count.on(report)

    def _looked(self, into: str, look: Callable[[OpenNamespace | None], None]) -> None:
        """Look with an open namespace, or with none where there is none: looking makes no file."""
        with suppress(NotFoundError):
            return self._with(into, look, create=False, resume=False)
        return look(None)

    def _bring_older(self, source: Source, chosen: Chosen, into: str | None, course: Course, *, apply: bool) -> Report:
        def within(name: str, do: Callable[[OpenNamespace], int]) -> int:
            return self._with(name, do, create=False)

        older = Older(settings=self._settings, clock=self._clock, cleared=self._files.cleared, within=within, into=into, apply=apply)
        return bring_older_in(source, chosen.entries, older, course)
