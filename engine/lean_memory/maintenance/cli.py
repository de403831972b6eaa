"""`lean-memory-maintain`: tidies the namespaces of a data root from a terminal or a timer, in this process.

It asks no service, as it must work where none runs; beside one the lease of each namespace keeps the two from tidying at once, and every
write is a short transaction of its own, so that neither waits for the other for long.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from lean_memory.clock import system_clock
from lean_memory.errors import InvalidInputError, LeanMemoryError, NotFoundError
from lean_memory.proposals import MaintenanceReport
from lean_memory.service import MemoryService
from lean_memory.settings import read_settings

FINE, FAILED, BAD_USE, STOPPED = 0, 1, 2, 130
TRIGGER = "command"


def main(arguments: Sequence[str] | None = None) -> int:
    """Tidy as asked; the exit code is 0 also where nothing was due or another run holds a namespace, 1 for a failed run, 2 for bad use."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    chosen = _read(arguments)
    root = read_settings(chosen.root).root
    if chosen.root is not None and not Path(root).is_dir():
        return _complain(f"There is no folder {root}; nothing was done.", BAD_USE)
    try:
        with MemoryService(root) as memory, _stopping() as stop:
            # A damaged one is among them, so that it is told of and not passed over.
            names = [chosen.namespace] if chosen.namespace is not None else [one.name for one in memory.status()]
            reports = [_tidied(memory, name, chosen, stop) for name in names if not stop.asked]
    except (InvalidInputError, NotFoundError) as error:
        return _complain(str(error), BAD_USE)
    except LeanMemoryError as error:
        return _complain(str(error), FAILED)
    _show(str(root), chosen, reports)
    if stop.asked:
        return STOPPED
    return FAILED if any(report.state == "failed" for report in reports) else FINE


def report_form(report: MaintenanceReport) -> dict[str, object]:
    """A report as JSON; its keys are a contract."""
    return {
        "namespace": report.namespace,
        "state": report.state,
        "run_id": report.run_id,
        "dry_run": report.dry_run,
        "started_at": report.started_at,
        "ended_at": report.ended_at,
        "facts": report.facts,
        "merged": report.merged,
        "demoted": report.demoted,
        "proposed": dict(report.proposed),
        "held_back": report.held_back,
        "expired": report.expired,
        "sentence": report.sentence,
        "trigger": report.trigger,
    }


@dataclass(slots=True)
class _Stop:
    asked: bool = False


class _Chosen(argparse.Namespace):
    root: str | None
    namespace: str | None
    apply: bool
    auto_only: bool
    force: bool
    json: bool


def _read(arguments: Sequence[str] | None) -> _Chosen:
    parser = argparse.ArgumentParser(
        prog="lean-memory-maintain",
        description="Tidy a memory: exact duplicates and long unused trifles by itself, everything else as a proposal to the person. "
        "Without --apply it only says what it would do, and writes nothing.",
    )
    parser.add_argument("--root", help="the data folder (default: $LM_DATA_ROOT, else ~/.lean_memory)")
    parser.add_argument("--namespace", help="one namespace; without it every one in turn")
    parser.add_argument("--apply", action="store_true", help="do it")
    parser.add_argument("--auto-only", action="store_true", help="only what needs no decision")
    parser.add_argument("--force", action="store_true", help="with --apply: even where little is new since the last run")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser.parse_args(arguments, namespace=_Chosen())


def _tidied(memory: MemoryService, namespace: str, chosen: _Chosen, stop: _Stop) -> MaintenanceReport:
    """What maintenance of one namespace did. One that cannot be used is reported and leaves the others their turn."""
    started_at = system_clock()
    try:
        return memory.maintain(
            namespace,
            apply=chosen.apply,
            auto_only=chosen.auto_only,
            force=chosen.force,
            trigger=TRIGGER,
            cancelled=lambda: stop.asked,
        )[0]
    except (InvalidInputError, NotFoundError):
        if chosen.namespace is not None:
            raise
        sentence = "It was removed meanwhile; nothing was done."
    except LeanMemoryError as error:
        sentence = str(error)
    return MaintenanceReport(
        namespace=namespace,
        state="failed",
        dry_run=not chosen.apply,
        started_at=started_at,
        ended_at=system_clock(),
        sentence=sentence,
        trigger=TRIGGER,
    )


@contextlib.contextmanager
def _stopping() -> Generator[_Stop]:
    """Ctrl-C and an end of the session let the batch in hand be finished."""
    stop = _Stop()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.asked = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show(root: str, chosen: _Chosen, reports: Sequence[MaintenanceReport]) -> None:
    if chosen.json:
        forms = [report_form(report) for report in reports]
        print(json.dumps({"root": root, "dry_run": not chosen.apply, "reports": forms}, ensure_ascii=True, indent=2))
        return
    for report in reports:
        print(f"{_printable(report.namespace)}: {_printable(report.sentence)}")
    if not reports:
        print("There is no namespace to tidy.")
    elif not chosen.apply:
        print("--apply does it.")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in " ".join(text.split()))


def _complain(sentence: str, code: int) -> int:
    print(_printable(sentence), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
