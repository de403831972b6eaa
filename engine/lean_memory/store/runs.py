"""Runs as they are recorded, and the lease by which only one at a time works on a namespace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import LeaseLostError
from lean_memory.proposals import MaintenanceReport, MaintenanceRun
from lean_memory.store.clear import LEASE_LASTS_MS
from lean_memory.store.identifiers import new_uid

NEW_FACTS = 200
"""So many new facts make a run worth its while,"""
DUE_AFTER_MS = 7 * 24 * 60 * 60 * 1000
"""and so does the time since the last one."""

_SHOWN = 20
_RUN = "SELECT id, uid, state, cause, started_at, ended_at, heartbeat_at, report, reverted_at, progress FROM run"
_Row = tuple[int, str, str, str, int, int | None, int, str | None, int | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right of one run to write what maintenance writes, for as long as nobody takes it over."""

    row: int
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How much there is for a run to do."""

    new_facts: int
    had_run: bool
    """Whether the facts are counted from a complete run; else from the beginning."""
    is_due: bool
    cold: int


def claim(con: apsw.Connection, *, holder: str, cause: str, now: Instant) -> Lease | None:
    """Take the lease, also from a run whose heart has stopped; `None` while another one is alive."""
    held = cast("tuple[int, int] | None", con.execute("SELECT id, heartbeat_at FROM run WHERE state = 'running'").fetchone())
    if held is not None:
        if abs(now - held[1]) < LEASE_LASTS_MS:
            return None
        con.execute("UPDATE run SET state = 'abandoned', ended_at = max(started_at, heartbeat_at) WHERE id = ?", (held[0],))
    uid = new_uid(now)
    con.execute(
        "INSERT INTO run (uid, holder, cause, started_at, heartbeat_at, state, progress) VALUES (?, ?, ?, ?, ?, 'running', 0)",
        (uid, holder, cause, now, now),
    )
    return Lease(row=con.last_insert_rowid(), run_id=uid)


def beat(con: apsw.Connection, lease: Lease, now: Instant, progress: float | None = None) -> bool:
    """Show that the run is alive; gives whether it is asked to stop. Raises `LeaseLostError`: whoever lost the lease writes nothing more."""
    # The clock as it is now, also where it was ahead at the beat before: else nobody could tell this one from a run whose heart has stopped.
    found = con.execute(
        "UPDATE run SET heartbeat_at = ?2, progress = max(progress, coalesce(?3, 0)) WHERE id = ?1 AND state = 'running' "
        "RETURNING is_cancelled",
        (lease.row, now, progress),
    ).fetchone()
    if found is None:
        raise LeaseLostError("Another maintenance run has taken over, as this one seemed to have stopped; it wrote nothing more.")
    return bool(found[0])


def finish(con: apsw.Connection, lease: Lease, report: MaintenanceReport, now: Instant) -> None:
    """End a run with its report. Raises `LeaseLostError`."""
    beat(con, lease, now, 1.0)
    con.execute("UPDATE run SET state = ?, ended_at = ?, report = ? WHERE id = ?", (report.state, now, _written(report), lease.row))


def ask_to_stop(con: apsw.Connection) -> bool:
    """Ask the run under way to stop at its next batch; gives whether there is one."""
    return con.execute("UPDATE run SET is_cancelled = 1 WHERE state = 'running' RETURNING id").fetchone() is not None


def run_row(con: apsw.Connection, run_id: str) -> int | None:
    """The row of a run, if there is one."""
    return cast("int | None", con.execute("SELECT id FROM run WHERE uid = ?", (run_id,)).get)


def end_if_dead(con: apsw.Connection, row: int, now: Instant) -> bool:
    """Whether a run has ended; one whose heart has stopped ends with this."""
    con.execute(
        "UPDATE run SET state = 'abandoned', ended_at = max(started_at, heartbeat_at) WHERE id = ? AND state = 'running' AND abs(? - heartbeat_at) >= ?",
        (row, now, LEASE_LASTS_MS),
    )
    return con.execute("SELECT state FROM run WHERE id = ?", (row,)).get != "running"


def note_reverted(con: apsw.Connection, row: int, now: Instant) -> None:
    """Note that a run was taken back."""
    con.execute("UPDATE run SET reverted_at = ? WHERE id = ?", (now, row))


def is_reverted(con: apsw.Connection, row: int) -> bool:
    """Whether a run was taken back."""
    return con.execute("SELECT 1 FROM run WHERE id = ? AND reverted_at IS NOT NULL", (row,)).fetchone() is not None


def recent_runs(con: apsw.Connection, namespace: str) -> tuple[MaintenanceRun, ...]:
    """The runs of a namespace, newest first, at most 20."""
    rows = con.execute(f"{_RUN} ORDER BY id DESC LIMIT {_SHOWN}").fetchall()
    return tuple(_run(row, namespace) for row in cast("list[_Row]", rows))


def work(con: apsw.Connection, now: Instant) -> Work:
    """How much has come since the last complete run."""
    since = cast("int | None", con.execute("SELECT max(started_at) FROM run WHERE state = 'done' AND cause <> 'auto'").get)
    first = cast("int | None", con.execute("SELECT min(recorded_at) FROM fact").get)
    new = cast("int", con.execute("SELECT count(*) FROM fact WHERE recorded_at > ? AND record_kind = 'fact'", (since or -1,)).get)
    cold = cast("int", con.execute("SELECT count(*) FROM fact WHERE is_latest = 1 AND tier = 'cold'").get)
    waited = first is not None and now - (first if since is None else since) >= DUE_AFTER_MS
    return Work(new_facts=new, had_run=since is not None, is_due=new >= NEW_FACTS or waited, cold=cold)


def is_auto_due(con: apsw.Connection, now: Instant) -> bool:
    """Whether the safe band alone is worth a run: nothing has gone over the namespace for as long as makes one due."""
    since = cast("int | None", con.execute("SELECT max(started_at) FROM run WHERE state = 'done'").get)
    stands = work(con, now)
    return stands.is_due and (since is None or now - since >= DUE_AFTER_MS or stands.new_facts >= NEW_FACTS)


def _run(row: _Row, namespace: str) -> MaintenanceRun:
    _, uid, state, cause, started_at, ended_at, heartbeat_at, report, reverted_at, progress = row
    return MaintenanceRun(
        id=uid,
        namespace=namespace,
        state=state,
        trigger=cause,
        started_at=Instant(started_at),
        ended_at=None if ended_at is None else Instant(ended_at),
        heartbeat_at=Instant(heartbeat_at),
        report=None if report is None else _read(report, namespace, uid),
        reverted_at=None if reverted_at is None else Instant(reverted_at),
        progress=progress if state == "running" else None,
    )


_COUNTS = ("facts", "merged", "demoted", "held_back", "expired", "started_at", "ended_at")


def _written(report: MaintenanceReport) -> str:
    told: dict[str, object] = {name: getattr(report, name) for name in _COUNTS}
    return json.dumps(
        told
        | {
            "state": report.state,
            "sentence": report.sentence,
            "trigger": report.trigger,
            "proposed": [list(pair) for pair in report.proposed],
        }
    )


def _read(written: str, namespace: str, run_id: str) -> MaintenanceReport:
    told = json.loads(written)
    return MaintenanceReport(
        namespace=namespace,
        run_id=run_id,
        dry_run=False,
        state=told["state"],
        sentence=told["sentence"],
        trigger=told["trigger"],
        proposed=tuple((kind, count) for kind, count in told["proposed"]),
        **{name: told[name] for name in _COUNTS},
    )
