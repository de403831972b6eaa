"""`python -m lean_memory_installers deb bundle windows macos --out FOLDER`: the installers, with their bills of materials and `SHA256SUMS`;
`models` makes the packs of what runs larger models."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lean_memory_installers import linux, models_pack
from lean_memory_installers.assembling import version_of
from lean_memory_installers.sbom import Interpreter, bill_of_materials
from lean_memory_installers.targets import LINUX, MACOS, WINDOWS, Target
from lean_memory_setup.payload import digest_of, read_payload

KINDS = ("deb", "bundle", "windows", "macos")
SUMS = "SHA256SUMS"
MODELS = "models"
"""Made only when it is asked for: it takes gigabytes."""
_OF_ONE_MODULE = {"windows": ("lean_memory_installers.windows", WINDOWS), "macos": ("lean_memory_installers.macos", MACOS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """From what and to where; `packs` lie at `packs_at`, if anywhere."""

    source: Path
    cache: Path
    out: Path
    epoch: int
    packs: Sequence[models_pack.Made]
    packs_at: str

    def offered(self, target: Target) -> bytes:
        """What an installer's program is told of the packs."""
        return models_pack.offered(self.packs, target, version_of(self.source), self.packs_at) if self.packs_at else b""


def main(words: Sequence[str] | None = None) -> int:
    """Make what the words name; the exit code."""
    parser = _parser()
    given = parser.parse_args(words)
    if given.packs_at and MODELS not in given.kinds:
        parser.error("--packs-at wants the packs made along: name `models`, too")
    source, cache, out = given.source.absolute(), given.cache.absolute(), given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    try:
        epoch = _epoch(source)
        packs = models_pack.build_all(source=source, cache=cache, out=out, epoch=epoch) if MODELS in given.kinds else []
        work = _Work(source=source, cache=cache, out=out, epoch=epoch, packs=packs, packs_at=given.packs_at)
        made = [*(file for pack in packs for file in (pack.file, pack.bill)), *_linux(given.kinds, work)]
        for kind in _OF_ONE_MODULE:
            if kind in given.kinds:
                more = {"with_python": False} if kind == "macos" and given.without_python else {}
                made += _other(kind, work, **more)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"Not made: {error}", file=sys.stderr)
        return 1
    write_sums(out, made)
    for file in made:
        print(f"{file}  {file.stat().st_size:,} bytes")
    return 0


def write_sums(out: Path, made: Iterable[Path]) -> None:
    """`SHA256SUMS` of what was just made in `out`, and of what it named before and still lies there: not all need be made at once."""
    listed = out / SUMS
    named = {line.partition("  ")[2] for line in listed.read_text(encoding="utf-8").splitlines()} if listed.exists() else set[str]()
    files = sorted({*made, *(out / name for name in named if (out / name).is_file())})
    listed.write_text("".join(f"{digest_of(file)}  {file.name}\n" for file in files), encoding="utf-8")


def _linux(kinds: Sequence[str], work: _Work) -> list[Path]:
    if "deb" not in kinds and "bundle" not in kinds:
        return []
    folder = _payload_folder(work.cache, LINUX)
    payload = linux.linux_payload(source=work.source, cache=work.cache, folder=folder, epoch=work.epoch, packs=work.offered(LINUX))
    made = [_bill(work, LINUX)]
    if "deb" in kinds:
        made.append(linux.build_deb(payload, source=work.source, work=work.cache / LINUX.name, out=work.out, epoch=work.epoch))
    if "bundle" in kinds:
        made.append(linux.build_bundle(payload, source=work.source, out=work.out, epoch=work.epoch))
    return made


def _other(kind: str, work: _Work, **more: bool) -> list[Path]:
    name, target = _OF_ONE_MODULE[kind]
    # Loaded when it is asked for: what it packs with need not be here for the others.
    module = import_module(name)
    packs = work.offered(target)
    installer = module.build(source=work.source, cache=work.cache, out=work.out, epoch=work.epoch, packs=packs, **more)
    return [installer, _bill(work, target, module.INTERPRETER if more.get("with_python", True) else None)]


def _bill(work: _Work, target: Target, interpreter: Interpreter | None = None) -> Path:
    payload = read_payload(_payload_folder(work.cache, target))
    bill = work.out / f"Lean-Memory-{payload.version}-{target.name}.cdx.json"
    bill.write_bytes(bill_of_materials(payload, work.epoch, interpreter))
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
        "--packs-at",
        default="",
        metavar="ADDRESS",
        help="where what is made will be given out: the installed programs then fetch their packs of `models` from there, by their sums",
    )
    parser.add_argument(
        "--without-python",
        action="store_true",
        help="make the app for macOS without a Python, which it then fetches when it is first started",
    )
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2], help="the project")
    return parser


if __name__ == "__main__":
    sys.exit(main())
