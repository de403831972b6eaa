"""The setup program for Windows: a payload with a Python of its own, packed by NSIS (`makensis`), which runs on Linux."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from lean_memory_installers import fetching
from lean_memory_installers.assembling import EARLIEST, SETUP, assemble, listing
from lean_memory_installers.fetching import fetch_pinned
from lean_memory_installers.icons import write_ico
from lean_memory_installers.locked import read_locked
from lean_memory_installers.sbom import Interpreter
from lean_memory_installers.targets import WINDOWS
from lean_memory_setup.payload import FILE, PACKS, REQUIREMENTS, Payload, read_payload
from lean_memory_setup.windows import PACKED, PROGRAMS, PYTHON

EMBEDDABLE_VERSION = "3.13.12"
EMBEDDABLE_AT = f"https://www.python.org/ftp/python/{EMBEDDABLE_VERSION}/python-{EMBEDDABLE_VERSION}-embed-amd64.zip"
EMBEDDABLE_SHA256 = "76f238f606250c87c6beac75dccd35ee99070a13490555936abb6cb64ecce3d0"
"""Of the archive that python.org gives out, as three independent projects have it written down."""
INTERPRETER = Interpreter(version=EMBEDDABLE_VERSION, sha256=EMBEDDABLE_SHA256)
SIGN = "LM_SIGN_WINDOWS"
"""The variable with the command that signs, with `%1` for the file; without it nothing is signed."""
COMMANDS = "commands"
"""The folder of a payload with what may stand on a person's PATH: it finds our Python elsewhere and brings none along."""
_STARTED = {
    "lean-memory": "lean_memory_desktop.__main__",
    "lean-memory-mcp": "lean_memory_bridge.stdio",
    "lean-memory-maintain": "lean_memory.maintenance.cli",
}
_BESIDE = "<launcher_dir>\\python.exe"
_ELSEWHERE = "<launcher_dir>\\..\\env\\python.exe"


def build(*, source: Path, cache: Path, out: Path, epoch: int, packs: bytes = b"", python: Path | None = None, quick: bool = False) -> Path:
    """Make `Lean-Memory-VERSION-setup.exe` in the folder `out`; its path.

    `packs` as for `assemble`. `python` is an embeddable CPython to take instead of the official one, as a zip archive; what is given out takes the official one. `quick`
    packs it in less time and larger. Raises `OSError`, `ValueError` and `subprocess.CalledProcessError`.
    """
    archive = python or official_python(cache)
    wheels = assemble(WINDOWS, source=source, cache=cache, folder=cache / WINDOWS.name / "payload", epoch=epoch, packs=packs)
    unpacked = cache / WINDOWS.name / "unpacked"
    unpack(wheels, archive, unpacked)
    out.mkdir(parents=True, exist_ok=True)
    setup = out / f"Lean-Memory-{wheels.version}-setup.exe"
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        icon, lines = Path(scratch, "lean-memory.ico"), Path(scratch, "files.nsh")
        write_ico(icon)
        lines.write_text("\n".join(extraction(unpacked)) + "\n", encoding="utf-8")
        _make_setup(source, {"FILES": lines, "ICON": icon, "OUT": setup.absolute()}, wheels.version, epoch, quick=quick)
    return setup


def official_python(cache: Path, fetch: Callable[[str], bytes] | None = None) -> Path:
    """The embeddable CPython of python.org. Raises like `fetch_pinned`."""
    return fetch_pinned(cache, EMBEDDABLE_AT, EMBEDDABLE_SHA256, fetch)


def unpack(wheels: Payload, python: Path, folder: Path) -> Payload:
    """The payload that is shipped, in `folder`, made anew: a Python, the packages of `wheels` unpacked, and what is started from outside.

    They are unpacked here and not where they are installed: one program less that has to run there, and smaller once compressed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(python) as held:
        held.extractall(folder / PYTHON)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        install_wheels(wheels, Path(scratch))
        (folder / PACKED).write_bytes(packed(Path(scratch)))
    launcher = files("distlib").joinpath("t64.exe").read_bytes()
    for place, interpreter, names in ((PROGRAMS, _BESIDE, list(_STARTED)), (COMMANDS, _ELSEWHERE, ["lean-memory"])):
        (folder / place).mkdir()
        for name in names:
            (folder / place / f"{name}.exe").write_bytes(program(launcher, _STARTED[name], interpreter))
    for name in (SETUP, REQUIREMENTS, PACKS):
        if (wheels.folder / name).exists():
            shutil.copyfile(wheels.folder / name, folder / name)
    (folder / FILE).write_text(listing(WINDOWS, wheels.version, folder), encoding="utf-8")
    return read_payload(folder)


def install_wheels(payload: Payload, target: Path) -> None:
    """Install the wheels of a payload for Windows into the empty folder `target`, each checked against its digest. Raises `subprocess.CalledProcessError`."""
    fetching.install_wheels(read_locked(payload.requirements), payload.wheels, WINDOWS, WINDOWS.pythons[0], target)


def packed(folder: Path) -> bytes:
    """Everything in `folder` as an archive, the same bytes each time; not compressed, as what it is packed into does that better."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as into:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                into.writestr(zipfile.ZipInfo(file.relative_to(folder).as_posix(), EARLIEST), file.read_bytes())
    return held.getvalue()


def program(launcher: bytes, module: str, interpreter: str) -> bytes:
    """A program for the console that runs `main` of a module: distlib's launcher, which pip uses as well, and what it is to start."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as into:
        into.writestr(zipfile.ZipInfo("__main__.py", EARLIEST), f"import sys\nfrom {module} import main\nsys.exit(main())\n")
    return launcher + f"#!{interpreter}\r\n".encode() + held.getvalue()


def extraction(payload: Path) -> Iterator[str]:
    """The lines of NSIS that unpack a payload, in an order that does not depend on the disk."""
    folders = sorted({file.parent.relative_to(payload) for file in payload.rglob("*") if file.is_file()})
    for folder in folders:
        target = "\\".join(("$PLUGINSDIR", "payload", *folder.parts))
        yield f'SetOutPath "{target}"'
        for file in sorted((payload / folder).iterdir()):
            if file.is_file():
                yield f'File "{file.absolute()}"'


def _make_setup(source: Path, named: dict[str, Path], version: str, epoch: int, *, quick: bool) -> None:
    defined = {**named, "LICENCE": source.absolute() / "LICENSE", "VERSION": version, "FULL_VERSION": _four_numbers(version)}
    words = ["makensis", "-V2", "-WX", *(f"-D{name}={value}" for name, value in defined.items()), *(["-DQUICK"] if quick else [])]
    signing = os.environ.get(SIGN)
    words += [f"-DSIGN={signing}"] if signing else []
    script = source / "installers" / "windows" / "setup.nsi"
    subprocess.run([*words, str(script)], env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}, check=True)


def _four_numbers(version: str) -> str:
    """A version as Windows wants it: four numbers."""
    numbers = [part for part in version.split(".") if part.isdecimal()]
    return ".".join((*numbers, "0", "0", "0", "0")[:4])
