"""What a person points at, a file, a folder or a zip, as entries that are read one after another, and how much of it was read."""

from __future__ import annotations

import datetime as dt
import io
import os
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from lean_memory.arguments import LATEST
from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError, InvalidInputError, NotFoundError, StorageError

_ENCRYPTED = 0x1
_MOST_ENTRIES = 200_000
_BEGINNING = 65_536
_NO_DATE = (1980, 1, 1, 23, 59, 59)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a source; `name` is its place below the folder or zip, with `/` between the parts."""

    name: str
    size: int
    modified: Instant
    open: Callable[[], BinaryIO]
    path: Path | None = None
    """Where it lies by itself; `None` in a zip."""

    @property
    def base(self) -> str:
        """The last part of the name."""
        return PurePosixPath(self.name).name

    @property
    def suffix(self) -> str:
        """The ending in small letters, with its dot."""
        return PurePosixPath(self.name).suffix.lower()

    def beginning(self, most: int = _BEGINNING) -> bytes:
        """Its first bytes."""
        with errors_in_words(self.name), self.open() as file:
            return file.read(most)


@dataclass(slots=True, kw_only=True)
class Source:
    """An opened source."""

    path: Path
    entries: tuple[Entry, ...]
    is_folder: bool = False
    done: int = 0
    """Bytes that were read of the entries that count."""
    total: int = 0
    _reading: Entry | None = None
    _read: int = 0

    def expect(self, entries: tuple[Entry, ...]) -> None:
        """Say which entries will be read, so that progress has an end."""
        self.total, self.done = sum(entry.size for entry in entries), 0

    @property
    def reached(self) -> str:
        """Which file was read last, and about how much of it; empty before the first."""
        if self._reading is None:
            return ""
        share = self._read / self._reading.size if self._reading.size else 1.0
        return f"{self._reading.name} ({min(1.0, share):.0%})"

    def reads(self, entry: Entry) -> None:
        """Say which file is being read."""
        self._reading, self._read = entry, 0

    def has_read(self, count: int) -> None:
        """Count bytes of the file that is being read."""
        self.done += count
        self._read += count

    @contextmanager
    def opened(self, entry: Entry) -> Generator[BinaryIO]:
        """An entry to read, while what is read of it is counted."""
        self.reads(entry)
        with errors_in_words(entry.name), entry.open() as file:
            yield io.BufferedReader(_Counting(file, self), _BEGINNING)


class _Counting(io.RawIOBase):
    """Passes bytes on and counts them."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        super().__init__()
        self._file, self._source = file, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - 3.11 has no Buffer
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._source.has_read(len(data))
        return len(data)


@contextmanager
def opened_source(path: Path) -> Generator[Source]:
    """What is at `path`. Raises `NotFoundError`, `InvalidInputError` for a zip under a password or something empty, `DamagedFileError`."""
    with ExitStack() as opened:
        # Of looking at it alone: what fails while it is brought in is not this file's fault.
        with errors_in_words(str(path)):
            source = _source(path, opened)
        yield source


def _source(path: Path, opened: ExitStack) -> Source:
    if not path.exists():
        raise NotFoundError(f"There is nothing at {path}; nothing was brought in.")
    if path.is_dir():
        return Source(path=path, entries=tuple(_in_folder(path)), is_folder=True)
    if not path.is_file():
        raise InvalidInputError(f"{path} is neither a file nor a folder; nothing was brought in.")
    if path.stat().st_size == 0:
        raise InvalidInputError(f"{path} is empty; nothing was brought in.")
    if not is_zip(path):
        return Source(path=path, entries=(_of_file(path, path.name),))
    archive = opened.enter_context(zipfile.ZipFile(path))
    return Source(path=path, entries=tuple(_in_zip(archive, path)), is_folder=True)


def is_zip(path: Path) -> bool:
    """Whether a file begins like a zip."""
    with path.open("rb") as file:
        return file.read(4) in {b"PK\x03\x04", b"PK\x05\x06"}


@contextmanager
def errors_in_words(name: str) -> Generator[None]:
    """Errors of the system and of zips as errors of ours."""
    try:
        yield
    except (zipfile.BadZipFile, EOFError, zipfile.LargeZipFile) as error:
        raise DamagedFileError(
            f"{name} is damaged or was cut off ({error}). What came before it is kept; fetch the export again and bring it in anew."
        ) from error
    except NotImplementedError as error:
        raise InvalidInputError(f"{name} is packed in a way that cannot be read here; unpack it and bring in the folder.") from error
    except PermissionError as error:
        raise StorageError(f"{name} may not be read by you; nothing of it was brought in.") from error
    except OSError as error:
        raise StorageError(f"{name} cannot be read ({error.strerror or error}). What came before it is kept.") from error


def _in_folder(folder: Path) -> Iterator[Entry]:
    """The files below a folder, by name; nothing hidden, and no link, which may lead anywhere."""
    found = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            found += 1
            if found > _MOST_ENTRIES:
                raise InvalidInputError(f"{folder} holds more than {_MOST_ENTRIES:,} files; bring in the folders in it one at a time.")
            yield _of_file(path, path.relative_to(folder).as_posix())


def _of_file(path: Path, name: str) -> Entry:
    stat = path.stat()
    return Entry(name=_shown(name), size=stat.st_size, modified=_within(stat.st_mtime), open=lambda: path.open("rb"), path=path)


def _shown(name: str) -> str:
    """A name that can be told, also where it is no text in the encoding of the system."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _within(seconds: float) -> Instant:
    """When a file was changed, in epoch milliseconds; what a clock that was never set or a hostile archive says is not taken for a moment."""
    return Instant(round(min(max(seconds * 1000, 0.0), LATEST)))


def _in_zip(archive: zipfile.ZipFile, path: Path) -> Iterator[Entry]:
    """The files of a zip; nothing hidden, as in a folder."""
    infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
    if any(info.flag_bits & _ENCRYPTED for info in infos):
        raise InvalidInputError(f"{path} is under a password; unpack it with its password and bring in the folder. Nothing was brought in.")
    if len(infos) > _MOST_ENTRIES:
        raise InvalidInputError(f"{path} holds more than {_MOST_ENTRIES:,} files; unpack it and bring in the folders one at a time.")
    zipped = _within(path.stat().st_mtime)
    for info in infos:
        yield Entry(name=info.filename, size=info.file_size, modified=_changed(info) or zipped, open=_opener(archive, info))


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def _changed(info: zipfile.ZipInfo) -> Instant | None:
    """When a file in a zip was changed, in the time zone of this computer as zips name none; `None` where it is the date that stands for no date."""
    if info.date_time <= _NO_DATE:
        return None
    try:
        return _within(dt.datetime(*info.date_time).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: archive.open(info)  # pyright: ignore[reportReturnType] - IO[bytes] of an entry is a BinaryIO
