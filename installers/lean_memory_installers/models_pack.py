"""Packs of the packages that run larger models, one for each system and Python: what `lean-memory models packages FILE` takes in.

They hold what `requirements/models/` locks beyond what the program itself brings, from wheels with their digests, as it lies in an environment.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lean_memory_installers.assembling import EARLIEST, version_of
from lean_memory_installers.fetching import fetch_wheels, install_wheels
from lean_memory_installers.locked import Locked, read_locked
from lean_memory_installers.sbom import bill_of_wheels
from lean_memory_installers.targets import LINUX, MACOS, WINDOWS, Target
from lean_memory_setup.payload import digest_of

PACKS = ((LINUX, "3.11"), (WINDOWS, "3.13"), (MACOS, "3.13"))
"""For which systems and Pythons there are lists."""
NOTE = "pack.json"
_WHOLE = "lean-memory-models"
"""What a pack is called in its bill of materials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A pack for one system and Python: the file, and its bill of materials beside it."""

    target: Target
    python: str
    file: Path
    bill: Path


def build_all(*, source: Path, cache: Path, out: Path, epoch: int) -> list[Made]:
    """Every pack, in `out`. Raises `OSError`, `ValueError` and `subprocess.CalledProcessError`."""
    return [build_pack(target, python, source=source, cache=cache, out=out, epoch=epoch) for target, python in PACKS]


def build_pack(target: Target, python: str, *, source: Path, cache: Path, out: Path, epoch: int) -> Made:
    """The pack for one system and Python in the folder `out`, the same bytes each time; `epoch` as for `assemble`. Raises like `build_all`."""
    locked = beyond_the_program(target, python, source)
    folder = cache / target.name / f"models-{python}"
    wheels = fetch_wheels(locked, target, python, folder)
    version = version_of(source)
    name = f"Lean-Memory-{version}-models-{target.name}-python{python}"
    pack, bill = out / f"{name}.zip", out / f"{name}.cdx.json"
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        packages = Path(scratch, "packages")
        install_wheels(locked, folder, target, python, packages)
        write(pack, packages, {"version": version, "target": target.name, "python": python})
    bill.write_bytes(bill_of_wheels(_WHOLE, version, wheels, epoch))
    return Made(target=target, python=python, file=pack, bill=bill)


def offered(packs: Iterable[Made], target: Target, version: str, address: str) -> bytes:
    """What an installed program of `version` for `target` is told of the packs that lie below `address`; the same bytes each time."""
    told = [
        {
            "file": pack.file.name,
            "target": target.name,
            "python": pack.python,
            "bytes": pack.file.stat().st_size,
            "sha256": digest_of(pack.file),
        }
        for pack in packs
        if pack.target == target
    ]
    return json.dumps({"version": version, "address": address, "packs": told}, indent=1).encode() + b"\n"


def beyond_the_program(target: Target, python: str, source: Path) -> list[Locked]:
    """What is locked for larger models and not in the installers: the program's own comes first when both are there."""
    lists = source / "requirements"
    its_own = {one.name for one in read_locked(lists / "installers.txt") if one.is_for(target, python)}
    locked = read_locked(lists / "models" / f"{target.name}-python{python}.txt")
    return [one for one in locked if one.name not in its_own and one.is_for(target, python)]


def write(pack: Path, folder: Path, said: dict[str, str]) -> None:
    """Everything in `folder` as a pack that says `said` of itself, the same bytes each time. Raises `OSError`."""
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED) as into:
        into.writestr(zipfile.ZipInfo(NOTE, EARLIEST), json.dumps(said))
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            into.writestr(entry, file.read_bytes())
