"""The bundle `.leanmem`: a zip with `records.jsonl`, one JSON object a line, and `manifest.json`, which tells their number and SHA-256."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from lean_memory.bundles.sealing import MAGIC, SealedReader, SealingWriter
from lean_memory.errors import (
    DamagedFileError,
    InvalidInputError,
    LeanMemoryError,
    NewerSchemaError,
    NotFoundError,
    StorageError,
    StorageFullError,
    quoted,
)

FORMAT = "lean-memory bundle"
VERSION = 1
FIRST_ENTRY = "records.jsonl"
"""By which an export is told from any other zip."""
_MANIFEST = "manifest.json"
_LONGEST_LINE = 64 << 20
_LONGEST_MANIFEST = 1 << 20
_SHORT_LINE = 1 << 16
"""Bytes; what is made of a line of so many fits into a few megabytes, whatever stands in it."""
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
"""A string, also one that does not end, or where a member begins."""
_MOST_TOKENS = 1_000
"""Many times what the columns of a record need."""

Plain = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a bundle says of itself."""

    namespace: str
    schema_version: int
    at: int
    """When it was written, in epoch milliseconds."""
    records: int
    counts: Mapping[str, int]
    """The number of records of each kind."""
    sha256: str
    """Of `records.jsonl`."""


def write_bundle(
    path: Path, records: Iterable[Mapping[str, Plain]], *, namespace: str, schema_version: int, at: int, passphrase: str | None
) -> Manifest:
    """Write a bundle, whole or not at all; private to its owner, and durable when this returns. A file that is there is replaced."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with ExitStack() as open_files:
            file = open_files.enter_context(os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"))
            target: IO[bytes] = file
            if passphrase is not None:
                target = cast("IO[bytes]", open_files.enter_context(SealingWriter(file, passphrase)))
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
                manifest = _write_records(bundle, records, namespace=namespace, schema_version=schema_version, at=at)
                told = {"format": FORMAT, "version": VERSION, **asdict(manifest)}
                bundle.writestr(_MANIFEST, json.dumps(told, indent=1))
            target.flush()
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()
    return manifest


@contextmanager
def opened_bundle(path: Path, passphrase: str | None, *, room: int) -> Generator[tuple[Manifest, Iterator[Mapping[str, Any]]]]:
    """The manifest of a bundle and its records in order, which are known to be all and unchanged only when the last was read.

    Raises `DamagedFileError`, `NewerSchemaError` for another version of the format, `InvalidInputError` for a passphrase that is missing or wrong,
    `StorageFullError` where the records have more than `room` bytes, as of a small file they may have any number.
    """
    if path.exists() and not path.is_file():
        raise StorageError(f"{path} is no file, so it is no bundle. Nothing was changed.")
    with ExitStack() as open_files, _read_as_damaged(path):
        file = open_files.enter_context(path.open("rb"))
        bundle = open_files.enter_context(zipfile.ZipFile(_plain(file, path, passphrase)))
        manifest = _manifest(path, bundle)
        wanted = bundle.getinfo(FIRST_ENTRY).file_size
        if wanted > room:
            raise StorageFullError(
                f"{path} needs at least {wanted:,} bytes, and there is room for {room:,}. Nothing was changed. Free some space."
            )
        lines = open_files.enter_context(bundle.open(FIRST_ENTRY))
        yield manifest, _records(path, manifest, lines)


@contextmanager
def errors_in_words(path: Path) -> Generator[None]:
    """Turn what the system says of a file into a sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no {path}, or no folder for it; nothing was changed.") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInputError(f"“{quoted(str(path))}” is too long for the name of a file; nothing was changed.") from error
        raise StorageError(f"{path} cannot be used: {error.strerror or error}. Nothing was changed.") from error


def is_sealed(path: Path) -> bool:
    """Whether a file is a bundle under a passphrase."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _plain(file: IO[bytes], path: Path, passphrase: str | None) -> IO[bytes]:
    sealed = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    if not sealed:
        return file
    if passphrase is None:
        raise InvalidInputError(f"{path} is under a passphrase; give it. Nothing was changed.")
    return cast("IO[bytes]", io.BufferedReader(SealedReader(file, passphrase), 1 << 16))


def _write_records(
    bundle: zipfile.ZipFile, records: Iterable[Mapping[str, Plain]], *, namespace: str, schema_version: int, at: int
) -> Manifest:
    digest, counts = hashlib.sha256(), dict[str, int]()
    with bundle.open(FIRST_ENTRY, "w", force_zip64=True) as lines:
        for record in records:
            line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
            digest.update(line)
            lines.write(line)
            counts[str(record["kind"])] = counts.get(str(record["kind"]), 0) + 1
    return Manifest(
        namespace=namespace,
        schema_version=schema_version,
        at=at,
        records=sum(counts.values()),
        counts=counts,
        sha256=digest.hexdigest(),
    )


def _manifest(path: Path, bundle: zipfile.ZipFile) -> Manifest:
    if bundle.getinfo(_MANIFEST).file_size > _LONGEST_MANIFEST:
        raise ValueError("the manifest is too long")
    told = cast("dict[str, Any]", json.loads(bundle.read(_MANIFEST)))
    if told.pop("format") != FORMAT:
        raise ValueError("it is no bundle")
    if told.pop("version") != VERSION:
        raise NewerSchemaError(f"{path} is a bundle of another version, which this program cannot read. Update the program.")
    manifest = Manifest(**told)
    if not isinstance(cast("object", manifest.schema_version), int) or not isinstance(cast("object", manifest.namespace), str):
        raise TypeError("the manifest does not say what it must")
    return manifest


def _records(path: Path, manifest: Manifest, lines: IO[bytes]) -> Iterator[Mapping[str, Any]]:
    digest, count = hashlib.sha256(), 0
    with _read_as_damaged(path):
        while line := lines.readline(_LONGEST_LINE):
            digest.update(line)
            count += 1
            if len(line) > _SHORT_LINE and not _is_flat(line):
                raise ValueError("a record holds other things than values")
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("a record is no object")
            yield cast("dict[str, Any]", record)
        if count != manifest.records or digest.hexdigest() != manifest.sha256:
            raise ValueError("the records are not those of the manifest")


def _is_flat(line: bytes) -> bool:
    """Whether a line can be a record: one object of a few members and nothing nested, of which many times its size in memory would be made."""
    opened = 0
    for count, token in enumerate(_TOKEN.finditer(line)):
        opened += token[0] in {b"[", b"{"}
        if opened > 1 or count > _MOST_TOKENS:
            return False
    return True


@contextmanager
def _read_as_damaged(path: Path) -> Generator[None]:
    """What goes wrong while a bundle is read, apart from what the reader itself says, is that it is damaged."""
    try:
        yield
    except LeanMemoryError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, NotImplementedError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged, not whole, or no bundle ({error}). Nothing of it was used.") from error
