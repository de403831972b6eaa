"""The setup for Windows, as far as it can be looked at without Windows: what it unpacks, what it starts, and what it leads to."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from lean_memory_installers.assembling import SETUP
from lean_memory_installers.sbom import bill_of_materials
from lean_memory_installers.windows import (
    EMBEDDABLE_SHA256,
    EMBEDDABLE_VERSION,
    INTERPRETER,
    extraction,
    official_python,
    packed,
    program,
    unpack,
)
from lean_memory_setup.payload import PACKS, REQUIREMENTS, Payload
from lean_memory_setup.windows import PACKAGES, PACKED, PROGRAMS, PYTHON, Embedded, Junction, LinkedCopy, link_in

SCRIPT = Path(__file__).parents[3] / "installers" / "windows" / "setup.nsi"


def payload_in(folder: Path) -> Payload:
    (folder / PYTHON).mkdir(parents=True)
    for name in ("python.exe", "python313.dll", "python313._pth", "vcruntime140.dll"):
        (folder / PYTHON / name).write_text(name)
    (folder / PROGRAMS).mkdir()
    (folder / PROGRAMS / "lean-memory-mcp.exe").write_text("starts")
    with zipfile.ZipFile(folder / PACKED, "w") as held:
        held.writestr("lean_memory/__init__.py", "")
        held.writestr("msvcp140.dll", "runtime")
        held.writestr("vcruntime140.dll", "another")
    return Payload(folder=folder, version="1.0", target="windows-x86_64", pythons=("3.13",), uv="uv.exe", files=(), digest="0" * 64)


def refusing(_source: str, _target: str) -> None:
    raise OSError("no junctions here")


def test_an_environment_is_the_python_of_the_payload_with_the_packages_in_it(tmp_path: Path) -> None:
    made = tmp_path / "envs" / "1.0"
    made.parent.mkdir()
    Embedded().make(payload_in(tmp_path / "payload"), made, tmp_path / "env")
    assert (made / PACKAGES / "lean_memory" / "__init__.py").exists()
    assert (made / "python313._pth").read_bytes() == b"python313.zip\r\n.\r\nLib\\site-packages\r\nimport site\r\n"
    assert (made / "lean-memory-mcp.exe").exists(), "assistants start it beside the interpreter"
    assert "realpath" in (made / PACKAGES / "lean_memory_own.pth").read_text(), "what runs keeps to its own packages when the link moves"


def test_the_runtime_of_c_lies_beside_the_interpreter_and_replaces_nothing_of_its_own(tmp_path: Path) -> None:
    made = tmp_path / "envs" / "1.0"
    made.parent.mkdir()
    Embedded().make(payload_in(tmp_path / "payload"), made, tmp_path / "env")
    assert (made / "msvcp140.dll").read_text() == "runtime"
    assert (made / "vcruntime140.dll").read_text() == "vcruntime140.dll"


def test_where_there_are_no_junctions_the_link_is_a_folder_with_the_same_files(tmp_path: Path) -> None:
    link = link_in(tmp_path / "env", SimpleNamespace(CreateJunction=refusing))
    assert isinstance(link, LinkedCopy)
    for name in ("old", "new"):
        (tmp_path / "envs" / name).mkdir(parents=True)
        (tmp_path / "envs" / name / "python.exe").write_text(name)
        link.lead_to(tmp_path / "envs" / name)
        assert (link.path / "python.exe").read_text() == name
        assert link.target() == tmp_path / "envs" / name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["env", "env.json", "envs"]
    link.remove()
    assert link.target() is None
    assert (tmp_path / "envs" / "new" / "python.exe").exists()


def test_a_link_that_cannot_be_replaced_leads_where_it_did(tmp_path: Path) -> None:
    link = LinkedCopy(path=tmp_path / "env")
    (tmp_path / "envs" / "old").mkdir(parents=True)
    link.lead_to(tmp_path / "envs" / "old")
    with pytest.raises(OSError, match="missing"):
        link.lead_to(tmp_path / "envs" / "missing")
    assert link.target() == tmp_path / "envs" / "old"


def test_a_junction_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    # A symbolic link stands for the junction, which Linux lacks.
    link = link_in(tmp_path / "env", SimpleNamespace(CreateJunction=lambda source, target: Path(target).symlink_to(source)))
    assert isinstance(link, Junction)
    assert link.target() is None
    for name in ("old", "new"):
        (tmp_path / "envs" / name).mkdir(parents=True)
        link.lead_to(tmp_path / "envs" / name)
        assert link.target() == tmp_path / "envs" / name
    link.remove()
    assert sorted(path.name for path in (tmp_path / "envs").iterdir()) == ["new", "old"]
    assert not link.path.exists()


def test_a_program_finds_the_interpreter_beside_itself_wherever_it_is_put() -> None:
    held = program(b"MZ...", "lean_memory_bridge.stdio", "<launcher_dir>\\python.exe")
    assert held.startswith(b"MZ")
    assert b"#!<launcher_dir>\\python.exe\r\n" in held
    with zipfile.ZipFile(io.BytesIO(held)) as inside:
        assert "from lean_memory_bridge.stdio import main" in inside.read("__main__.py").decode()


@pytest.mark.parametrize("said", [b"", b"where they lie"])
def test_what_is_shipped_says_where_packs_lie_where_the_release_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr("lean_memory_installers.windows.install_wheels", lambda payload, target: None)
    # What makes installers is not here where they are only tested.
    monkeypatch.setattr("lean_memory_installers.windows.files", lambda name: tmp_path)
    (tmp_path / "t64.exe").write_bytes(b"MZ")
    wheels, python = tmp_path / "wheels", tmp_path / "python.zip"
    wheels.mkdir()
    for name in (SETUP, REQUIREMENTS, *([PACKS] if said else [])):
        (wheels / name).write_bytes(said or b"a file")
    with zipfile.ZipFile(python, "w") as held:
        held.writestr("python.exe", "MZ")
    made = Payload(folder=wheels, version="1.0", target="windows-x86_64", pythons=("3.13",), uv="uv.exe", files=(), digest="0" * 64)
    shipped = unpack(made, python, tmp_path / "shipped")
    shipped.verify()
    assert [(tmp_path / "shipped" / held.path).read_bytes() for held in shipped.files if held.path == PACKS] == ([said] if said else [])


def test_what_is_packed_is_the_same_bytes_each_time_whatever_the_files_dates(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for file in ("a.py", "b.py") if name == "one" else ("b.py", "a.py"):
            (tmp_path / name / file).write_text(file)
    assert packed(tmp_path / "one") == packed(tmp_path / "two")


def test_every_file_of_the_payload_is_unpacked_in_an_order_that_does_not_depend_on_the_disk(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / "python").mkdir(exist_ok=True)
        (tmp_path / "python" / name).touch()
    (tmp_path / "payload.json").touch()
    assert list(extraction(tmp_path)) == [
        'SetOutPath "$PLUGINSDIR\\payload"',
        f'File "{tmp_path / "payload.json"}"',
        'SetOutPath "$PLUGINSDIR\\payload\\python"',
        f'File "{tmp_path / "python" / "a"}"',
        f'File "{tmp_path / "python" / "b"}"',
    ]


def test_another_python_than_the_one_that_is_meant_is_refused_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not the file"):
        official_python(tmp_path, lambda _: b"something else")
    assert list(tmp_path.iterdir()) == []


def test_the_bill_of_materials_names_the_interpreter_that_comes_along(tmp_path: Path) -> None:
    payload = payload_in(tmp_path)
    bill = json.loads(bill_of_materials(payload, 1_700_000_000, INTERPRETER))
    [held] = bill["components"]
    assert (held["name"], held["version"], held["hashes"][0]["content"]) == ("cpython", EMBEDDABLE_VERSION, EMBEDDABLE_SHA256)
    assert bill["dependencies"][0]["dependsOn"] == [held["bom-ref"]]
    assert json.loads(bill_of_materials(payload, 1_700_000_000))["components"] == []


def test_the_setup_asks_for_no_administrator_and_leaves_memories_unless_told() -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    assert "RequestExecutionLevel user" in script
    assert "HKLM" not in script
    assert script.count("--forget-memories") == 2, "with the switch and with the tick, and never otherwise"
    assert 'RMDir /r "$INSTDIR"' not in script, "the person may have chosen a folder that holds other things"
