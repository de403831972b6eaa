"""Reading and replacing a client's configuration file: never half written, never through a link, never without a backup."""

from __future__ import annotations

import codecs
import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lean_memory.errors import LeanMemoryError

_LARGEST = 64_000_000


class ConfigFileError(LeanMemoryError):
    """A configuration file cannot be used as asked; it was not touched. The message is a sentence about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A configuration as it was read. `path` is the file itself, links followed; `raw` is `None` where there is no file."""

    path: Path
    raw: bytes | None
    mode: int = 0o600

    @property
    def text(self) -> str:
        """What it says, without its byte order mark."""
        raw = self.raw or b""
        try:
            return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigFileError(f"{self.path} is not written in UTF-8; it was not touched.") from error

    def encoded(self, text: str) -> bytes:
        """The bytes of this file with another text: a byte order mark stays, none is added."""
        try:
            body = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ConfigFileError(f"The path of the command cannot be written in UTF-8; {self.path} was not touched.") from error
        return (codecs.BOM_UTF8 if self.raw is not None and self.raw.startswith(codecs.BOM_UTF8) else b"") + body


def read_config(path: Path) -> ConfigFile:
    """The configuration at `path`, which need not exist; raises `ConfigFileError` for what is no readable file."""
    try:
        target = path.resolve()
        if not target.exists():
            return ConfigFile(path=target, raw=None)
        held = target.stat()
        if not stat.S_ISREG(held.st_mode):
            raise ConfigFileError(f"{path} is not a file; it was not touched.")
        if held.st_size > _LARGEST:
            raise ConfigFileError(f"{path} is larger than {_LARGEST // 1_000_000} MB, which no configuration is; it was not touched.")
        return ConfigFile(path=target, raw=target.read_bytes(), mode=stat.S_IMODE(held.st_mode))
    except (OSError, RuntimeError) as error:
        raise ConfigFileError(f"{path} cannot be read ({_reason(error)}); it was not touched.") from error


def backed_up(config: ConfigFile, moment: datetime) -> Path | None:
    """A copy of the file beside it, named after the moment; `None` where there is no file to copy."""
    if config.raw is None:
        return None
    stamp = moment.strftime("%Y%m%d-%H%M%S-%f")
    names = (f"{config.path.name}.{stamp}{turn}.lean-memory-backup" for turn in ("", *(f"-{number}" for number in range(2, 100))))
    copy = next(path for path in map(config.path.with_name, names) if not path.exists())
    try:
        _write_new(copy, config.raw, config.mode & 0o600)
    except OSError as error:
        raise ConfigFileError(f"No backup of {config.path} could be written ({_reason(error)}); it was not touched.") from error
    return copy


def refuse_read_only(config: ConfigFile) -> None:
    """Raise `ConfigFileError` where the person, or an administrator, has made the file read-only: replacing it would get around that."""
    if config.raw is not None and (not config.mode & 0o222 or not os.access(config.path, os.W_OK)):
        raise ConfigFileError(f"{config.path} is read-only; it was not touched. Make it writable and try again.")


def replace(config: ConfigFile, raw: bytes) -> list[Path]:
    """Put `raw` in the place of what was read, whole or not at all, with the same mode.

    Returns the folders that had to be made, the innermost first. Raises `ConfigFileError` when somebody wrote the file since it was read.
    """
    fresh = config.path.with_name(f".{config.path.name}.{secrets.token_hex(6)}.lean-memory-new")
    try:
        made = _make_folders(config.path.parent)
        try:
            _write_new(fresh, raw, config.mode)
            _keep_owner(fresh, config.path)
            if _current(config.path) != config.raw:
                raise ConfigFileError(f"{config.path} was changed by another program just now; it was not touched. Try again.")
            fresh.replace(config.path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigFileError(f"{config.path} cannot be written ({_reason(error)}); it is as it was.") from error
    return made


def remove(config: ConfigFile, folders: list[Path]) -> None:
    """Take the file away, and those of `folders` that are empty then."""
    try:
        config.path.unlink()
    except OSError as error:
        raise ConfigFileError(f"{config.path} cannot be removed ({_reason(error)}).") from error
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
    return missing


def _current(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write_new(path: Path, raw: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(mode)


def _keep_owner(fresh: Path, old: Path) -> None:
    """Only an administrator can give a file away; for everybody else it is theirs already."""
    if os.name == "posix" and old.exists():
        held = old.stat()
        with contextlib.suppress(PermissionError):
            os.chown(fresh, held.st_uid, held.st_gid)


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
