"""What an installer brings: our program and all it needs, as wheels with their digests, and the `uv` that installs them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from lean_memory_setup.failing import SetupError

FILE = "payload.json"
REQUIREMENTS = "requirements.txt"
WHEELS = "wheels"
PACKS = "packs.json"
"""Where the packs of packages for larger models can be fetched, and their sums; only in a payload whose release says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One file of a payload: its path within it, its length in bytes and its SHA-256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The folder of a payload as its `payload.json` describes it.

    `target` names what it is for (`linux-x86_64`, `windows-x86_64`, `macos-arm64`), `pythons` the versions of CPython (`3.11`) that it has
    wheels for, `uv` the program's file. `digest` stands for all files: two payloads with the same digest install the same.
    """

    folder: Path
    version: str
    target: str
    pythons: tuple[str, ...]
    uv: str
    files: tuple[Held, ...]
    digest: str

    @property
    def name(self) -> str:
        """The folder's name that an environment made from this payload has."""
        return f"{self.version}-{self.digest[:12]}"

    @property
    def wheels(self) -> Path:
        return self.folder / WHEELS

    @property
    def requirements(self) -> Path:
        return self.folder / REQUIREMENTS

    @property
    def uv_program(self) -> Path:
        return self.folder / self.uv

    def verify(self) -> None:
        """Read every file through. Raises `SetupError` where one is missing, cut off or changed."""
        for held in self.files:
            file = self.folder / held.path
            try:
                found = digest_of(file) if file.stat().st_size == held.bytes else ""
            except OSError as error:
                raise SetupError(f"The installer is incomplete: {held.path} cannot be read ({error.strerror}). Fetch it anew.") from error
            if found != held.sha256:
                raise SetupError(f"The installer is damaged: {held.path} is not what it was when it was made. Fetch it anew.")


def read_payload(folder: Path) -> Payload:
    """The payload in `folder`. Raises `SetupError` where there is none."""
    try:
        held = json.loads((folder / FILE).read_bytes())
        files = tuple(Held(path=str(one["path"]), bytes=int(one["bytes"]), sha256=str(one["sha256"])) for one in held["files"])
        return Payload(
            folder=folder,
            version=str(held["version"]),
            target=str(held["target"]),
            pythons=tuple(str(one) for one in held["pythons"]),
            uv=str(held["uv"]),
            files=files,
            digest=digest_of_all(files),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"There is no sound payload in {folder} ({error}). Fetch the installer anew.") from error


def digest_of_all(files: tuple[Held, ...]) -> str:
    """The SHA-256 that stands for a set of files, whatever their order."""
    lines = sorted(f"{held.sha256} {held.path}\n" for held in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def digest_of(file: Path) -> str:
    """The SHA-256 of a file in hexadecimal. Raises `OSError`."""
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()
