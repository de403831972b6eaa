"""What a run did, in words."""

from __future__ import annotations

from dataclasses import replace

from lean_memory.proposals import MaintenanceReport, ProposalKind
from lean_memory.store.runs import NEW_FACTS, Work

_KINDS = {
    ProposalKind.MERGE.value: ("merge", "merges"),
    ProposalKind.DEMOTION.value: ("demotion", "demotions"),
    ProposalKind.SUMMARY.value: ("summary", "summaries"),
    ProposalKind.SAME_ENTITY.value: ("pair of names", "pairs of names"),
    ProposalKind.CONFLICT.value: ("conflict", "conflicts"),
    ProposalKind.FORGET.value: ("thing to forget", "things to forget"),
}


def report(bare: MaintenanceReport, *, work: Work | None = None) -> MaintenanceReport:
    """The report with its sentence; that of a failed run keeps what went wrong. `work` is what there was to do for one that was not due."""
    return replace(bare, sentence=_not_due(work) if work is not None else _sentence(bare))


def _not_due(work: Work) -> str:
    since = "since the last run" if work.had_run else "so far, and there was no run yet"
    return (
        f"Nothing was due: {_count(work.new_facts, 'new fact', 'new facts')} {since}; a run is worth its while from {NEW_FACTS} on or after a "
        "week. With --force it runs anyway."
    )


def _sentence(report: MaintenanceReport) -> str:
    match report.state:
        case "held":
            return "Another maintenance run is working on this namespace, so nothing was done. Try again when it has ended."
        case "failed":
            return f"The run failed, and what it had finished stays: {report.sentence}"
        case "cancelled":
            return f"The run was stopped; what it had finished stays: {_done(report)}"
        case "dry-run":
            return f"Nothing was written. A run would do this to {_count(report.facts, 'fact', 'facts')}: {_done(report)}"
        case _:
            return f"Looked at {_count(report.facts, 'fact', 'facts')}: {_done(report)}"


def _done(report: MaintenanceReport) -> str:
    parts: list[str] = []
    if report.merged:
        parts.append(f"{_count(report.merged, 'exact duplicate', 'exact duplicates')} put together")
    if report.demoted:
        parts.append(f"{_count(report.demoted, 'fact', 'facts')} put away as hardly useful")
    parts.append(_proposed(report))
    if report.held_back:
        parts.append(f"{report.held_back} more kept for the next run")
    if report.expired:
        parts.append(f"{_count(report.expired, 'proposal', 'proposals')} expired undecided")
    return "; ".join(parts) + "."


def _proposed(report: MaintenanceReport) -> str:
    if not report.proposed:
        return "nothing proposed"
    return "proposed " + ", ".join(_count(number, *_KINDS[kind]) for kind, number in report.proposed)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
