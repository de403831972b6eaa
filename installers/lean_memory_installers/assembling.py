"""A payload for one system: our wheel, all it needs, `uv`, the setup program, and a list of their digests."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lean_memory_installers.fetching import fetch_uv, fetch_wheels, make_our_wheel, make_wheel
from lean_memory_installers.locked import FROM_SOURCE, Locked, read_locked
from lean_memory_installers.targets import Target
from lean_memory_setup.payload import FILE, PACKS, REQUIREMENTS, WHEELS, Payload, digest_of, read_payload

DISTRIBUTION = "lean-memory-desktop"
SETUP = "setup.pyz"
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every entry of an archive made here, so that its bytes are the same each time: the first that zip can write down."""


def assemble(
    target: Target, *, source: Path, cache: Path, folder: Path, epoch: int, packs: bytes = b"", add: Callable[[Path], None] | None = None
) -> Payload:
    """The payload for `target` in `folder`, made anew, from the project in `source`; the same bytes each time.

    `cache` keeps what was downloaded; `epoch` (seconds) is the time that archives made here note; `packs` says where the packs for larger models
    can be fetched, if anywhere; `add` puts into the folder what only this system needs.
    """
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / WHEELS
    wheels.mkdir(parents=True)
    locked = read_locked(source / "requirements" / "installers.txt")
    made = [make_wheel(one, epoch, cache / "made") for one in locked if one.name in FROM_SOURCE]
    ours = make_our_wheel(source, epoch, cache / "ours")
    fetched = [file for python in target.pythons for file in fetch_wheels(locked, target, python, cache / target.name / python)]
    for file in (*fetched, *made, ours):
        shutil.copyfile(file, wheels / file.name)
    (folder / REQUIREMENTS).write_text(_requirements(locked, target, wheels, ours), encoding="utf-8")
    program = folder / target.uv
    program.write_bytes(fetch_uv(source / "requirements" / "tools.txt", target, cache / target.name / "uv"))
    program.chmod(0o755)
    (folder / SETUP).write_bytes(setup_program(source / "installers" / "lean_memory_setup"))
    if packs:
        (folder / PACKS).write_bytes(packs)
    if add is not None:
        add(folder)
    (folder / FILE).write_text(listing(target, version_of(source), folder), encoding="utf-8")
    return read_payload(folder)


def version_of(source: Path) -> str:
    """The version of the project in `source`."""
    return str(tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def setup_program(package: Path) -> bytes:
    """The setup program as one file that Python runs."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as into:
        for file in sorted(package.glob("*.py")):
            into.writestr(zipfile.ZipInfo(f"{package.name}/{file.name}", EARLIEST), file.read_bytes())
        start = f"import sys\nfrom {package.name}.__main__ import main\nsys.exit(main())\n"
        into.writestr(zipfile.ZipInfo("__main__.py", EARLIEST), start)
    return held.getvalue()


def listing(target: Target, version: str, folder: Path) -> str:
    """What `payload.json` says of the files in `folder`."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    held = [
        {"path": file.relative_to(folder).as_posix(), "bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        for file in files
    ]
    named = {"version": version, "target": target.name, "pythons": list(target.pythons), "uv": target.uv, "files": held}
    return json.dumps(named, indent=1) + "\n"


def _requirements(locked: Sequence[Locked], target: Target, wheels: Path, ours: Path) -> str:
    """What is to be installed, each with the digests of the wheels that lie here and no others."""
    here = {digest_of(file) for file in wheels.iterdir()}
    made = {file.name.partition("-")[0].replace("_", "-"): digest_of(file) for file in wheels.iterdir()}
    lines: list[str] = []
    for one in locked:
        if not any(one.is_for(target, python) for python in target.pythons):
            continue
        found = {made[one.name]} if one.name in FROM_SOURCE else here & set(one.hashes)
        if not found:
            raise ValueError(f"no wheel of {one.name} {one.version} for {target.name}")
        lines.append(one.line(found))
    own = Locked(name=DISTRIBUTION, version=ours.name.split("-")[1], marker="", hashes=())
    return "".join([*lines, own.line([digest_of(ours)])])
