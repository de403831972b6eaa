"""Linux: a package for Debian and its kin, and a file for one person that unpacks itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from lean_memory_installers.archives import gz, tar_gz
from lean_memory_installers.assembling import assemble, version_of
from lean_memory_installers.icons import write_pngs
from lean_memory_installers.sbom import bill_of_materials
from lean_memory_installers.targets import LINUX
from lean_memory_setup.payload import Payload

APP = "org.leanmemory.LeanMemory"
_HOME = "opt/lean-memory"
_COMMANDS = {
    "lean-memory": "env/bin/lean-memory",
    "lean-memory-mcp": "env/bin/lean-memory-mcp",
    "lean-memory-maintain": "env/bin/lean-memory-maintain",
    "lean-memory-bring-in": "lean-memory-bring-in",
}


def linux_payload(*, source: Path, cache: Path, folder: Path, epoch: int, packs: bytes = b"") -> Payload:
    """The payload of both, with the menu entries, icons and file type; `packs` as for `assemble`."""
    return assemble(
        LINUX, source=source, cache=cache, folder=folder, epoch=epoch, packs=packs, add=lambda into: _add_share(source, into, epoch)
    )


def build_deb(payload: Payload, *, source: Path, work: Path, out: Path, epoch: int) -> Path:
    """The package in `out`. `work` is a folder for what it is packed from."""
    tree = work / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(payload.folder, tree / _HOME / "payload")
    recipes = source / "installers" / "linux"
    _put(tree / _HOME / "lean-memory-bring-in", (recipes / "bring-in").read_bytes(), executable=True)
    _share_of_system(payload, tree / "usr" / "share")
    _documents(payload, source, tree / "usr" / "share" / "doc" / "lean-memory", epoch)
    for command, target in _COMMANDS.items():
        link = tree / "usr" / "bin" / command
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(f"/{_HOME}/{target}")
    size = sum(file.lstat().st_size for file in tree.rglob("*")) // 1024
    for recipe in sorted((recipes / "debian").iterdir()):
        if recipe.name != "copyright":
            filled = _filled(recipe, {"VERSION": payload.version, "SIZE": str(size)})
            _put(tree / "DEBIAN" / recipe.name, filled, executable=recipe.name in {"postinst", "prerm", "postrm"})
    _settle_modes(tree)
    package = out / f"lean-memory_{payload.version}_amd64.deb"
    words = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z3", "--build", str(tree), str(package)]
    subprocess.run(words, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}, check=True, stdout=subprocess.DEVNULL)
    return package


def build_bundle(payload: Payload, *, source: Path, out: Path, epoch: int) -> Path:
    """The file that unpacks itself, in `out`."""
    head = _filled(
        source / "installers" / "linux" / "bundle-head.sh",
        {
            "VERSION": payload.version,
            "PYTHONS": " ".join(payload.pythons),
            "CANDIDATES": " ".join(f"python{python}" for python in reversed(payload.pythons)),
        },
    )
    lines = head.count(b"\n") + 1
    bundle = out / f"Lean-Memory-{payload.version}-{LINUX.name}.run"
    bundle.write_bytes(head.replace(b"@LINES@", str(lines).encode()) + tar_gz(payload.folder, epoch))
    bundle.chmod(0o755)
    return bundle


def _add_share(source: Path, into: Path, epoch: int) -> None:
    recipes = source / "installers" / "linux"
    values = {"VERSION": version_of(source), "DATE": datetime.fromtimestamp(epoch, UTC).date().isoformat()}
    for recipe in sorted((recipes / "share").rglob("*")):
        if recipe.is_file():
            _put(into / "share" / recipe.relative_to(recipes / "share"), _filled(recipe, values))
    write_pngs(into / "share" / "icons" / "hicolor", APP)
    _put(into / "lean-memory-bring-in", (recipes / "bring-in").read_bytes(), executable=True)


def _share_of_system(payload: Payload, share: Path) -> None:
    for file in sorted((payload.folder / "share").rglob("*")):
        if file.is_file():
            held = file.read_bytes()
            entry = held.replace(b"@BIN@", b"/usr/bin") if file.suffix == ".desktop" else held
            _put(share / file.relative_to(payload.folder / "share"), entry)


def _documents(payload: Payload, source: Path, folder: Path, epoch: int) -> None:
    _put(folder / "copyright", (source / "installers" / "linux" / "debian" / "copyright").read_bytes())
    _put(folder / "changelog.gz", gz((source / "CHANGELOG.md").read_bytes(), epoch))
    _put(folder / "lean-memory.cdx.json", bill_of_materials(payload, epoch))


def _filled(recipe: Path, values: Mapping[str, str]) -> bytes:
    text = recipe.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text.encode()


def _put(file: Path, held: bytes, *, executable: bool = False) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(held)
    file.chmod(0o755 if executable else 0o644)


def _settle_modes(tree: Path) -> None:
    """Modes as they are to be installed, whatever this process's own are."""
    for entry in tree.rglob("*"):
        if not entry.is_symlink():
            entry.chmod(0o755 if entry.is_dir() or entry.stat().st_mode & 0o100 else 0o644)
    tree.chmod(0o755)
