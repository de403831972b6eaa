"""The packages that run larger models: torch and what is built on it. Only the worker loads them.

They lie where this program was installed, or, for one that an installer put there and to which nothing can be added, in the data root: unpacked from
a pack, a zip archive that is given out beside the installers. A pack holds `pack.json`, which says for which program, system and Python it was made,
and the packages as they lie in an environment, without those that the program itself has. Standard library alone.
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from lean_memory.errors import InvalidInputError, ModelFetchError
from lean_memory.models.offered import offered, this_python, this_target
from lean_memory.private_files import private_folder

NAMES = ("torch", "sentence_transformers", "gliner2")
NOTE = "pack.json"
_FOLDER = Path("models", "packages")
_LEFT_FREE = 100_000_000
_INSTALLED = "installed.json"
"""What the setup program writes into an environment that it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """What a pack says of itself. `target` is a system and a machine (`linux-x86_64`), `python` a version of CPython (`3.11`)."""

    version: str
    target: str
    python: str


def lacking(root: Path) -> tuple[str, ...]:
    """Those that neither this program nor the data root has."""
    beside = packages_folder(root)
    return tuple(name for name in NAMES if find_spec(name) is None and not (beside / name).is_dir())


def can_run(root: Path) -> bool:
    """Whether there is what every larger model needs."""
    return find_spec("torch") is not None or (packages_folder(root) / "torch").is_dir()


def remedy(prefix: Path = Path(sys.prefix)) -> str:
    """What to do where some are lacking, for a program in the environment `prefix`."""
    if offered(prefix) is not None:
        return "lean-memory models packages"
    if came_from_an_installer(prefix):
        return f"lean-memory models packages FILE, with the file …-models-{this_target()}-python{this_python()}.zip that is given out beside the installer"
    return "pip install 'lean-memory-desktop[models]'"


def came_from_an_installer(prefix: Path = Path(sys.prefix)) -> bool:
    """Whether the setup program made the environment `prefix`: pip can add nothing to it."""
    return (prefix / _INSTALLED).is_file()


def packages_folder(root: Path) -> Path:
    """Where those of a pack lie for this Python, whether they are there or not."""
    return root / _FOLDER / f"python{this_python()}"


def version_here(root: Path) -> str | None:
    """The version of the pack that brought those of the data root; `None` where none did, or it cannot be read."""
    try:
        return str(json.loads((packages_folder(root) / NOTE).read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def let_import(root: Path) -> None:
    """Let this process import what a pack brought; what the program itself has comes first."""
    folder = packages_folder(root)
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


def take_in(root: Path, file: Path, *, report: Callable[[float], None] = lambda _: None) -> Pack:
    """Unpack a pack into the data root, in the place of an earlier one; `report` is told how much is done, 0 to 1. The whole or nothing.

    Raises `InvalidInputError` where it is no pack, one for another computer or Python, or damaged, and `ModelFetchError` where it cannot be unpacked.
    """
    folder = packages_folder(root)
    fresh, old = folder.with_name(f".{folder.name}-new"), folder.with_name(f".{folder.name}-old")
    if not file.is_file():
        raise InvalidInputError(f"There is no file {file}. Nothing was changed.")
    try:
        private_folder(folder.parent)
        _back(old, folder)
        _remove(fresh, old)
        with zipfile.ZipFile(file) as held:
            pack = _checked(held, file)
            _unpack(held, fresh, report)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise InvalidInputError(f"{file.name} is damaged or no pack of packages ({error}). Fetch it anew.") from error
    except OSError as error:
        raise ModelFetchError(f"The packages cannot be unpacked into {folder}: {error.strerror or error}.") from error
    finally:
        _back(old, folder)
        _remove(fresh, old)
    return pack


def remove(root: Path) -> bool:
    """Delete what a pack brought; whether there was anything. Raises `ModelFetchError` where it stays."""
    folder = packages_folder(root)
    if not folder.exists():
        return False
    gone = folder.with_name(f".{folder.name}-gone")
    _remove(gone)
    try:
        # Whole or not at all, also where a program that uses them keeps some of them from going.
        folder.rename(gone)
    except OSError as error:
        raise ModelFetchError(f"{folder} cannot be deleted ({error.strerror or error}); end Lean Memory first, if it runs.") from error
    _remove(gone)
    return True


def _back(old: Path, folder: Path) -> None:
    """Put the earlier pack back where a kill or an error came between its going and the coming of the new one."""
    if old.exists() and not folder.exists():
        old.rename(folder)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _checked(held: zipfile.ZipFile, file: Path) -> Pack:
    try:
        said = json.loads(held.read(NOTE))
        pack = Pack(version=str(said["version"]), target=str(said["target"]), python=str(said["python"]))
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInputError(f"{file.name} is no pack of packages.") from error
    if (pack.target, pack.python) != (this_target(), this_python()):
        raise InvalidInputError(
            f"{file.name} is for {pack.target} and Python {pack.python}; this is {this_target()} and Python {this_python()}. Nothing was changed."
        )
    return pack


def _unpack(held: zipfile.ZipFile, folder: Path, report: Callable[[float], None]) -> None:
    entries = [entry for entry in held.infolist() if not entry.is_dir()]
    total = sum(entry.file_size for entry in entries)
    if shutil.disk_usage(folder.parent).free < total + _LEFT_FREE:
        raise ModelFetchError(f"There is too little room for the packages in {folder.parent}: they take {total / 1e9:.1f} GB.")
    done = 0
    for entry in entries:
        if PurePosixPath(entry.filename).is_absolute() or ".." in PurePosixPath(entry.filename).parts:
            raise InvalidInputError(f"A pack of packages that names {entry.filename!r} is not one of ours. Nothing was changed.")
        held.extract(entry, folder)
        done += entry.file_size
        report(done / total if total else 1.0)
