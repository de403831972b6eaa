"""Getting packages from the registry through pip, which checks the digest of each; and making the wheels that it does not have."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from lean_memory_installers.locked import FROM_SOURCE, Locked
from lean_memory_installers.targets import Target

_PROGRAMS = ("bin", "Scripts")
_UMASK = 0o022
"""A wheel notes the modes of the files it was made from."""


def fetch_wheels(locked: Sequence[Locked], target: Target, python: str, folder: Path) -> list[Path]:
    """The wheels that `target` needs under `python`, in `folder`. Raises `subprocess.CalledProcessError` where one lacks or is another one."""
    wanted = [one for one in locked if one.name not in FROM_SOURCE and one.is_for(target, python)]
    return _download([one.line(one.hashes) for one in wanted], folder, target, python)


def fetch_uv(tools: Path, target: Target, folder: Path) -> bytes:
    """The program `uv` for a system, out of its wheel. `tools` is the locked list that names it."""
    wheel = _download([tools.read_text(encoding="utf-8")], folder, target, target.pythons[0])[0]
    with zipfile.ZipFile(wheel) as held:
        name = next(name for name in held.namelist() if name.endswith(f"/scripts/{target.uv}"))
        return held.read(name)


def fetch_pinned(cache: Path, address: str, sha256: str, fetch: Callable[[str], bytes] | None = None) -> Path:
    """The file at an address, in `cache`, fetched once. Raises `ValueError` where it is another file than the one that is meant, and `OSError`."""
    kept = cache / unquote(address.rpartition("/")[2])
    if not kept.exists():
        held = (fetch or _fetched)(address)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(held)
    if hashlib.sha256(kept.read_bytes()).hexdigest() != sha256:
        kept.unlink()
        raise ValueError(f"{kept.name} is not the file that was meant.")
    return kept


def make_wheel(locked: Locked, epoch: int, folder: Path) -> Path:
    """The wheel of a package that has a source archive only, the same bytes each time."""
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / f"{locked.name}.txt"
    # The marker is about where it is needed; it is made here.
    listing.write_text(Locked(name=locked.name, version=locked.version, marker="", hashes=locked.hashes).line(locked.hashes))
    words = ("wheel", "--no-deps", "--no-cache-dir", "--require-hashes", "--no-build-isolation", "--no-binary", ":all:", "--requirement")
    run_pip(*words, str(listing), "--wheel-dir", str(folder), more={"SOURCE_DATE_EPOCH": str(epoch)})
    return next(folder.glob(f"{locked.name.replace('-', '_')}-*.whl"))


def make_our_wheel(source: Path, epoch: int, folder: Path) -> Path:
    """Our own wheel from the project in `source`, the same bytes each time."""
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("lean_memory_desktop-*.whl"):
        earlier.unlink()
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder.absolute())]
    subprocess.run(words, cwd=source, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}, check=True, stdout=sys.stderr, umask=_UMASK)
    return next(folder.glob("lean_memory_desktop-*.whl"))


def words_for(target: Target, python: str) -> list[str]:
    """What tells pip to take wheels for another system, each checked against its digest, and nothing beside what is listed."""
    tags = [word for tag in target.tags for word in ("--platform", tag)]
    return ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--python-version", python, "--implementation", "cp", *tags]


def install_wheels(locked: Sequence[Locked], wheels: Path, target: Target, python: str, folder: Path) -> None:
    """Install wheels that lie in `wheels` into `folder` as they lie in an environment of `target`, each checked against its digest.

    Raises `subprocess.CalledProcessError` where one lacks or is another one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "wanted.txt"
    # Which of them are needed was decided by their markers; pip would read those for the computer it runs on.
    wanted = [replace(one, marker="") for one in locked if one.is_for(target, python)]
    listing.write_text("".join(one.line(one.hashes) for one in wanted), encoding="utf-8")
    offline = ("--no-index", "--find-links", str(wheels), "--no-compile")
    run_pip("install", *words_for(target, python), *offline, "--requirement", str(listing), "--target", str(folder))
    listing.unlink()
    drop_programs(folder)


def drop_programs(folder: Path) -> None:
    """Remove from packages that lie in `folder` the programs that pip made, and what the packages' lists say of them.

    They name the Python of the computer on which this runs, and so do their digests in those lists: another computer would make other bytes.
    """
    for name in _PROGRAMS:
        shutil.rmtree(folder / name, ignore_errors=True)
    removed = tuple(f"../../{name}/".encode() for name in _PROGRAMS)
    for record in sorted(folder.glob("*.dist-info/RECORD")):
        kept = [line for line in record.read_bytes().splitlines(keepends=True) if not line.startswith(removed)]
        record.write_bytes(b"".join(kept))


def run_pip(*words: str, more: Mapping[str, str] | None = None) -> None:
    """Run pip, with `more` in its environment. Raises `subprocess.CalledProcessError`."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", *words]
    subprocess.run(command, env={**os.environ, **(more or {})}, check=True, stdout=sys.stderr, umask=_UMASK)


def _download(lines: Sequence[str], folder: Path, target: Target, python: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "wanted.txt"
    listing.write_text(_without_markers("".join(lines)), encoding="utf-8")
    before = set(folder.glob("*.whl"))
    run_pip("download", *words_for(target, python), "--requirement", str(listing), "--dest", str(folder))
    found = sorted(folder.glob("*.whl"))
    names = [line.partition("==")[0] for line in listing.read_text(encoding="utf-8").splitlines() if "==" in line]
    if len(found) != len(names):
        # What an earlier list asked for lies here too.
        for file in before:
            file.unlink()
        return _download(lines, folder, target, python)
    return found


def _without_markers(text: str) -> str:
    """A list whose every line is wanted: pip reads markers for the computer it runs on, not for the one it fetches for."""
    lines = (line.partition(" ; ")[0] + " \\" if " ; " in line and not line.startswith(" ") else line for line in text.splitlines())
    return "\n".join(lines) + "\n"


def _fetched(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.read()
    except OSError as error:
        raise OSError(f"{address} cannot be fetched: {error}") from error
