"""What `lean-memory doctor` finds about the nightly run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lean_memory_bridge.nights import read_record, read_settings
from lean_memory_desktop.cli.finding import Finding
from lean_memory_desktop.cli.moments import show_moment


def night_findings(root: Path) -> Iterator[Finding]:
    """When the memory was last tidied by itself, and whether what was set about it can be used."""
    settings, record = read_settings(root), read_record(root)
    if settings.problem:
        yield Finding(
            subject="nightly tidying",
            sound=False,
            sentence=settings.problem,
            remedy=f"lean-memory maintain at {settings.at:%H:%M} --root '{root}'",
        )
    elif settings.paused:
        yield Finding(
            subject="nightly tidying", sound=True, sentence="The nightly tidying is paused; lean-memory maintain resume lets it go on."
        )
    elif record is None or record.ended_at is None:
        yield Finding(
            subject="nightly tidying",
            sound=True,
            sentence=f"The nightly tidying is at {settings.at:%H:%M} while the service runs; there was none yet.",
        )
    else:
        yield Finding(
            subject="nightly tidying",
            sound=True,
            sentence=f"The nightly tidying is at {settings.at:%H:%M}; the last one ended {show_moment(record.ended_at, None)}: {record.sentence}",
        )
