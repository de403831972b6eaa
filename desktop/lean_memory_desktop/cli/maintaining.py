"""`lean-memory maintain`: tidy now, see how it stands, and set when it happens by itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory_desktop.cli.console import complain, progress, say, write_json
from lean_memory_desktop.cli.opening import data_root
from lean_memory_desktop.cli.options import BadUseError, Exit, Options

if TYPE_CHECKING:
    from lean_memory_bridge.schemas.maintenance import ReportView, ScheduleView

_USE = (
    "Use: lean-memory maintain [--apply], maintain status, maintain stop, maintain pause, maintain resume, maintain at HH:MM, "
    "or maintain agents on|off."
)


def maintain(options: Options) -> int:
    """Tidy (a dry run without --apply), or carry out one of the words."""
    match options.words:
        case []:
            return _run(options)
        case ["status"]:
            return _status(options)
        case ["stop"]:
            return _stop(options)
        case ["pause" | "resume" as word]:
            return _set(options, paused=word == "pause")
        case ["at", at]:
            from lean_memory_bridge.nights import time_of

            return _set(options, at=time_of(at))
        case ["agents", "on" | "off" as word]:
            return _set(options, agents_decide=word == "on")
        case _:
            raise BadUseError(_USE)


def _run(options: Options) -> int:
    from lean_memory_bridge.schemas.maintenance import MaintainRequest
    from lean_memory_desktop.cli.upkeep import opened

    named = "namespace" in vars(options)
    asked = MaintainRequest(
        namespace=options.namespace if named else None,
        every=not named,
        apply=options.apply,
        auto_only=options.auto_only,
        force=options.force,
        wait=0,
    )
    with opened(options) as upkeep, progress(100, "Tidying") as bar:
        reports = upkeep.maintain(asked, bar.reach)
    if options.json:
        forms = [report.model_dump(mode="json") for report in reports]
        write_json({"root": str(data_root(options)), "dry_run": not options.apply, "reports": forms})
    else:
        _show(options, reports)
    return Exit.FAILED if any(report.state == "failed" for report in reports) else Exit.FINE


def _show(options: Options, reports: Sequence[ReportView]) -> None:
    for report in reports:
        say(f"{report.namespace}: {report.sentence}")
        if report.run_id is not None:
            say(f"To take it back: lean-memory revert {report.run_id} -n {report.namespace}", indent=2)
    if not reports:
        say("Nothing is remembered yet, so there is nothing to tidy.")
    elif not options.apply:
        say("Add --apply to do it, and --force where little is new since the last run.")
    if any(report.proposed for report in reports) and options.apply:
        say("lean-memory review shows what waits for your decision.")


def _status(options: Options) -> int:
    from lean_memory_bridge.review_wording import state
    from lean_memory_desktop.cli.upkeep import opened

    with opened(options) as upkeep:
        found = upkeep.state(options.namespace)
    if options.json:
        write_json(found.model_dump(mode="json"))
    else:
        for line in state(found).splitlines():
            say(line)
        if found.schedule.problem:
            complain(found.schedule.problem)
    return Exit.FINE


def _stop(options: Options) -> int:
    from lean_memory_desktop.cli.upkeep import opened

    with opened(options) as upkeep:
        cancelled = upkeep.cancel(options.namespace)
    if options.json:
        write_json({"cancelled": cancelled})
    else:
        say(
            "The run ends at its next step; what it did stays, and can be reverted."
            if cancelled
            else f"No run goes on in {options.namespace!r}."
        )
    return Exit.FINE


def _set(options: Options, *, at: dt.time | None = None, paused: bool | None = None, agents_decide: bool | None = None) -> int:
    view = _changed(data_root(options), at=at, paused=paused, agents_decide=agents_decide)
    if options.json:
        write_json(view.model_dump(mode="json"))
        return Exit.FINE
    say(f"The nightly tidying is {'paused' if view.paused else f'at {view.at}'}.")
    say(f"Assistants {'may' if view.agents_decide else 'may not'} record a verdict where you cannot be asked through them.")
    if view.problem:
        complain(view.problem)
    return Exit.FINE


def _changed(root: Path, *, at: dt.time | None, paused: bool | None, agents_decide: bool | None) -> ScheduleView:
    from lean_memory_bridge.maintenance_client import MaintenanceClient
    from lean_memory_bridge.nights import change_settings
    from lean_memory_bridge.schemas.maintenance import ScheduleChange
    from lean_memory_desktop.cli.upkeep import schedule_of

    client = MaintenanceClient.find(root)
    if client is not None:
        change = ScheduleChange(at=None if at is None else f"{at:%H:%M}", paused=paused, agents_decide=agents_decide)
        return client.change_schedule(change)
    change_settings(root, at=at, paused=paused, agents_decide=agents_decide)
    return schedule_of(root)
