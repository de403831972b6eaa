"""What is worth a notification, so that each thing is told once. Pure.

Three things are: proposals that wait and were not told of yet, a download that ended, and trouble. While a run goes on its proposals are
not told, so that a night makes one notification and not one for each namespace.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lean_memory_desktop.state import is_pulling, pending, proposals, running, troubles

if TYPE_CHECKING:
    from lean_memory_bridge.schemas import Snapshot

TOLD_AGAIN_AFTER = dt.timedelta(hours=24)
"""The same trouble is told of again after this, if it went away and came back meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A notification; a click on it opens `page`."""

    title: str
    text: str
    page: str
    is_trouble: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was told already; outlives the tray."""

    waiting: int = 0
    """How many of the proposals that wait the person knows of."""
    pulling: str = ""
    """The tier whose download was seen to go on, and whose end is to be told."""
    troubles: dict[str, float] = field(default_factory=dict[str, float])
    """Each trouble that was told of, with the moment in seconds since 1970."""


def news(told: Told, snapshot: Snapshot, now: dt.datetime) -> tuple[Told, tuple[Notice, ...]]:
    """What is told once `snapshot` is seen, and which notifications that takes."""
    after_proposals, of_proposals = _of_proposals(told, snapshot)
    after_pull, of_pull = _of_download(after_proposals, snapshot)
    after_trouble, of_trouble = trouble(after_pull, troubles(snapshot), now)
    return after_trouble, (*of_proposals, *of_pull, *of_trouble)


def trouble(told: Told, standing: Sequence[str], now: dt.datetime) -> tuple[Told, tuple[Notice, ...]]:
    """The same for the troubles that stand now."""
    moment = now.timestamp()
    # What was told in the future was told by a clock that went wrong, and is forgotten as well.
    known = {what: at for what, at in told.troubles.items() if what in standing or abs(moment - at) < TOLD_AGAIN_AFTER.total_seconds()}
    fresh = [what for what in standing if what not in known]
    notices = tuple(Notice(title="Lean Memory needs you", text=what, page="settings", is_trouble=True) for what in fresh)
    return replace(told, troubles={**known, **dict.fromkeys(fresh, moment)}), notices


def _of_proposals(told: Told, snapshot: Snapshot) -> tuple[Told, tuple[Notice, ...]]:
    count = pending(snapshot)
    if count <= told.waiting or running(snapshot):
        return replace(told, waiting=min(told.waiting, count)), ()
    more = f"{proposals(count)} {'waits' if count == 1 else 'wait'} for you. Nothing is changed until you decide."
    return replace(told, waiting=count), (Notice(title="Your memory has been looked through", text=more, page="review"),)


def _of_download(told: Told, snapshot: Snapshot) -> tuple[Told, tuple[Notice, ...]]:
    pull = None if snapshot.models is None else snapshot.models.pull
    if pull is None:
        return told, ()
    if is_pulling(snapshot):
        return replace(told, pulling=pull.tier), ()
    if told.pulling != pull.tier:
        return told, ()
    match pull.state:
        case "done":
            notices = (Notice(title="The download is done", text=f"The models of the tier {pull.tier} are here.", page="models"),)
        case "failed" | "cut off":
            why = pull.sentence or "It goes on from where it stopped."
            notices = (Notice(title="The download stopped", text=why, page="models", is_trouble=True),)
        case _:
            notices = ()
    return replace(told, pulling=""), notices
