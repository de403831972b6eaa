"""The packages that run larger models: taken in from a pack whole or not at all, and told of in words that fit how the program came here."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.offered import Offer, offered
from lean_memory.models.packages import NAMES, can_run, lacking, packages_folder, remedy, remove, take_in
from support.model_pack import PYTHON, TARGET, write_pack

MISSING_HERE = tuple(name for name in NAMES if find_spec(name) is None)


def test_what_a_pack_brings_is_imported_by_whoever_is_let(root: Path, tmp_path: Path) -> None:
    assert lacking(root) == MISSING_HERE
    done: list[float] = []
    pack = take_in(root, write_pack(tmp_path / "pack.zip"), report=done.append)
    assert (pack.version, pack.target, pack.python) == ("0.1.0", TARGET, PYTHON)
    assert (lacking(root), can_run(root), done[-1]) == ((), True, 1.0)
    asked = f"from pathlib import Path; from lean_memory.models.packages import let_import; let_import(Path({str(root)!r})); "
    told = subprocess.run(
        [sys.executable, "-c", f"{asked}import sys; print(sys.path[-1])"], capture_output=True, text=True, timeout=60, check=True
    )
    # Last, so that what the program itself has is never another one.
    assert told.stdout.strip() == str(packages_folder(root))
    assert remove(root)
    assert not remove(root)
    assert lacking(root) == MISSING_HERE


def test_an_earlier_pack_is_replaced(root: Path, tmp_path: Path) -> None:
    take_in(root, write_pack(tmp_path / "old.zip", more="old.py"))
    take_in(root, write_pack(tmp_path / "new.zip", more="new.py"))
    assert sorted(path.name for path in packages_folder(root).iterdir() if path.is_file()) == ["new.py", "pack.json"]
    assert [path.name for path in packages_folder(root).parent.iterdir()] == [packages_folder(root).name]


def test_an_earlier_pack_stays_where_the_new_one_cannot_take_its_place(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_in(root, write_pack(tmp_path / "old.zip", more="old.py"))
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.name.endswith("-new"):
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(ModelFetchError):
        take_in(root, write_pack(tmp_path / "new.zip", more="new.py"))
    assert (packages_folder(root) / "old.py").is_file()


def test_a_pack_that_is_not_there_is_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"There is no file .*none\.zip"):
        take_in(root, tmp_path / "none.zip")


@pytest.mark.parametrize(("target", "python"), [("windows-arm64", PYTHON), (TARGET, "3.9")])
def test_a_pack_for_another_computer_or_python_is_refused_and_names_both(root: Path, tmp_path: Path, target: str, python: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"is for {target} and Python {python}; this is {TARGET} and Python {PYTHON}"):
        take_in(root, write_pack(tmp_path / "pack.zip", target=target, python=python))
    assert lacking(root) == MISSING_HERE


def test_what_is_damaged_cut_off_or_no_pack_changes_nothing(root: Path, tmp_path: Path) -> None:
    take_in(root, write_pack(tmp_path / "sound.zip"))
    held = (tmp_path / "sound.zip").read_bytes()
    middle = held.index(b"the torch of a pack")
    broken = {
        "flipped.zip": held[:middle] + b"THE" + held[middle + 3 :],
        "cut.zip": held[: len(held) // 2],
        "other.zip": b"PK\x05\x06" + bytes(18),
        "text.zip": b"no archive",
    }
    for name, written in broken.items():
        (tmp_path / name).write_bytes(written)
        with pytest.raises(InvalidInputError, match=name):
            take_in(root, tmp_path / name)
    with pytest.raises(InvalidInputError, match="not one of ours"):
        take_in(root, write_pack(tmp_path / "climbs.zip", more="../climbed.py"))
    assert lacking(root) == ()
    assert [path.name for path in packages_folder(root).parent.iterdir()] == [packages_folder(root).name]
    assert not list(root.rglob("climbed.py"))


def test_where_there_is_no_room_it_is_said_before_anything_is_unpacked(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly_full(path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=1_000)

    monkeypatch.setattr("lean_memory.models.packages.shutil.disk_usage", nearly_full)
    with pytest.raises(ModelFetchError, match="too little room"):
        take_in(root, write_pack(tmp_path / "pack.zip"))
    assert lacking(root) == MISSING_HERE


def test_only_a_program_that_pip_put_here_is_told_to_use_pip(tmp_path: Path) -> None:
    assert remedy(tmp_path).startswith("pip install")
    (tmp_path / "installed.json").write_text("{}")
    told = remedy(tmp_path)
    assert "pip" not in told
    assert told.startswith("lean-memory models packages FILE")
    assert f"-models-{TARGET}-python{PYTHON}.zip" in told


def told_of(prefix: Path, **other: object) -> Offer | None:
    """What a program in `prefix` is offered whose release says this, or something else in a place of it."""
    pack = {"file": "pack.zip", "target": TARGET, "python": PYTHON, "bytes": 5, "sha256": "0" * 64, **other}
    written = {"version": "0.1.0", "address": other.pop("address", "http://127.0.0.1:9/release/"), "packs": [pack]}
    (prefix / "packs.json").write_text(json.dumps(written))
    return offered(prefix)


def test_a_program_whose_release_says_where_a_pack_lies_fetches_it(tmp_path: Path) -> None:
    assert offered(tmp_path) is None
    offer = told_of(tmp_path)
    assert offer == Offer(version="0.1.0", address="http://127.0.0.1:9/release", name="pack.zip", bytes=5, sha256="0" * 64)
    assert remedy(tmp_path) == "lean-memory models packages"


@pytest.mark.parametrize(
    "other",
    [
        {"target": "other-x86_64"},
        {"python": "2.7"},
        {"bytes": "many"},
        {"bytes": 0},
        {"sha256": "0"},
        {"file": "../pack.zip"},
        {"file": "/pack.zip"},
        {"address": "file:///pack"},
        {"address": 5},
    ],
)
def test_a_pack_for_another_computer_or_a_note_that_no_release_wrote_offers_nothing(tmp_path: Path, other: dict[str, object]) -> None:
    assert told_of(tmp_path, **other) is None


@pytest.mark.parametrize("written", [b"", b"[]", b"{}", b"\xff", b'{"packs": 5}', b'{"packs": [5]}'])
def test_a_note_that_is_damaged_offers_nothing(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "packs.json").write_bytes(written)
    assert offered(tmp_path) is None
