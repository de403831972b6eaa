"""`python -m lean_memory_installers deb bundle windows macos --out FOLDER`: the installers, with their bills of materials and `SHA256SUMS`;
`models` makes the packs of what runs larger models."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from lean_memory_installers import linux, models_pack
from lean_memory_installers.sbom import Interpreter, bill_of_materials
from lean_memory_installers.targets import LINUX, MACOS, WINDOWS, Target
from lean_memory_setup.payload import digest_of, read_payload

KINDS = ("deb", "bundle", "windows", "macos")
SUMS = "SHA256SUMS"
MODELS = "models"
"""Made only when it is asked for: it takes gigabytes."""
_OF_ONE_MODULE = {"windows": ("lean_memory_installers.windows", WINDOWS), "macos": ("lean_memory_installers.macos", MACOS)}


def main(words: Sequence[str] | None = None) -> int:
    """Make what the words name; the exit code."""
    given = _parser().parse_args(words)
    source, cache, out = given.source.absolute(), given.cache.absolute(), given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    epoch = _epoch(source)
    try:
        made = _linux(given.kinds, source, cache, out, epoch)
        if MODELS in given.kinds:
            made += models_pack.build_all(source=source, cache=cache, out=out)
        for kind in _OF_ONE_MODULE:
            if kind in given.kinds:
                more = {"with_python": False} if kind == "macos" and given.without_python else {}
                made += _other(kind, source, cache, out, epoch, **more)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"Not made: {error}", file=sys.stderr)
        return 1
    sums = "".join(f"{digest_of(file)}  {file.name}\n" for file in sorted(made))
    (out / SUMS).write_text(sums, encoding="utf-8")
    for file in made:
        print(f"{file}  {file.stat().st_size:,} bytes")
    return 0


def _linux(kinds: Sequence[str], source: Path, cache: Path, out: Path, epoch: int) -> list[Path]:
    if "deb" not in kinds and "bundle" not in kinds:
        return []
    payload = linux.linux_payload(source=source, cache=cache, folder=_payload_folder(cache, LINUX), epoch=epoch)
    made = [_bill(cache, LINUX, out, epoch)]
    if "deb" in kinds:
        made.append(linux.build_deb(payload, source=source, work=cache / LINUX.name, out=out, epoch=epoch))
    if "bundle" in kinds:
        made.append(linux.build_bundle(payload, source=source, out=out, epoch=epoch))
    return made


def _other(kind: str, source: Path, cache: Path, out: Path, epoch: int, **more: bool) -> list[Path]:
    name, target = _OF_ONE_MODULE[kind]
    # Loaded when it is asked for: what it packs with need not be here for the others.
    module = import_module(name)
    installer = module.build(source=source, cache=cache, out=out, epoch=epoch, **more)
    return [installer, _bill(cache, target, out, epoch, module.INTERPRETER if more.get("with_python", True) else None)]


def _bill(cache: Path, target: Target, out: Path, epoch: int, interpreter: Interpreter | None = None) -> Path:
    payload = read_payload(_payload_folder(cache, target))
    bill = out / f"Lean-Memory-{payload.version}-{target.name}.cdx.json"
    bill.write_bytes(bill_of_materials(payload, epoch, interpreter))
    return bill


def _payload_folder(cache: Path, target: Target) -> Path:
    return cache / target.name / "payload"


def _epoch(source: Path) -> int:
    """The time that the archives note: what was asked for, else that of the last commit, so that two builds of one commit are the same."""
    asked = os.environ.get("SOURCE_DATE_EPOCH")
    if asked:
        return int(asked)
    said = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=source, capture_output=True, text=True, check=True).stdout
    return int(said)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lean_memory_installers", description="Make the installers of Lean Memory.")
    parser.add_argument(
        "kinds", nargs="*", choices=(*KINDS, MODELS), default=list(KINDS), help="which; all but `models` when none is named"
    )
    parser.add_argument("--out", type=Path, default=Path("dist/installers"), help="where the installers go")
    parser.add_argument("--cache", type=Path, default=Path("build/installers"), help="what was downloaded, for the next time")
    parser.add_argument(
        "--without-python",
        action="store_true",
        help="make the app for macOS without a Python, which it then fetches when it is first started",
    )
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2], help="the project")
    return parser


if __name__ == "__main__":
    sys.exit(main())
