"""Windows: an environment out of the Python that the payload brings, and a link that needs no administrator."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lean_memory_setup.environments import stay_with_own
from lean_memory_setup.failing import SetupError
from lean_memory_setup.payload import Payload
from lean_memory_setup.switching import Link

PYTHON = "python"
"""The folder of a payload with the embeddable CPython."""
PROGRAMS = "programs"
"""The folder of a payload with what is started from outside: each finds the `python.exe` that lies beside it."""
PACKED = "packages.zip"
"""All packages as they lie in an environment: installed from wheels with their digests when the payload was made."""
PACKAGES = Path("Lib", "site-packages")
_PATHS = "{library}\n.\n{packages}\nimport site\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The payload's own Python with the packages in it. It reads no registry, no `PYTHONPATH` and no other Python's folder."""

    def make(self, payload: Payload, folder: Path, stable: Path) -> None:
        # It may be moved and linked as it likes: nothing in it names its own place, and so not `stable` either.
        del stable
        shutil.copytree(payload.folder / PYTHON, folder, copy_function=shutil.copyfile)
        _let_see_packages(folder)
        try:
            with zipfile.ZipFile(payload.folder / PACKED) as held:
                held.extractall(folder / PACKAGES)
        except zipfile.BadZipFile as error:
            raise SetupError(f"The packages cannot be unpacked: {error}") from error
        stay_with_own(folder / PACKAGES)
        _put_runtime_beside_python(folder / PACKAGES, folder)
        shutil.copytree(payload.folder / PROGRAMS, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)

    def python(self, environment: Path) -> Path:
        return environment / "python.exe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Junction:
    """A junction of NTFS, which anybody may make. What runs out of the old environment is not disturbed when it leads elsewhere."""

    path: Path
    make: Callable[[str, str], None]
    """`_winapi.CreateJunction`."""

    def target(self) -> Path | None:
        try:
            held = self.path.readlink()
        except OSError:
            return None
        return Path(str(held).removeprefix("\\\\?\\"))

    def lead_to(self, folder: Path) -> None:
        fresh, old = _beside(self.path, "new"), _beside(self.path, "old")
        _unlink(fresh)
        _unlink(old)
        self.make(str(folder), str(fresh))
        _swap(self.path, fresh, old)
        _unlink(old)

    def remove(self) -> None:
        _unlink(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedCopy:
    """Where there are no junctions (exFAT, some network folders, Wine): a folder whose files are the environment's own, under a second name."""

    path: Path

    def target(self) -> Path | None:
        try:
            held = str(json.loads(self._note.read_bytes())["target"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return self.path.parent / held if self.path.is_dir() else None

    def lead_to(self, folder: Path) -> None:
        fresh, old = _beside(self.path, "new"), _beside(self.path, "old")
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(folder, fresh, copy_function=_linked)
        _swap(self.path, fresh, old)
        self._note.write_text(json.dumps({"target": folder.relative_to(self.path.parent).as_posix()}), encoding="utf-8")
        shutil.rmtree(old, ignore_errors=True)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")


def link_in(path: Path, windows: Any = None) -> Link:
    """The link that the file system of `path` allows. `windows` is the module `_winapi`."""
    make: Callable[[str, str], None] = (windows or import_module("_winapi")).CreateJunction
    folder, trial = path.parent, _beside(path, "trial")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        make(str(folder), str(trial))
    except OSError:
        return LinkedCopy(path=path)
    finally:
        _unlink(trial)
    return Junction(path=path, make=make)


def _swap(path: Path, fresh: Path, old: Path) -> None:
    """Put `fresh` where `path` is, which `old` keeps; where that fails, everything is as it was."""
    there = os.path.lexists(path)
    if there:
        path.rename(old)
    try:
        fresh.rename(path)
    except OSError:
        if there:
            old.rename(path)
        raise


def _unlink(link: Path) -> None:
    """Take a junction away, or the empty folder that a refused one leaves; never what it leads to."""
    if os.path.lexists(link):
        link.rmdir() if not link.is_symlink() else link.unlink()


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}-{what}")


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _let_see_packages(folder: Path) -> None:
    """Name the folder of packages to an embeddable Python, whose list of folders is a file."""
    listed = next(folder.glob("python*._pth"))
    listed.write_text(_PATHS.format(library=f"{listed.stem}.zip", packages="\\".join(PACKAGES.parts)), encoding="utf-8", newline="\r\n")


def _put_runtime_beside_python(packages: Path, folder: Path) -> None:
    """A library of the C++ runtime is looked for beside the program, not beside what loads it."""
    for library in packages.glob("*.dll"):
        if not (folder / library.name).exists():
            library.rename(folder / library.name)
