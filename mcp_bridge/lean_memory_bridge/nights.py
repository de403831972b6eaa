"""What the person set about maintenance, and how the nights stand: two small files of a data root. Standard library alone.

`maintenance.json` holds the settings; a command, the tray and the service may write it. `nights.json` is the record of the one schedule
that runs, which alone writes it; the service reads it to tell when the next run is.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from lean_memory.errors import InvalidInputError
from lean_memory.private_files import replace_private

SETTINGS_FILE = "maintenance.json"
RECORD_FILE = "nights.json"
DEFAULT_AT = dt.time(3, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class NightSettings:
    """When the nightly run is due, in local time, and what the person allows."""

    at: dt.time = DEFAULT_AT
    paused: bool = False
    """Whether no night's run is to begin by itself."""
    agents_decide: bool = True
    """Whether an assistant may record a verdict where the person cannot be asked through it."""
    problem: str = ""
    """Why something that was set could not be used, as a sentence; the default stands in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightRecord:
    """Which night is done, and what was tried for the one after. Nights are named by their local date, moments are epoch milliseconds."""

    done: str | None = None
    """The newest night that needs nothing more."""
    at: str = f"{DEFAULT_AT:%H:%M}"
    """The time of day that nights were reckoned by."""
    ended_at: int | None = None
    """When its run ended; `None` where nothing was ever run."""
    sentence: str = ""
    """What came of it, in words."""
    trying: str | None = None
    """The night whose run was begun and is not done."""
    attempts: int = 0
    again_at: int | None = None
    """Not to be tried again before."""
    next_at: int | None = None
    """When the next run is due; past, where it waits. `None` while paused."""
    waiting_for: str = ""
    """What a due run waits for, as words that follow "waits for"."""


def read_settings(root: Path, environ: Mapping[str, str] = os.environ) -> NightSettings:
    """The settings of a data root; `LM_MAINT_AT` and `LM_MAINT_AGENTS` (0 or 1) win over the file."""
    held, problem = _held(root / SETTINGS_FILE)
    at, wrong = _time(environ.get("LM_MAINT_AT") or held.get("at"), "LM_MAINT_AT" if environ.get("LM_MAINT_AT") else SETTINGS_FILE)
    agents = environ.get("LM_MAINT_AGENTS") or ""
    return NightSettings(
        at=at,
        paused=held.get("paused") is True,
        agents_decide=agents == "1" if agents in ("0", "1") else held.get("agents_decide") is not False,
        problem=problem or wrong,
    )


def change_settings(
    root: Path, *, at: dt.time | None = None, paused: bool | None = None, agents_decide: bool | None = None
) -> NightSettings:
    """Set what is given and leave the rest; gives what holds now, which the environment may still override."""
    held, _ = _held(root / SETTINGS_FILE)
    given = {"at": None if at is None else f"{at:%H:%M}", "paused": paused, "agents_decide": agents_decide}
    _put(root / SETTINGS_FILE, {**held, **{name: value for name, value in given.items() if value is not None}})
    return read_settings(root)


def time_of(text: str) -> dt.time:
    """A time of day, written like 03:30. Raises `InvalidInputError`."""
    try:
        return dt.datetime.strptime(text.strip(), "%H:%M").time()
    except ValueError as error:
        raise InvalidInputError(f"{text[:40]!r} is not a time of day; write it like 03:30.") from error


def read_record(root: Path) -> NightRecord | None:
    """The record; `None` where there is none yet, or none that can be understood."""
    held, problem = _held(root / RECORD_FILE)
    if problem or not held:
        return None
    try:
        return NightRecord(
            done=_night_or_none(held["done"]),
            at=f"{time_of(str(held['at'])):%H:%M}",
            ended_at=_number_or_none(held["ended_at"]),
            sentence=str(held["sentence"]),
            trying=_night_or_none(held["trying"]),
            attempts=int(held["attempts"]),
            again_at=_number_or_none(held["again_at"]),
            next_at=_number_or_none(held["next_at"]),
            waiting_for=str(held["waiting_for"]),
        )
    except (KeyError, TypeError, ValueError, InvalidInputError):
        return None


def write_record(root: Path, record: NightRecord) -> None:
    """Put the record in place, whole or not at all."""
    _put(root / RECORD_FILE, asdict(record))


def _time(given: object, where: str) -> tuple[dt.time, str]:
    if given is None:
        return DEFAULT_AT, ""
    try:
        return time_of(str(given)), ""
    except InvalidInputError as error:
        return DEFAULT_AT, f"{where}: {error} Until then the nightly tidying is at {DEFAULT_AT:%H:%M}."


def _held(path: Path) -> tuple[dict[str, Any], str]:
    try:
        held = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError):
        held = None
    if not isinstance(held, dict):
        return {}, f"{path.name} cannot be read and is passed over; remove it, or set what you want anew."
    return cast("dict[str, Any]", held), ""


def _night_or_none(value: object) -> str | None:
    if value is not None and dt.date.fromisoformat(str(value)).isoformat() != value:
        raise ValueError(value)
    return cast("str | None", value)


def _number_or_none(value: object) -> int | None:
    return None if value is None else int(str(value))


def _put(path: Path, value: Mapping[str, object]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_private(path, json.dumps(value))
