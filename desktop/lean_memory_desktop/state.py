"""What the icon and the menu show of the memory's state. Pure: values in, values out; the tray draws them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lean_memory_bridge.schemas import AssistantView, ModelsView, Snapshot
    from lean_memory_bridge.schemas.maintenance import ScheduleView, Upkeep

CONNECTED = frozenset({"connected", "outdated", "edited"})
"""Standings in which an assistant has our entry."""
_LONGEST_LABEL = 90


class Mood(Enum):
    """What the icon says at a glance, in the order in which one hides the next."""

    TROUBLE = "trouble"
    PAUSED = "paused"
    REVIEW = "review"
    WORKING = "working"
    FINE = "fine"


class Panel(Enum):
    """What the icon stands on."""

    LIGHT = "light"
    DARK = "dark"
    UNKNOWN = "unknown"
    """The icon brings a ground of its own."""


class Do(Enum):
    """What a menu entry asks for."""

    OPEN = "open"
    SWITCH = "switch"
    RUN = "run"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    LOGIN = "login"
    NOTIFY = "notify"
    FOLDER = "folder"
    LOGS = "logs"
    CHECK = "check"
    START_AGAIN = "start again"
    QUIT = "quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something the person chose; `what` is the page to open or the assistant to switch."""

    do: Do
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the menu. Without an action and children it is only read; without a label it is a rule."""

    label: str = ""
    action: Action | None = None
    ticked: bool | None = None
    """Whether it is a switch that is on; `None` for what is no switch."""
    children: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that a tray shows."""

    mood: Mood
    count: int
    """Proposals that wait, of all namespaces."""
    title: str
    menu: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the tray knows at a moment."""

    now: dt.datetime
    """Aware, in the zone the person lives in."""
    snapshot: Snapshot | None = None
    """The newest state; `None` until the service answers, and where it no longer does."""
    assistants: tuple[AssistantView, ...] = ()
    busy: frozenset[str] = frozenset()
    """Assistants that are being connected or disconnected."""
    paused: bool = False
    trouble: str = ""
    """Why nothing works, as a sentence, where that is so."""
    at_login: bool = False
    notifies: bool = True
    has_started: bool = False
    """Whether the service ever answered."""


def view(known: Known) -> View:
    """What to show of what is known."""
    mood, count, status = mood_of(known), pending(known.snapshot), _status(known)
    return View(mood=mood, count=count, title=_shortened(f"Lean Memory: {status}"), menu=tuple(_menu(known, status, count)))


def mood_of(known: Known) -> Mood:
    """What the icon says."""
    if known.trouble or troubles(known.snapshot):
        return Mood.TROUBLE
    if known.paused:
        return Mood.PAUSED
    if pending(known.snapshot):
        return Mood.REVIEW
    return Mood.WORKING if known.snapshot is None or _at_work(known.snapshot) else Mood.FINE


def pending(snapshot: Snapshot | None) -> int:
    """How many proposals wait for the person, in all namespaces."""
    return 0 if snapshot is None else sum(upkeep.pending for upkeep in snapshot.upkeep)


def troubles(snapshot: Snapshot | None) -> tuple[str, ...]:
    """What stands in the way at present and needs the person, a sentence each."""
    if snapshot is None:
        return ()
    own = (f"The built-in embedder cannot be loaded. {snapshot.model.message}".strip(),) if snapshot.model.state == "failed" else ()
    roles = () if snapshot.models is None else snapshot.models.roles
    failed = tuple(f"The {role.role} of the tier cannot be loaded. {role.message}".strip() for role in roles if role.state == "failed")
    return own + failed


def running(snapshot: Snapshot | None) -> tuple[Upkeep, ...]:
    """The namespaces that are being tidied."""
    return () if snapshot is None else tuple(upkeep for upkeep in snapshot.upkeep if upkeep.running)


def is_pulling(snapshot: Snapshot) -> bool:
    """Whether models are being fetched."""
    return snapshot.models is not None and snapshot.models.pull is not None and snapshot.models.pull.state == "running"


def proposals(count: int) -> str:
    """So many proposals, in words."""
    return "1 proposal" if count == 1 else f"{count} proposals"


def _at_work(snapshot: Snapshot) -> bool:
    warming = snapshot.models is not None and any(role.state == "warming" for role in snapshot.models.roles)
    return snapshot.model.state == "loading" or warming or is_pulling(snapshot) or bool(running(snapshot))


def _status(known: Known) -> str:
    snapshot = known.snapshot
    standing = [sentence for sentence in (known.trouble, *troubles(snapshot)) if sentence]
    if standing:
        return standing[0]
    if snapshot is None:
        return "starting again…" if known.has_started else "starting…"
    return "paused; assistants read and write nothing" if known.paused else _occupation(snapshot)


def _occupation(snapshot: Snapshot) -> str:
    tidied, count = running(snapshot), pending(snapshot)
    if tidied:
        return f"tidying {tidied[0].namespace}{_per_cent(tidied[0].progress)}"
    if count:
        return f"{proposals(count)} {'waits' if count == 1 else 'wait'} for you"
    if is_pulling(snapshot):
        return _models(snapshot.models)
    return "ready"


def _menu(known: Known, status: str, count: int) -> Iterator[Entry]:
    yield Entry(label=_shortened(status[:1].upper() + status[1:]))
    if known.trouble:
        yield Entry(label="Start again", action=Action(do=Do.START_AGAIN))
    yield Entry()
    yield Entry(label=f"Review {proposals(count)}…" if count else "Review…", action=Action(do=Do.OPEN, what="review"))
    yield Entry(label="Open memory…", action=Action(do=Do.OPEN, what="memories"))
    yield Entry(label="Assistants", children=tuple(_assistants(known)))
    yield Entry()
    yield from _tidying(known)
    yield Entry(label=_models(known.snapshot.models if known.snapshot else None), action=Action(do=Do.OPEN, what="models"))
    yield Entry()
    yield Entry(label="Pause memory", action=Action(do=Do.RESUME if known.paused else Do.PAUSE), ticked=known.paused)
    yield Entry(label="Notifications", action=Action(do=Do.NOTIFY), ticked=known.notifies)
    yield Entry(label="Start at login", action=Action(do=Do.LOGIN), ticked=known.at_login)
    yield Entry()
    yield Entry(label="Open data folder", action=Action(do=Do.FOLDER))
    yield Entry(label="View logs", action=Action(do=Do.LOGS))
    yield Entry(label="Check connections", action=Action(do=Do.CHECK))
    yield Entry()
    yield Entry(label="Quit", action=Action(do=Do.QUIT))


def _assistants(known: Known) -> Iterator[Entry]:
    seen: dict[str, tuple[str, bool]] = {}
    for one in known.assistants:
        if one.installed or one.standing in CONNECTED:
            _, before = seen.get(one.id, (one.name, False))
            seen[one.id] = (one.name, before or one.standing in CONNECTED)
    for name, (label, connected) in seen.items():
        at_it = name in known.busy
        waiting = "…" if at_it else ""
        yield Entry(label=label + waiting, action=None if at_it else Action(do=Do.SWITCH, what=name), ticked=connected)
    if not seen:
        yield Entry(label="No assistant was found on this computer" if known.snapshot else "Not known yet")
    yield Entry()
    yield Entry(label="Others…", action=Action(do=Do.OPEN, what="assistants"))


def _tidying(known: Known) -> Iterator[Entry]:
    tidied = running(known.snapshot)
    if tidied:
        yield Entry(label=f"Stop tidying{_per_cent(tidied[0].progress)}", action=Action(do=Do.CANCEL))
        return
    yield Entry(label="Tidy up now", action=Action(do=Do.RUN) if known.snapshot else None)
    schedule = None if known.snapshot is None else known.snapshot.schedule
    if schedule is not None:
        yield Entry(label=_shortened(_next_run(schedule, known.now)))


def _next_run(schedule: ScheduleView, now: dt.datetime) -> str:
    if schedule.paused:
        return "The nightly tidying is paused"
    if schedule.waiting_for:
        return f"The nightly tidying waits for {schedule.waiting_for}"
    if schedule.next_at is None:
        return f"Next tidying {schedule.at}"
    due = dt.datetime.fromtimestamp(schedule.next_at / 1000, now.tzinfo)
    soon = due - now < dt.timedelta(hours=24)
    return f"Next tidying {due:%H:%M}" if soon else f"Next tidying {due:%Y-%m-%d %H:%M}"


def _models(models: ModelsView | None) -> str:
    if models is None:
        return "Models"
    pull = models.pull
    if pull is not None and pull.state == "running":
        doing = "checking" if pull.phase == "checking" else "fetching"
        return f"Models: {doing} {pull.tier}{_per_cent(pull.done / pull.total if pull.total else None)}"
    if any(role.state == "warming" for role in models.roles):
        return f"Models: loading {_tier(models)}"
    made = [vectors for vectors in models.vectors if vectors.done < vectors.total]
    if made:
        return f"Models: making vectors{_per_cent(sum(v.done for v in made) / sum(v.total for v in made))}"
    return f"Models: {_tier(models)}"


def _tier(models: ModelsView) -> str:
    return "built-in" if models.tier == "builtin" else models.tier


def _per_cent(share: float | None) -> str:
    return "" if share is None else f", {max(0, min(100, int(share * 100)))} %"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
