"""Bringing in the older lean-memory's files: every fact with the interval that it had there, so that all answers stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import tzlocal

from lean_memory.bringing_in.older_placing import Told, place, told_anew
from lean_memory.bringing_in.older_records import OlderRecords
from lean_memory.bringing_in.sources import Entry, Source
from lean_memory.bringing_in.taking_in import Course, told_with_error
from lean_memory.bringing_in.texts import Passed, Tally
from lean_memory.bringing_in.values import SAMPLES, Kind, Report, State
from lean_memory.clock import Clock
from lean_memory.custody import Fate, Imported
from lean_memory.errors import InvalidInputError, quoted
from lean_memory.open_namespace import OpenNamespace
from lean_memory.settings import Settings
from lean_memory.store import backups
from lean_memory.store.bringing_in import Given, bring_in
from lean_memory.store.migrate import builtin_migrations
from lean_memory.store.older_file import OlderRows, read_older
from lean_memory.vectors import Pace

_NONE = "A file holds no namespace with anything in it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Older:
    """What bringing older files in needs of the memory, and where they go."""

    settings: Settings
    clock: Clock
    cleared: Callable[[str], AbstractContextManager[None]]
    within: Callable[[str, Callable[[OpenNamespace], int]], int]
    """Does something with a namespace that is there."""
    into: str | None
    apply: bool


def bring_older_in(source: Source, entries: tuple[Entry, ...], older: Older, course: Course) -> Report:
    """Bring in every namespace of the files, each at one stroke, or say what that would do. Raises as `bring_in` does."""
    tally = Tally()
    report = Report(kind=Kind.OLDER, path=source.path, state=State.DONE if older.apply else State.PREVIEW, namespaces=())
    with told_with_error(lambda: replace(report, left_out=tally.told(), reached=source.reached)) if older.apply else nullcontext():
        for entry in entries:
            source.reads(entry)
            path = entry.path
            if path is None:
                raise InvalidInputError(f"{source.path} is a zip: unpack it and bring in the folder. Nothing was brought in.")
            given = _read(path, older, course)
            if given is None:
                return replace(report, state=State.STOPPED, left_out=tally.told(), reached=source.reached)
            if not given:
                tally.note(Passed(reason=_NONE, place=entry.name))
            if older.into is not None and len(given) > 1:
                names = ", ".join(f"“{quoted(rows.namespace)}”" for rows in given)
                raise InvalidInputError(f"{path} holds several namespaces ({names}), which cannot be brought into one. Name none.")
            for rows in given:
                if course.cancelled():
                    return replace(report, state=State.STOPPED, left_out=tally.told(), reached=source.reached)
                report = _with(report, rows, older, tally, course)
            source.has_read(entry.size)
            course.progress()
    return replace(report, left_out=tally.told())


def _read(path: Path, older: Older, course: Course) -> list[OlderRows] | None:
    """What the file holds of each namespace; nothing where it was cancelled."""
    with backups.at_work(older.settings.root, "bringing-in") as work:
        return read_older(path, work, course.cancelled)


def _with(report: Report, rows: OlderRows, older: Older, tally: Tally, course: Course) -> Report:
    """The report with what came of one namespace."""
    name = rows.namespace if older.into is None else older.into
    made = OlderRecords(rows=rows, tz=older.settings.timezone or tzlocal.get_localzone_name(), left=tally)
    records = made.records()
    told = _bring(Given(name=name, schema_version=builtin_migrations()[-1].version, records=records), older)
    conflicts = told.of(Fate.CONFLICT)
    anew = told_anew(records, conflicts, tally)
    if older.apply:
        older.within(name, lambda opened: _settle(opened, anew, course))
    texts = [str(record["text"]) for record in records if record["kind"] == "episode"]
    times = [t_ref for record in records if record["kind"] == "episode" and isinstance(t_ref := record["t_ref"], int)]
    since = [at for at in (report.since, *times) if at is not None]
    until = [at for at in (report.until, *times) if at is not None]
    samples = [sentence for part in told.of(Fate.ADD) for sentence in part.there]
    return replace(
        report,
        namespaces=(*report.namespaces, name),
        texts=report.texts + len(texts),
        added=report.added + told.episodes,
        known=report.known + len(texts) - told.episodes,
        facts=report.facts + (made.facts if told.parts or told.episodes else 0),
        forgotten=report.forgotten + told.forgotten,
        redacted=tuple(sorted({*report.redacted, *made.redacted})),
        since=min(since, default=None),
        until=max(until, default=None),
        conflicts=(*report.conflicts, *conflicts),
        samples=report.samples if older.apply else (*report.samples, *samples)[:SAMPLES],
        kept_aside=told.kept_aside or report.kept_aside,
        notes=(*report.notes, f"From schema version {rows.version} of “{quoted(rows.namespace)}”."),
    )


def _settle(opened: OpenNamespace, anew: Told, course: Course) -> int:
    """Place what is told beside what was here, and make the vectors of everything that came; gives how many facts are new."""
    new = opened.store.change(lambda tx: place(tx, anew)) if anew else 0
    opened.catch_up_vectors(Pace(limit=None, ends=None, progress=None, cancelled=course.cancelled))
    return new


def _bring(given: Given, older: Older) -> Imported:
    root = older.settings.root
    with older.cleared(given.name), backups.at_work(root, "bringing-in") as work:
        return bring_in(given, work, root=root, settings=older.settings, clock=older.clock, apply=older.apply)
