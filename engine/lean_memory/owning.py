"""The verbs by which a memory stays its owner's: backups and what comes back from them, taking it out and bringing it in."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from lean_memory.arguments import name_of, path_of_argument, word_of
from lean_memory.clock import Clock
from lean_memory.custody import Backup, Occasion, Restored
from lean_memory.errors import InvalidInputError, NotFoundError, quoted
from lean_memory.open_namespace import OpenNamespace
from lean_memory.open_namespaces import OpenNamespaces
from lean_memory.settings import Settings
from lean_memory.store import backups as store_backups
from lean_memory.store.namespaces import BACKUPS
from lean_memory.store.restoring import restore_file, restore_one

_T = TypeVar("_T")


class Owning(ABC):
    """What a person does with the memory as a whole."""

    _clock: Clock
    _settings: Settings
    _files: OpenNamespaces

    @abstractmethod
    def namespaces(self) -> list[str]:
        """The names of all namespaces in the data root, sorted."""

    @abstractmethod
    def _with(self, name: str, do: Callable[[OpenNamespace], _T], *, create: bool = True, resume: bool = True) -> _T:
        """Do something with an open namespace."""

    def backup(
        self, path: str | os.PathLike[str] | None = None, *, namespaces: Iterable[str] | None = None, occasion: str = "asked"
    ) -> Backup:
        """Back up every namespace, or some, while anybody goes on writing; into the new folder `path`, else one of its own in the data root.

        What was acknowledged when this was called is in it, and every copy was read whole. Of several namespaces one that cannot be copied is
        left out and named. `occasion` other than `asked` makes it one of those that `drop_old_backups` may remove. Raises `StorageError`,
        `StorageFullError`; `NotFoundError` where there is nothing to back up.
        """
        to = None if path is None else path_of_argument(path, "path")
        names = self.namespaces() if namespaces is None else [name_of(name) for name in namespaces]
        if not names:
            raise NotFoundError("There is no namespace to back up; nothing was made.")
        with self._files.all_looked_at():
            return store_backups.back_up(self._settings.root, names, now=self._clock(), occasion=_occasion(occasion), to=to)

    def backups(self) -> list[Backup]:
        """The backups in the data root, newest first; of one that cannot be used, why."""
        with self._files.all_looked_at():
            return store_backups.backups_in(self._settings.root)

    def drop_old_backups(self) -> list[Path]:
        """Remove what the rules of retention no longer keep of the backups that the program made by itself; gives their folders."""
        return store_backups.drop_old(self._settings.root)

    def restore(self, path: str | os.PathLike[str], *, namespace: str | None = None) -> list[Restored]:
        """Bring every namespace of a backup back, or one, as it was then but for what was forgotten since.

        `path` is a backup's folder, its name in the data root, or a single copy of a namespace's file. All that is to come back is read whole first,
        and where any of it is damaged nothing is changed. The present state of each is kept aside as a backup of its own. Raises
        `NotFoundError`, `DamagedFileError`, `ForeignFileError`, `NewerSchemaError`; `LeaseHeldError` during maintenance.
        """
        source = self._found(path_of_argument(path, "path"))
        only = None if namespace is None else word_of(namespace, "namespace")
        if source.is_file():
            name, at = restore_file(source, only, self._settings.root)
            return [self._restored(source, name, at=at)]
        backup = store_backups.read_backup(source)
        held = [one for one in backup.namespaces if only is None or one.name == only]
        if not held:
            what = "no namespace" if only is None else f"no namespace “{quoted(only)}”"
            raise NotFoundError(f"The backup {source} holds {what}; nothing was changed.")
        files = {one.name: store_backups.check_file(source, one) for one in held}
        return [self._restored(file, name, at=backup.at) for name, file in files.items()]

    def _restored(self, source: Path, name: str, *, at: int) -> Restored:
        with self._files.cleared(name):
            return restore_one(source, name, at=at, root=self._settings.root, settings=self._settings, clock=self._clock)

    def _found(self, path: Path) -> Path:
        """A backup by its path, or by its name alone."""
        here = self._settings.root / BACKUPS / path
        return here if not path.exists() and path.name == str(path) and here.exists() else path


def _occasion(value: str) -> Occasion:
    try:
        return Occasion(word_of(value, "occasion"))
    except ValueError as error:
        raise InvalidInputError(f"occasion must be one of {', '.join(Occasion)}.") from error
