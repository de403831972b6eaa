"""The packs of what runs larger models: what is in them fits the program beside which they are used."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from lean_memory.models import packages
from lean_memory_installers.locked import read_locked
from lean_memory_installers.models_pack import NOTE, PACKS, beyond_the_program, write
from lean_memory_installers.targets import Target
from support.model_pack import PYTHON, TARGET

PROJECT = Path(__file__).parents[3]
EACH = pytest.mark.parametrize(("target", "python"), PACKS, ids=[target.name for target, _ in PACKS])


@EACH
def test_a_pack_has_what_runs_larger_models_and_nothing_that_the_program_has(target: Target, python: str) -> None:
    held = {one.name: one for one in beyond_the_program(target, python, PROJECT)}
    own = {one.name for one in read_locked(PROJECT / "requirements" / "installers.txt") if one.is_for(target, python)}
    assert {name.replace("_", "-") for name in packages.NAMES} <= set(held)
    assert not own & set(held)
    assert python in target.pythons
    assert all(one.hashes for one in held.values())
    assert not [name for name in held if name.startswith("nvidia-")]


@EACH
def test_it_was_locked_beside_the_versions_that_the_program_brings(target: Target, python: str) -> None:
    own = {one.name: one.version for one in read_locked(PROJECT / "requirements" / "installers.txt") if one.is_for(target, python)}
    locked = read_locked(PROJECT / "requirements" / "models" / f"{target.name}-python{python}.txt")
    assert {one.name: one.version for one in locked if one.name in own and own[one.name] != one.version} == {}


def test_a_pack_is_the_same_each_time_and_is_taken_in(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    for name in packages.NAMES:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("SAID = 1\n")
    said = {"version": "0.1.0", "target": TARGET, "python": PYTHON}
    for name in ("one.zip", "two.zip"):
        write(tmp_path / name, folder, said)
        (folder / "torch" / "__init__.py").touch()
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as held:
        assert held.namelist()[0] == NOTE == packages.NOTE
    packages.take_in(tmp_path / "root", tmp_path / "one.zip")
    assert packages.lacking(tmp_path / "root") == ()
