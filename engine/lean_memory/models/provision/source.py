"""What a pull asks of the place from which files come."""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lean_memory.errors import ModelFetchError
from lean_memory.models.installed import FileRecord, Voucher
from lean_memory.models.manifest import ModelFile, Published
from lean_memory.models.provision import wording
from lean_memory.models.provision.watch import Watch
from lean_memory.private_files import private_folder

BLOCK = 1 << 18
"""Bytes read at once at most; a slow line gives what it has."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A file to fetch, and the SHA-256 that it must have where one is known: the published one, or that of the copy that was here before."""

    spec: Published
    file: ModelFile
    sha256: str | None
    voucher: Voucher

    @property
    def name(self) -> str:
        """How it is called in a sentence."""
        return wording.named(self.spec, self.file)


class Source(Protocol):
    """A hub, or a folder that somebody carried here."""

    @property
    def origin(self) -> str:
        """Its address or path, for people."""
        ...

    def fetch(self, wanted: Wanted, part: Path, watch: Watch) -> FileRecord | None:
        """Complete `part`, of which a beginning may be there, and check it; `None` where the source does not have a file that is optional.

        Raises `ModelFetchError` with a sentence, and `CancelledError`; either way what came stays in `part`.
        """
        ...


class Part:
    """The beginning of a file on its way, with the sum of what is there; every block is with the system once it is kept."""

    def __init__(self, path: Path, watch: Watch, longest: int | None) -> None:
        self.path, self._watch = path, watch
        self.have, self._digest = 0, hashlib.sha256()
        self._take_up(longest)

    def keep(self, block: bytes) -> None:
        """Add what came."""
        try:
            with self.path.open("ab", buffering=0) as out:
                rest = memoryview(block)
                while rest:
                    written = out.write(rest)
                    self._digest.update(rest[:written])
                    self.have += written
                    rest = rest[written:]
        except OSError as error:
            raise translated(error, self.path) from error
        self._watch.came(len(block))

    def start_over(self) -> None:
        """Throw away what came."""
        self.path.unlink(missing_ok=True)
        self._watch.found(-self.have)
        self.have, self._digest = 0, hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of all that is there, in hex."""
        return self._digest.hexdigest()

    def sha1s(self) -> frozenset[str]:
        """Of all that is there: as git takes it of a file, and plain."""
        git, plain = hashlib.sha1(b"blob %d\0" % self.have, usedforsecurity=False), hashlib.sha1(usedforsecurity=False)
        with self.path.open("rb") as file:
            while block := file.read(BLOCK):
                git.update(block)
                plain.update(block)
        return frozenset((git.hexdigest(), plain.hexdigest()))

    def _take_up(self, longest: int | None) -> None:
        try:
            private_folder(self.path.parent)
            # Made for its owner alone; the umask of the shell does not matter.
            with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600), "r+b") as file:
                if longest is not None and os.fstat(file.fileno()).st_size > longest:
                    file.truncate(0)
                while block := file.read(BLOCK):
                    self._digest.update(block)
                    self.have += len(block)
                    self._watch.found(len(block))
        except OSError as error:
            raise translated(error, self.path) from error


def translated(error: OSError, path: Path) -> ModelFetchError:
    """What the system said of a file of ours, as a sentence."""
    if error.errno in _FULL:
        return ModelFetchError(wording.disk_full(str(path.parent)))
    return ModelFetchError(wording.cannot_write(str(path), error.strerror or type(error).__name__))
