"""`lean-memory bring-in`: what a person has elsewhere, shown first and then taken in, each text once."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import LeanMemoryError, NotFoundError
from lean_memory_desktop.cli.adding import PoliteInterrupt
from lean_memory_desktop.cli.console import ask, can_ask, complain, counted, progress, say, write_json
from lean_memory_desktop.cli.moments import show_moment
from lean_memory_desktop.cli.opening import open_files, zone_of
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory import Memory
    from lean_memory.bringing_in import Report

_PARTS = 1_000
"""Steps of the bar."""
_SHOWN = 20


def bring_in(options: Options) -> int:
    """Say what would come of it, ask, and bring it in; without a path, say which older files lie in the data folder."""
    with open_files(options) as memory:
        if not options.words:
            return _list(options, memory.older_files())
        if not (options.yes or options.dry_run or can_ask()):
            if not (path := _path(options)).exists():
                raise NotFoundError(f"There is nothing at {path}; nothing was brought in.")
            raise BadUseError(
                "There is no terminal to ask you at, so nothing was brought in; add --yes to bring it in, or --dry-run to see what would come of it."
            )
        if not options.yes:
            previewed = _run(options, memory, apply=False)
            if options.dry_run or previewed.state == "stopped" or not _agreed(options, previewed):
                return _told(options, previewed, applied=False)
        try:
            done = _run(options, memory, apply=True)
        except LeanMemoryError as error:
            _tell_what_came(options, error)
            raise
    return _told(options, done, applied=True)


def _path(options: Options) -> Path:
    return Path(options.words[0]).expanduser().absolute()


def _run(options: Options, memory: Memory, *, apply: bool) -> Report:
    path, kind = _path(options), options.kind
    into = options.namespace if "namespace" in vars(options) else None
    verb = memory.bring_in if apply else memory.preview_bring_in
    with PoliteInterrupt() as interrupt, progress(_PARTS, "Bringing in" if apply else "Reading") as bar:
        at = 0

        def tell(done: int, total: int) -> None:
            nonlocal at
            now = _PARTS * done // max(total, 1)
            bar.advance(now - at)
            at = now

        return verb(path, kind=kind, namespace=into, progress=tell, cancelled=lambda: interrupt.asked)


def _agreed(options: Options, previewed: Report) -> bool:
    """Whether the person wants it, once they have seen what would come; where nothing is new there is nothing to ask."""
    if not previewed.added:
        return False
    for line in _lines(previewed, options, applied=False):
        complain(line)
    if ask("Bring it in? Type yes to go on:").casefold() in ("yes", "y"):
        return True
    complain("Nothing was written.")
    return False


def _told(options: Options, report: Report, *, applied: bool) -> int:
    if options.json:
        write_json(form(report))
    else:
        for line in _lines(report, options, applied=applied):
            say(line)
    return Exit.INTERRUPTED if report.state == "stopped" else Exit.FINE


def _tell_what_came(options: Options, error: LeanMemoryError) -> None:
    """Of what broke off: what was brought in until then, before the sentence that says why."""
    from lean_memory.bringing_in import came_before

    came = came_before(error)
    if came is None:
        return
    if options.json:
        write_json({**form(came), "error": str(error)})
        return
    for line in _lines(came, options, applied=True):
        say(line)


def form(report: Report) -> dict[str, object]:
    """A report as JSON has it."""
    aside = None if report.kept_aside is None else str(report.kept_aside)
    return {**asdict(report), "path": str(report.path), "kept_aside": aside}


def _lines(report: Report, options: Options, *, applied: bool) -> list[str]:
    zone = zone_of(options)
    into = ", ".join(f"“{name}”" for name in report.namespaces)
    would = "were" if applied else "would be"
    lines = [
        f"{report.path} ({report.kind}): {counted(report.texts, 'text')} for {into or 'no namespace'}; "
        f"{report.added} {would} brought in, {report.known} {'is' if report.known == 1 else 'are'} here already."
    ]
    if report.since is not None and report.until is not None:
        lines.append(f"Said from {show_moment(report.since, zone)} to {show_moment(report.until, zone)}.")
    if report.facts and applied:
        lines.append(f"{counted(report.facts, 'fact')} learned, {report.superseded} superseded by them.")
    if report.samples:
        lines += ["The first of them:", *(f"- {sample}" for sample in report.samples)]
    if report.redacted:
        lines.append(f"Secrets are taken out before anything is written: {', '.join(report.redacted)}.")
    if report.forgotten:
        lines.append(f"{counted(report.forgotten, 'statement')} did not come back, because you had them forgotten here.")
    for left in report.left_out:
        where = f" ({'; '.join(left.places)}{' …' if left.count > len(left.places) else ''})" if left.places else ""
        lines.append(f"Left out, {left.count}: {left.reason}{where}")
    lines += _contradictions(report)
    if report.kept_aside is not None:
        lines.append(f"What was here before is in {report.kept_aside}.")
    lines += report.notes
    if report.state == "stopped":
        lines += [f"It came as far as {report.reached}."] if report.reached else []
        lines.append(
            "Stopped. What was brought in until then stays; the same command goes on from there."
            if applied
            else "Stopped. Nothing was written."
        )
    return lines


def _contradictions(report: Report) -> list[str]:
    if not report.conflicts:
        return []
    shown = [f"- {' / '.join(part.there)} (here: {' / '.join(part.here)})" for part in report.conflicts[:_SHOWN]]
    more = [f"- and {len(report.conflicts) - _SHOWN} more (--json lists all)"] if len(report.conflicts) > _SHOWN else []
    return ["Of these something else is known here too; each takes its place by its dates:", *shown, *more]


def _list(options: Options, found: list[Path]) -> int:
    if options.json:
        write_json({"older_files": [str(path) for path in found]})
        return Exit.FINE
    if not found:
        raise BadUseError("Name what to bring in: a file or a folder. (No file of the older lean-memory lies in the data folder.)")
    say("Files of the older lean-memory lie in the data folder:")
    for path in found:
        say(str(path), indent=2)
    say(f"Bring one in with: lean-memory bring-in {found[0]}")
    return Exit.FINE
