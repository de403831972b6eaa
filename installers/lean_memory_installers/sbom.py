"""What a payload or a pack holds, as a bill of materials in CycloneDX 1.6."""

from __future__ import annotations

import json
import uuid
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path

from lean_memory_setup.payload import Held, Payload, digest_of, digest_of_all

_PROGRAM = "lean-memory"
_LICENCE_LINE = "License :: "
_LONGEST = 100
"""Characters; some packages put the whole text where its name belongs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The CPython that an installer brings: its version, and the digest of the archive that it was taken from."""

    version: str
    sha256: str


def bill_of_materials(payload: Payload, epoch: int, interpreter: Interpreter | None = None) -> bytes:
    """Every wheel of a payload, with version, licence and digest, `uv` and what interpreter comes along by their digests; the same bytes each time."""
    wheels = [_wheel(payload.folder, held) for held in payload.files if held.path.endswith(".whl")]
    others = [_file(held) for held in payload.files if held.path == payload.uv]
    others += [] if interpreter is None else [_interpreter(interpreter)]
    return _bill(_PROGRAM, payload.version, payload.digest, [*wheels, *others], epoch)


def bill_of_wheels(name: str, version: str, wheels: Collection[Path], epoch: int) -> bytes:
    """The same of what was unpacked from `wheels`, called `name` as a whole."""
    held = tuple(Held(path=file.name, bytes=file.stat().st_size, sha256=digest_of(file)) for file in sorted(wheels))
    folders = {file.name: file.parent for file in wheels}
    return _bill(name, version, digest_of_all(held), [_wheel(folders[one.path], one) for one in held], epoch)


def _bill(name: str, version: str, digest: str, components: Sequence[Mapping[str, object]], epoch: int) -> bytes:
    """`digest` stands for all that is in it."""
    held = [str(component["bom-ref"]) for component in components]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(digest[:32])}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": {"type": "application", "bom-ref": name, "name": name, "version": version},
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": held}, *({"ref": ref} for ref in held)],
    }
    return json.dumps(bill, indent=1, ensure_ascii=False).encode() + b"\n"


def _wheel(folder: Path, held: Held) -> dict[str, object]:
    said = _metadata(folder / held.path)
    name, version = str(said["Name"]), str(said["Version"])
    return {
        "type": "library",
        "bom-ref": held.path,
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version.replace('!', '%21')}",
        "hashes": [{"alg": "SHA-256", "content": held.sha256}],
        "licenses": _licences(said),
    }


def _file(held: Held) -> dict[str, object]:
    return {"type": "application", "bom-ref": held.path, "name": held.path, "hashes": [{"alg": "SHA-256", "content": held.sha256}]}


def _interpreter(one: Interpreter) -> dict[str, object]:
    return {
        "type": "platform",
        "bom-ref": "cpython",
        "name": "cpython",
        "version": one.version,
        "hashes": [{"alg": "SHA-256", "content": one.sha256}],
        "licenses": [{"expression": "PSF-2.0"}],
    }


def _metadata(file: Path) -> Message:
    with zipfile.ZipFile(file) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesHeaderParser().parsebytes(wheel.read(name))


def _licences(said: Message) -> Sequence[dict[str, object]]:
    """What a package says of its licence: the expression, else the name, else the classifiers."""
    expression, name = said.get("License-Expression"), said.get("License")
    if expression:
        return [{"expression": expression}]
    if name and len(name) < _LONGEST and "\n" not in name:
        return [{"license": {"name": name}}]
    lines = [str(line) for line in said.get_all("Classifier", [])]
    return [{"license": {"name": line.rpartition(" :: ")[2]}} for line in lines if line.startswith(_LICENCE_LINE)]
