"""Packs of the packages that run larger models, one for each system and Python: what `lean-memory models packages FILE` takes in.

They hold what `requirements/models/` locks beyond what the program itself brings, from wheels with their digests, as it lies in an environment.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

from lean_memory_installers.assembling import EARLIEST, version_of
from lean_memory_installers.fetching import fetch_wheels, install_wheels
from lean_memory_installers.locked import Locked, read_locked
from lean_memory_installers.targets import LINUX, MACOS, WINDOWS, Target

PACKS = ((LINUX, "3.11"), (WINDOWS, "3.13"), (MACOS, "3.13"))
"""For which systems and Pythons there are lists."""
NOTE = "pack.json"


def build_all(*, source: Path, cache: Path, out: Path) -> list[Path]:
    """Every pack, in `out`. Raises `OSError`, `ValueError` and `subprocess.CalledProcessError`."""
    return [build_pack(target, python, source=source, cache=cache, out=out) for target, python in PACKS]


def build_pack(target: Target, python: str, *, source: Path, cache: Path, out: Path) -> Path:
    """The pack for one system and Python in the folder `out`, the same bytes each time. Raises like `build_all`."""
    locked = beyond_the_program(target, python, source)
    wheels = cache / target.name / f"models-{python}"
    fetch_wheels(locked, target, python, wheels)
    version = version_of(source)
    pack = out / f"Lean-Memory-{version}-models-{target.name}-python{python}.zip"
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        folder = Path(scratch, "packages")
        install_wheels(locked, wheels, target, python, folder)
        write(pack, folder, {"version": version, "target": target.name, "python": python})
    return pack


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
