"""Files that pass through the service: what a page sends to be brought in, piece by piece, and what it takes out.

They lie in a private folder of the data root, which is emptied when a service begins and when it ends, and no longer than a day.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from lean_memory.errors import InvalidInputError, NotFoundError, StorageError, StorageFullError
from lean_memory.private_files import UPLOADS, private_folder
from lean_memory_bridge.refusals import TooManyCallsError
from lean_memory_bridge.schemas.custody import Upload

LARGEST = 4 << 30
"""Bytes of one upload."""
MOST_FILES = 20_000
AT_ONCE = 8
KEPT_SECONDS = 24 * 60 * 60
_LEFT_FREE = 64 << 20
_PIECE = 1 << 20
_DEEPEST = 16
_FOREIGN = re.compile(r'[\x00-\x1f\x7f<>:"|?*]')
"""What some system allows in no name. All else stays, since a note may be known by its name, and two must not become one."""
_LONGEST_NAME = 255
"""Bytes that every file system takes."""


class Uploads:
    """The uploads of one service. Blocking; one caller at a time writes to an upload."""

    def __init__(self, root: Path) -> None:
        self._folder = root / UPLOADS
        self._sizes: dict[str, tuple[int, int]] = {}
        self._read: Counter[str] = Counter()

    def begin(self) -> Upload:
        """A new upload without files. Raises `TooManyCallsError`."""
        self.drop_old()
        if len(self._sizes) >= AT_ONCE:
            raise TooManyCallsError("So many uploads wait already that this one was not begun. Bring those in, or remove them.", 60.0)
        upload = secrets.token_hex(8)
        private_folder(self._folder / upload)
        self._sizes[upload] = (0, 0)
        return self.look(upload)

    def look(self, upload: str) -> Upload:
        """How an upload stands. Raises `NotFoundError`."""
        if upload not in self._sizes:
            raise NotFoundError("There is no such upload: it was brought in, is older than a day, or the service was started anew since.")
        size, files = self._sizes[upload]
        return Upload(id=upload, bytes=size, files=files)

    def holds(self, upload: str) -> bool:
        """Whether an upload is there."""
        return upload in self._sizes

    def put(self, upload: str, name: str, offset: int, piece: bytes, *, modified: int | None = None) -> Upload:
        """Add a piece at the end of a file, where `offset` must be; `modified` is when the file was changed last, in epoch milliseconds.

        Raises `InvalidInputError`, `NotFoundError`, `StorageFullError`, `StorageError`.
        """
        try:
            return self._put(upload, name, offset, piece, modified)
        except OSError as error:
            raise StorageError(f"{name[:80]!r} cannot be kept until it is brought in: {error.strerror or error}.") from error

    def path(self, upload: str) -> Path:
        """The one file of an upload, or the folder with its files. Raises `NotFoundError`."""
        self.look(upload)
        folder = self._folder / upload
        with contextlib.suppress(OSError):
            # The day in which it may lie begins anew.
            os.utime(folder)
        while True:
            held = list(folder.iterdir())
            if len(held) != 1:
                return folder
            if held[0].is_file():
                return held[0]
            folder = held[0]

    @contextlib.contextmanager
    def reading(self, upload: str | None) -> Generator[None]:
        """While an upload is read by something else than a job; `None` is none. For the thread that asks `is_read`."""
        self._read.update(() if upload is None else (upload,))
        try:
            yield
        finally:
            self._read.subtract(() if upload is None else (upload,))

    def is_read(self, upload: str) -> bool:
        """Whether an upload is being read."""
        return self._read[upload] > 0

    def remove(self, upload: str) -> None:
        """Delete an upload, if it is there."""
        if self._sizes.pop(upload, None) is not None:
            shutil.rmtree(self._folder / upload, ignore_errors=True)

    def drop_old(self) -> None:
        """Delete the uploads that nobody added to or asked for in a day."""
        for upload in list(self._sizes):
            try:
                at = (self._folder / upload).stat().st_ctime
            except OSError:
                at = 0.0
            if at < time.time() - KEPT_SECONDS:
                self.remove(upload)

    def passing(self, suffix: str) -> Path:
        """A path for a file that is made, sent and removed."""
        private_folder(self._folder)
        return self._folder / f"out-{secrets.token_hex(8)}{suffix}"

    def clean(self) -> None:
        """Delete everything, also what a service that was killed left."""
        self._sizes.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _put(self, upload: str, name: str, offset: int, piece: bytes, modified: int | None) -> Upload:
        size, files = self._sizes[self.look(upload).id]
        path = self._folder / upload / _safe(name)
        there = path.stat().st_size if path.exists() else None
        if path.is_dir() or (there or 0) != offset:
            raise InvalidInputError(f"{name[:80]!r} has {there or 0} bytes so far; go on from there.")
        if size + len(piece) > LARGEST or files + (there is None) > MOST_FILES:
            raise InvalidInputError(
                "That is more than one upload takes (4 GB, 20,000 files). The command `lean-memory bring-in` takes any amount."
            )
        private_folder(path.parent)
        if shutil.disk_usage(self._folder).free < len(piece) + _LEFT_FREE:
            raise StorageFullError("The disk of the data folder has no room for this upload. Free some space and go on.")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(piece)
        if modified is not None:
            # Notes without a date of their own count as said when their file was changed.
            os.utime(path, ns=(modified * 1_000_000, modified * 1_000_000))
        self._sizes[upload] = (size + len(piece), files + (there is None))
        return self.look(upload)


def read_once(path: Path) -> tuple[int, Iterator[bytes]]:
    """The size of a file and its pieces. Where files may go while they are read, it is gone before the first piece, however the process ends."""
    file = path.open("rb")
    if os.name == "posix":
        path.unlink()
    return os.fstat(file.fileno()).st_size, _pieces(file, path)


def _pieces(file: BinaryIO, path: Path) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece
    path.unlink(missing_ok=True)


def _safe(name: str) -> Path:
    """Where a file of this name goes inside its upload. Raises `InvalidInputError`."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", ".", "..")]
    cleaned = [_short(_FOREIGN.sub("_", part)).rstrip(" .") for part in parts]
    if not cleaned or not all(cleaned) or len(cleaned) > _DEEPEST:
        raise InvalidInputError("A file that is uploaded needs a name, and at most 16 folders above it.")
    return Path(*cleaned)


def _short(name: str) -> str:
    """A name with its end, which says what it is, where the whole is too long for a file."""
    return name.encode("utf-8", "replace")[-_LONGEST_NAME:].decode("utf-8", "ignore")
