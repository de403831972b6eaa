"""Which models lie in the data root, what is known of their files, and which tier is in use. Asks no network for anything.

A model lies in `<data root>/models/<id with / as -->/<revision>/`; beside that folder, `<revision>.json` says of every file that came whole
how long it is, its SHA-256, and who vouches for that sum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import cast

from lean_memory.models.manifest import BUILTIN, ModelSpec, Published, TierSpec
from lean_memory.private_files import private_folder, replace_private

FOLDER = "models"
CHOICE_FILE = "models.json"


class Voucher(StrEnum):
    """Who says that a file's sum is right."""

    MANIFEST = "manifest"
    """It is the published one in our list."""
    HUB = "hub"
    """The hub named it when the file was first fetched."""
    FIRST_COPY = "first copy"
    """Nobody: it is that of the first copy, and only tells whether the file has changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """What is known of a file that came whole."""

    size: int
    sha256: str
    voucher: Voucher


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """What is known of a model's files. `absent` are those that its repository does not have."""

    files: Mapping[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    absent: tuple[str, ...] = ()
    origin: str = ""
    """The address or the folder from which its files came last."""
    completed_at: int | None = None
    """When all of it was there, in epoch milliseconds; `None` before that."""

    def having(self, path: str, known: FileRecord | None) -> ModelRecord:
        """The same with what is now known of one file; `None` says that the repository lacks it."""
        files = {name: file for name, file in self.files.items() if name != path}
        absent = tuple(name for name in self.absent if name != path)
        if known is None:
            return replace(self, files=files, absent=(*absent, path))
        return replace(self, files={**files, path: known}, absent=absent)


def models_folder(root: Path) -> Path:
    """Where all models of a data root lie."""
    return root / FOLDER


def model_folder(models: Path, spec: Published) -> Path:
    """Where the files of a model lie under a folder of models, be it that of a data root or a bundle."""
    return models / spec.model_id.replace("/", "--") / spec.revision


def installed(root: Path, spec: ModelSpec) -> Path | None:
    """The folder of a model that is there whole; looks at names and lengths, not at contents."""
    folder = model_folder(models_folder(root), spec)
    record = read_record(folder)
    if record.completed_at is None:
        return None
    whole = all(_there(folder, file.path, record) or (file.optional and file.path in record.absent) for file in spec.files)
    return folder if whole else None


def tier_installed(root: Path, tier: TierSpec) -> bool:
    """Whether every model of the tier is there whole."""
    return all(installed(root, spec) is not None for spec in tier.models.values())


def tier_in_use(root: Path) -> str:
    """The name of the tier that the person chose; `builtin` until then. Whether it is there is for `tier_installed` to say."""
    name = _read(root / CHOICE_FILE).get("tier")
    return name if isinstance(name, str) else BUILTIN


def choose_tier(root: Path, name: str) -> None:
    """Write down which tier to use."""
    write_privately(root / CHOICE_FILE, {"tier": name})


def read_record(folder: Path) -> ModelRecord:
    """What is written beside a model's folder; an empty record where there is none that can be read."""
    written = _read(_record_path(folder))
    try:
        files = cast("Mapping[str, Mapping[str, object]]", written.get("files") or {})
        completed_at = written.get("completed_at")
        return ModelRecord(
            files={
                path: FileRecord(size=int(cast("int", file["size"])), sha256=str(file["sha256"]), voucher=Voucher(str(file["voucher"])))
                for path, file in files.items()
            },
            absent=tuple(str(path) for path in cast("list[object]", written.get("absent") or [])),
            origin=str(written.get("origin") or ""),
            completed_at=completed_at if isinstance(completed_at, int) else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return ModelRecord()


def write_record(folder: Path, spec: Published, record: ModelRecord) -> None:
    """Put the record beside the folder, whole or not at all."""
    write_privately(_record_path(folder), {"model": spec.model_id, "revision": spec.revision, "licence": spec.licence, **asdict(record)})


def remove_record(folder: Path) -> None:
    """Take the record away, before the files."""
    _record_path(folder).unlink(missing_ok=True)


def write_privately(path: Path, value: Mapping[str, object]) -> None:
    """Put a JSON file in place, whole or not at all, for its owner's eyes only."""
    private_folder(path.parent)
    replace_private(path, json.dumps(value, indent=1))


def _there(folder: Path, path: str, record: ModelRecord) -> bool:
    known = record.files.get(path)
    try:
        return known is not None and (folder / path).stat().st_size == known.size
    except OSError:
        return False


def _record_path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _read(path: Path) -> Mapping[str, object]:
    try:
        held = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", held) if isinstance(held, dict) else {}
