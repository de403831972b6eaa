"""The packs of what runs larger models: what is in them fits the program beside which they are used."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path

import pytest

from lean_memory.models import packages
from lean_memory.models.offered import Offer, offered as read_offer
from lean_memory_installers.__main__ import main, write_sums
from lean_memory_installers.fetching import drop_programs
from lean_memory_installers.locked import read_locked
from lean_memory_installers.models_pack import NOTE, PACKS, Made, beyond_the_program, offered, write
from lean_memory_installers.sbom import bill_of_wheels
from lean_memory_installers.targets import LINUX, WINDOWS, Target
from lean_memory_setup.payload import digest_of
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


def test_its_bill_of_materials_names_every_wheel_with_licence_and_digest(tmp_path: Path) -> None:
    wheels = [wheel(tmp_path, "torch", "2.13.0+cpu", "License-Expression: BSD-3-Clause"), wheel(tmp_path, "idna", "3.10", "License: BSD")]
    bill = bill_of_wheels("lean-memory-models", "0.1.0", wheels, 1_700_000_000)
    assert bill == bill_of_wheels("lean-memory-models", "0.1.0", wheels[::-1], 1_700_000_000)
    said = json.loads(bill)
    assert (said["specVersion"], said["metadata"]["component"]["version"]) == ("1.6", "0.1.0")
    told = {(one["name"], one["version"], one["hashes"][0]["content"]) for one in said["components"]}
    assert told == {("torch", "2.13.0+cpu", digest_of(wheels[0])), ("idna", "3.10", digest_of(wheels[1]))}
    assert said["dependencies"][0]["dependsOn"] == [wheels[1].name, wheels[0].name]
    assert [one["licenses"] for one in said["components"]] == [[{"license": {"name": "BSD"}}], [{"expression": "BSD-3-Clause"}]]


def test_the_sums_name_what_was_made_before_beside_what_is_made_now(tmp_path: Path) -> None:
    for name, held in (("setup.exe", "setup"), ("pack.zip", "pack")):
        (tmp_path / name).write_text(held)
        write_sums(tmp_path, [tmp_path / name])
    (tmp_path / "setup.exe").write_text("another setup")
    write_sums(tmp_path, [tmp_path / "pack.zip"])
    sums = (tmp_path / "SHA256SUMS").read_text()
    assert sums == "".join(f"{digest_of(tmp_path / name)}  {name}\n" for name in ("pack.zip", "setup.exe"))
    (tmp_path / "setup.exe").unlink()
    write_sums(tmp_path, [])
    assert "setup.exe" not in (tmp_path / "SHA256SUMS").read_text()


def test_an_installed_program_reads_what_the_release_says_of_its_packs(tmp_path: Path) -> None:
    target = dataclasses.replace(LINUX, name=TARGET)
    pack = tmp_path / "pack.zip"
    pack.write_bytes(b"the pack")
    made = [
        Made(target=one, python=python, file=pack, bill=tmp_path / "pack.cdx.json")
        for one, python in ((WINDOWS, "3.13"), (target, "2.7"), (target, PYTHON))
    ]
    (tmp_path / "packs.json").write_bytes(offered(made, target, "0.1.0", "http://127.0.0.1:9/release"))
    read = read_offer(tmp_path)
    assert read == Offer(version="0.1.0", address="http://127.0.0.1:9/release", name="pack.zip", bytes=8, sha256=digest_of(pack))
    # Those of other systems are no business of this one.
    assert len(json.loads((tmp_path / "packs.json").read_bytes())["packs"]) == 2


def test_an_address_without_packs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["deb", "--packs-at", "http://127.0.0.1:9", "--out", str(tmp_path)])
    assert "--packs-at wants the packs made along" in capsys.readouterr().err


def test_nothing_in_it_depends_on_the_python_that_made_it(tmp_path: Path) -> None:
    made: list[dict[str, bytes]] = []
    for python in ("one", "another"):
        folder = tmp_path / python
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "idna").write_text(f"#!/{python}/bin/python")
        (folder / "idna-3.dist-info").mkdir()
        listed = f"../../bin/idna,sha256={python},9\r\n../../Scripts/x.dll,,\r\nbin/kept.py,,\r\nidna/__init__.py,,\r\n"
        (folder / "idna-3.dist-info" / "RECORD").write_bytes(listed.encode())
        drop_programs(folder)
        made.append({file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert made == 2 * [{"RECORD": b"bin/kept.py,,\r\nidna/__init__.py,,\r\n"}]


def wheel(folder: Path, name: str, version: str, licence: str) -> Path:
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as into:
        into.writestr(f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{licence}\n")
    return file


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
