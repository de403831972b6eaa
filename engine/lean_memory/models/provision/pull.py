"""Bringing every file of a tier into a folder of models: what is there is checked, what is missing or damaged is fetched."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lean_memory.clock import system_clock
from lean_memory.errors import ModelFetchError
from lean_memory.models.installed import FileRecord, ModelRecord, Voucher, model_folder, read_record, write_record
from lean_memory.models.manifest import ModelFile, Published
from lean_memory.models.provision import wording
from lean_memory.models.provision.source import BLOCK, Source, Wanted, translated
from lean_memory.models.provision.watch import Phase, Watch

_PART = ".part"
RESERVE = 100_000_000
"""Bytes that a pull leaves free on the disk, so that the memory itself can go on."""
_ROUGHLY = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What a pull did."""

    fetched: tuple[str, ...]
    """The files that came, as people call them."""
    damaged: tuple[str, ...]
    """Those of them that had been there and were damaged or cut short."""


def bring(models: Path, wanted: Sequence[tuple[Published, Source]], watch: Watch) -> Pulled:
    """Have every file of what is wanted, each from its source, lie whole in `models`.

    Raises `ModelFetchError` with a sentence, and `CancelledError`; whole files, and the beginnings of others, stay for the next time.
    """
    found = list(_look(models, wanted, watch))
    lacking = [each for each in found if not each.sound]
    _check_room(models, lacking)
    watch.begin(Phase.FETCHING, sum(each.size for each in found), done=sum(each.size for each in found if each.sound))
    for each in lacking:
        watch.turn_to(each.spec.model_id, each.file.path)
        _fetch(models, each, watch)
    for spec, source in wanted:
        _complete(models, spec, source.origin)
    return Pulled(
        fetched=tuple(wording.named(each.spec, each.file) for each in lacking),
        damaged=tuple(wording.named(each.spec, each.file) for each in lacking if each.damaged),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A wanted file as it was found."""

    spec: Published
    source: Source
    file: ModelFile
    size: int
    """Bytes that it has, or will have as far as is known."""
    sound: bool
    damaged: bool = False
    begun: int = 0
    """Bytes of its beginning that are there."""


def _look(models: Path, wanted: Sequence[tuple[Published, Source]], watch: Watch) -> Iterator[_Found]:
    """How every file stands. What is damaged is put aside as a beginning or thrown away, and no longer counts as there."""
    places = [(model_folder(models, spec), spec, file, source) for spec, source in wanted for file in spec.files]
    watch.begin(Phase.CHECKING, sum(size_of(folder / file.path) for folder, _, file, _ in places))
    for folder, spec, file, source in places:
        watch.turn_to(spec.model_id, file.path)
        yield _look_at(folder, spec, file, source, watch)


def _look_at(folder: Path, spec: Published, file: ModelFile, source: Source, watch: Watch) -> _Found:
    record, path = read_record(folder), folder / file.path
    known = record.files.get(file.path)
    if path.is_file():
        expected = file.sha256 or (known.sha256 if known else None)
        length = file.size if not file.size_is_estimate else known.size if known else None
        if expected is not None and length in (None, size_of(path)) and _sum(path, watch) == expected:
            if known is None or (known.size, known.sha256) != (size_of(path), expected):
                # What was written down was lost or harmed; the published sum stands for it.
                kept = FileRecord(size=size_of(path), sha256=expected, voucher=Voucher.MANIFEST)
                write_record(folder, spec, replace(record.having(file.path, kept), completed_at=None))
            return _Found(spec=spec, file=file, source=source, size=size_of(path), sound=True)
        write_record(folder, spec, replace(record, completed_at=None))
        _put_aside(path, length)
        return _Found(
            spec=spec, file=file, source=source, size=file.size, sound=False, damaged=expected is not None, begun=size_of(part_of(path))
        )
    if file.optional and file.path in record.absent:
        return _Found(spec=spec, file=file, source=source, size=0, sound=True)
    return _Found(spec=spec, file=file, source=source, size=file.size, sound=False, begun=size_of(part_of(path)))


def _sum(path: Path, watch: Watch) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as content:
            while block := content.read(BLOCK):
                digest.update(block)
                watch.found(len(block))
    except OSError:
        return ""
    return digest.hexdigest()


def _put_aside(path: Path, length: int | None) -> None:
    """A file cut short may be the right beginning, and the source will tell; one that is whole and wrong is worth nothing."""
    try:
        if length is not None and size_of(path) >= length:
            path.unlink()
        else:
            path.replace(part_of(path))
    except OSError as error:
        raise translated(error, path) from error


def _check_room(models: Path, lacking: list[_Found]) -> None:
    needed = sum(max(0, round(each.file.size * (_ROUGHLY if each.file.size_is_estimate else 1)) - each.begun) for each in lacking)
    place = next(folder for folder in (models, *models.parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    if needed and free < needed + RESERVE:
        raise ModelFetchError(wording.no_room(needed + RESERVE, free, str(models)))


def _fetch(models: Path, each: _Found, watch: Watch) -> None:
    folder, path = model_folder(models, each.spec), model_folder(models, each.spec) / each.file.path
    before = read_record(folder)
    record = replace(before, completed_at=None, origin=each.source.origin)
    if record != before:
        write_record(folder, each.spec, record)
    came = each.source.fetch(_wanted(each, record), part_of(path), watch)
    if came is None:
        watch.learned(-each.file.size)
        part_of(path).unlink(missing_ok=True)
    else:
        _put_in_place(part_of(path), path)
    write_record(folder, each.spec, record.having(each.file.path, came))


def _wanted(each: _Found, record: ModelRecord) -> Wanted:
    """A file must be as published, or else as it was when it first came."""
    known = record.files.get(each.file.path)
    if each.file.sha256 is None and known is not None:
        return Wanted(spec=each.spec, file=each.file, sha256=known.sha256, voucher=known.voucher)
    return Wanted(spec=each.spec, file=each.file, sha256=each.file.sha256, voucher=Voucher.MANIFEST)


def _put_in_place(part: Path, path: Path) -> None:
    try:
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise translated(error, path) from error


def _complete(models: Path, spec: Published, origin: str) -> None:
    folder = model_folder(models, spec)
    record = read_record(folder)
    if record.completed_at is None:
        write_record(folder, spec, replace(record, completed_at=system_clock(), origin=origin))


def part_of(path: Path) -> Path:
    """Where the beginning of a file lies that is on its way."""
    return path.with_name(path.name + _PART)


def size_of(path: Path) -> int:
    """The bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
