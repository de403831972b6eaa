"""Everything that can go wrong, in one tree.

LeanMemoryError
├── InvalidInputError            what was given cannot be used; nothing was written
│   ├── InvalidNamespaceError
│   └── InvalidTextError
├── NotFoundError                no such namespace, fact or episode
├── StorageError                 the data root or a file in it cannot be used as asked
│   ├── ExtensionLoadingError    this Python's SQLite driver cannot load sqlite-vec
│   ├── ForeignFileError         a file in the data root is not one of ours; it was not touched
│   ├── NewerSchemaError         the file was written by a newer Lean Memory; it can be read, not written
│   ├── DamagedFileError         SQLite says the file is not intact
│   ├── StorageFullError         the disk is full; nothing was kept of what this was raised for
│   └── BusyError                another process kept the file locked for too long
├── LeaseHeldError               a maintenance run holds the namespace; try again when it has ended
├── LeaseLostError               a maintenance run was taken over by another one, and wrote nothing more
├── MaintenanceError             a check before maintenance commits failed; nothing of it was written
├── ModelError                   a model cannot be loaded or gave an unusable answer
│   ├── ModelUnavailableError    it cannot be asked now: not running, not there, or too slow; try again later
│   └── ModelFetchError          its files cannot be fetched, copied, checked or put away as asked
└── ClosedError                  the memory was used after `close()`

Each message is a sentence for a person: what happened, what was kept, what to do.
"""

from __future__ import annotations

_QUOTED = 80


def quoted(given: str) -> str:
    """What a message repeats of a name or an id that was given: 80 characters at most."""
    return given if len(given) <= _QUOTED else f"{given[: _QUOTED - 1]}…"


class LeanMemoryError(Exception):
    """The root of the tree; catching it catches everything the library raises on purpose."""

    done: object = None
    """What the verb that raised it had done before, where it says so: of `bring_in`, what `came_before` gives."""


class InvalidInputError(LeanMemoryError, ValueError):
    """What was given cannot be used; nothing was written."""


class InvalidNamespaceError(InvalidInputError):
    """The namespace name is empty, too long, or holds characters that no name may hold."""


class InvalidTextError(InvalidInputError):
    """The text is empty, too long, or not valid Unicode."""


class NotFoundError(LeanMemoryError, LookupError):
    """There is no such namespace, fact, episode or entity."""


class StorageError(LeanMemoryError):
    """The data root, or a file in it, cannot be used as asked."""


class ExtensionLoadingError(StorageError):
    """The SQLite driver of this Python cannot load the sqlite-vec extension."""


class ForeignFileError(StorageError):
    """A file in the data root was not made by this program; it was not touched."""


class NewerSchemaError(StorageError):
    """The file was written by a newer version; it is open for reading only."""


class DamagedFileError(StorageError):
    """SQLite reports that the file is damaged."""


class StorageFullError(StorageError):
    """The disk is full; nothing was kept of what this was raised for, and everything that was acknowledged before."""


class BusyError(StorageError):
    """Another process kept the file locked for longer than the busy timeout."""


class LeaseHeldError(LeanMemoryError):
    """A maintenance run holds the namespace."""


class LeaseLostError(LeanMemoryError):
    """A maintenance run has lost its lease to another one, and wrote nothing more."""


class MaintenanceError(LeanMemoryError):
    """What maintenance was about to write did not pass its checks; nothing of it was written."""


class ModelError(LeanMemoryError):
    """A model cannot be loaded, or gave an answer that cannot be used."""


class ModelUnavailableError(ModelError):
    """The model cannot be asked now: its server does not run, lacks it, or does not answer in time."""


class ModelFetchError(ModelError):
    """A model's files cannot be fetched, copied, checked or put away as asked; whole files and beginnings of files that came are kept."""


class ClosedError(LeanMemoryError):
    """The memory was used after it was closed."""
