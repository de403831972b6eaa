"""`lean-memory doctor`: looks at the data folder, every file in it, the service and the connections, and says what to do about what it finds.

It repairs nothing but, with `--repair`, connections that lead to another installation.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import LeanMemoryError
from lean_memory.settings import read_settings
from lean_memory_desktop.cli.console import counted, say, write_json
from lean_memory_desktop.cli.doctor_connections import connection_findings, service_findings
from lean_memory_desktop.cli.doctor_models import model_findings
from lean_memory_desktop.cli.doctor_nights import night_findings
from lean_memory_desktop.cli.finding import Finding
from lean_memory_desktop.cli.opening import open_files
from lean_memory_desktop.cli.options import Exit, Options

if TYPE_CHECKING:
    from lean_memory import Memory

_ENOUGH_SPACE = 100_000_000
_REINSTALL = "Reinstall Lean Memory: pip install --force-reinstall lean-memory-desktop"


def doctor(options: Options) -> int:
    """Report every finding; 1 when one of them is not sound."""
    # Read past the check for a folder, which is one of the findings.
    root = read_settings(options.root).root
    findings = [
        _engine(),
        *_folder(root),
        *_contents(options),
        *model_findings(options.root),
        *service_findings(root),
        *night_findings(root),
        *connection_findings(root, repair=options.repair),
    ]
    sound = all(finding.sound for finding in findings)
    if options.json:
        write_json({"root": str(root), "sound": sound, "findings": [_form(finding) for finding in findings]})
    else:
        _show(findings)
        say("Everything is sound." if sound else "Something needs attention; what to do stands under each line marked !!.")
    return Exit.FINE if sound else Exit.FAILED


def _folder(root: Path) -> Iterator[Finding]:
    if not root.exists():
        yield Finding(subject="folder", sound=True, sentence=f"The data folder {root} does not exist yet; the first add makes it.")
        return
    if not root.is_dir():
        yield Finding(
            subject="folder", sound=False, sentence=f"{root} is not a folder.", remedy="Choose another with --root or LM_DATA_ROOT."
        )
        return
    writable = os.access(root, os.R_OK | os.W_OK | os.X_OK)
    yield Finding(
        subject="folder",
        sound=writable,
        sentence=f"The data folder {root} can{'' if writable else 'not'} be read and written.",
        remedy="" if writable else "Make the folder yours, or choose another with --root or LM_DATA_ROOT.",
    )
    yield from _permissions(root)
    free = shutil.disk_usage(root).free
    yield Finding(
        subject="space",
        sound=free >= _ENOUGH_SPACE,
        sentence=f"The disk has {free / 1_000_000:,.0f} MB free.",
        remedy="" if free >= _ENOUGH_SPACE else "Free some space: a full disk refuses what you tell it.",
    )


def _permissions(root: Path) -> Iterator[Finding]:
    if os.name == "nt":
        return
    open_paths = [
        path for path in (root, *sorted(root.glob("*.memory.db*"))) if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()
    ]
    for path in open_paths:
        yield Finding(
            subject="permissions",
            sound=False,
            sentence=f"Other people on this computer may open {path}.",
            remedy=f"chmod {700 if path.is_dir() else 600} '{path}'",
        )
    if not open_paths:
        yield Finding(subject="permissions", sound=True, sentence="Only you may open the data folder and its files.")


def _engine() -> Finding:
    """Whether a sentence can be remembered and found again on this computer, tried in a temporary folder."""
    from lean_memory import Memory

    try:
        with tempfile.TemporaryDirectory(prefix="lean-memory-doctor-") as folder, Memory(root=folder) as memory:
            memory.add("trial", "I play the cello.")
            found = memory.search("trial", "Which instrument do I play?", k=1)
    except LeanMemoryError as error:
        return Finding(subject="engine", sound=False, sentence=str(error), remedy=_REINSTALL)
    lacking = sorted(set(found[0].degraded)) if found else ["any answer"]
    return Finding(
        subject="engine",
        sound=not lacking,
        sentence=f"A trial search went without: {', '.join(lacking)}."
        if lacking
        else "SQLite, its vector extension and the built-in model work.",
        remedy=_REINSTALL if lacking else "",
    )


def _contents(options: Options) -> Iterator[Finding]:
    try:
        with open_files(options) as memory:
            for path, reason in memory.other_files():
                remedy = (
                    f"Open its namespace once, or delete {path}."
                    if ".memory.db.new-" in path
                    else "It is never touched. Move it out of the data folder, or put a backup in its place if it was a namespace."
                )
                yield Finding(subject="file", sound=False, sentence=f"{path} is no namespace that can be used: {reason}", remedy=remedy)
            for name in memory.namespaces():
                yield from _namespace(memory, name)
    except LeanMemoryError as error:
        yield Finding(subject="folder", sound=False, sentence=str(error), remedy="Choose another folder with --root or LM_DATA_ROOT.")


def _namespace(memory: Memory, name: str) -> Iterator[Finding]:
    subject = f"namespace {name}"
    try:
        (status,) = memory.status(name)
        broken = memory.check(name)
    except LeanMemoryError as error:
        yield Finding(
            subject=subject, sound=False, sentence=str(error), remedy="Put a backup of the file in its place; nothing was changed."
        )
        return
    for problem in status.problems:
        yield Finding(subject=subject, sound=False, sentence=problem, remedy="" if status.writable else _to_write(Path(status.path)))
    for problem in broken:
        yield Finding(
            subject=subject, sound=False, sentence=problem, remedy=f"Keep a copy of {status.path}, and put a backup in its place."
        )
    if status.unfinished:
        yield Finding(
            subject=subject,
            sound=False,
            sentence=f"{status.unfinished} messages in {name!r} are stored and not yet understood.",
            remedy=f"lean-memory add -n '{name}' finishes them with the next sentence you add.",
        )
    if not (status.problems or broken or status.unfinished):
        yield Finding(
            subject=subject,
            sound=True,
            sentence=f"{name!r} is sound: {counted(status.facts, 'fact')} from {counted(status.episodes, 'message')}.",
        )


def _to_write(path: Path) -> str:
    """What to do about a file that can only be read."""
    locked = [each for each in (path.parent, path) if not os.access(each, os.W_OK)]
    if not locked:
        return "Update Lean Memory."
    return (
        "Make it yours to write: "
        + "; ".join(f"chmod u+w '{each}'" for each in locked)
        + ", or have its owner do so. It can be read meanwhile."
    )


def _show(findings: list[Finding]) -> None:
    for finding in findings:
        say(f"{'ok' if finding.sound else '!!'}  {finding.sentence}")
        if finding.remedy:
            say(f"-> {finding.remedy}", indent=4)


def _form(finding: Finding) -> dict[str, object]:
    return {"subject": finding.subject, "sound": finding.sound, "sentence": finding.sentence, "remedy": finding.remedy}
