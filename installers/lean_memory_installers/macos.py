"""The app for macOS on Apple silicon, as a zip archive that keeps the modes of its files; made on any system, and signed on a Mac."""

from __future__ import annotations

import os
import plistlib
import shutil
import stat
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from lean_memory_installers.assembling import assemble
from lean_memory_installers.fetching import fetch_pinned
from lean_memory_installers.icons import write_icns
from lean_memory_installers.sbom import Interpreter
from lean_memory_installers.targets import MACOS
from lean_memory_setup.payload import Payload

APP = "Lean Memory.app"
UNINSTALL = "Uninstall Lean Memory.command"
IDENTIFIER = "org.leanmemory.app"
BUNDLE_TYPE = "org.leanmemory.bundle"
OLDEST = "14.0"
PYTHON = "python"
"""The folder of the app with its CPython."""
CPYTHON_VERSION = "3.13.15"
CPYTHON_AT = (
    "https://github.com/astral-sh/python-build-standalone/releases/download/20260814/"
    f"cpython-{CPYTHON_VERSION}%2B20260814-aarch64-apple-darwin-install_only_stripped.tar.gz"
)
CPYTHON_SHA256 = "6d472fc49a4d95e58214a992c4c92aa73fe2a935837a01a9a36bab0bec6d72f3"
"""Of a CPython that may be put anywhere, as `uv` and another project have it written down. No registry of packages holds one for macOS."""
INTERPRETER = Interpreter(version=CPYTHON_VERSION, sha256=CPYTHON_SHA256)
_PROGRAM = "lean-memory"
_ICON = "lean-memory.icns"


def build(*, source: Path, cache: Path, out: Path, epoch: int, packs: bytes = b"", with_python: bool = True) -> Path:
    """Make `Lean-Memory-VERSION-macos-arm64.zip` in the folder `out`; its path.

    `packs` as for `assemble`. Without a Python in it (where its archive cannot be fetched) the app fetches one when it is first started, by `uv`, which knows its digest.
    Raises `OSError`, `ValueError` and `subprocess.CalledProcessError`.
    """
    work = cache / MACOS.name
    python = unpacked_python(fetch_pinned(cache, CPYTHON_AT, CPYTHON_SHA256), work / PYTHON) if with_python else None
    payload = assemble(MACOS, source=source, cache=cache, folder=work / "payload", epoch=epoch, packs=packs)
    folder = work / "app"
    shutil.rmtree(folder, ignore_errors=True)
    icon = work / _ICON
    write_icns(icon)
    write_app(payload, source=source, folder=folder, icon=icon, python=python)
    out.mkdir(parents=True, exist_ok=True)
    archive = out / f"Lean-Memory-{payload.version}-{MACOS.name}.zip"
    archive_app(folder, archive, epoch)
    return archive


def unpacked_python(archive: Path, folder: Path) -> Path:
    """The CPython of an archive in `folder`, made anew. Raises `ValueError` where it holds none."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with tarfile.open(archive) as held:
            held.extractall(scratch, filter="data")
        if not Path(scratch, PYTHON, "bin", "python3").exists():
            raise ValueError(f"There is no Python in {archive.name}.")
        Path(scratch, PYTHON).rename(folder)
    return folder


def write_app(payload: Payload, *, source: Path, folder: Path, icon: Path, python: Path | None = None) -> Path:
    """The app and its uninstaller, with a payload (whatever system it is for), in `folder`; the app's path."""
    recipes, contents = source / "installers" / "macos", folder / APP / "Contents"
    resources = contents / "Resources"
    resources.mkdir(parents=True)
    (contents / "MacOS").mkdir()
    shutil.copy(recipes / _PROGRAM, contents / "MacOS" / _PROGRAM)
    shutil.copy(recipes / "uninstall.command", folder / UNINSTALL)
    (contents / "Info.plist").write_bytes(plistlib.dumps(about(payload.version)))
    (contents / "PkgInfo").write_text("APPL????", encoding="ascii")
    shutil.copyfile(icon, resources / _ICON)
    shutil.copyfile(source / "LICENSE", resources / "LICENSE.txt")
    shutil.copytree(payload.folder, resources / "payload")
    if python is not None:
        shutil.copytree(python, resources / PYTHON, symlinks=True)
        # One folder for each: an environment in use must not lose the Python below it to a newer app.
        (resources / f"{PYTHON}.version").write_text(payload.name, encoding="ascii")
    return folder / APP


def about(version: str) -> dict[str, object]:
    """What `Info.plist` says of the app: it lives in the menu bar, not in the Dock, and bundles (`.leanmem`) are its documents."""
    return {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleName": "Lean Memory",
        "CFBundleDisplayName": "Lean Memory",
        "CFBundleExecutable": _PROGRAM,
        "CFBundleIconFile": _ICON,
        "CFBundlePackageType": "APPL",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSUIElement": True,
        "LSMinimumSystemVersion": OLDEST,
        "LSArchitecturePriority": ["arm64"],
        "LSApplicationCategoryType": "public.app-category.productivity",
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "Apache License 2.0",
        "NSAppTransportSecurity": {"NSAllowsLocalNetworking": True},
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": "Lean Memory bundle",
                "CFBundleTypeRole": "Viewer",
                "CFBundleTypeIconFile": _ICON,
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [BUNDLE_TYPE],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": BUNDLE_TYPE,
                "UTTypeDescription": "Lean Memory bundle",
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {
                    "public.filename-extension": ["leanmem"],
                    "public.mime-type": ["application/vnd.leanmemory.bundle"],
                },
            }
        ],
    }


def archive_app(folder: Path, archive: Path, epoch: int) -> None:
    """Everything in `folder` as a zip archive with modes and symbolic links, the same bytes each time."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as into:
        for path in _files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), time.gmtime(epoch)[:6])
            entry.create_system = 3
            if path.is_symlink():
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
                into.writestr(entry, os.fsencode(path.readlink()))
                continue
            entry.external_attr = (stat.S_IFREG | (0o755 if os.access(path, os.X_OK) else 0o644)) << 16
            # Wheels are compressed already.
            entry.compress_type = zipfile.ZIP_STORED if path.suffix == ".whl" else zipfile.ZIP_DEFLATED
            into.writestr(entry, path.read_bytes())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file())
