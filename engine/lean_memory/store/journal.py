"""What maintenance did, entry by entry, so that a run or a decision can be taken back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

import apsw

from lean_memory.domain import Instant

State = Mapping[str, str | int | bool | None]


class Verb(StrEnum):
    """What can be done to a target."""

    MERGE = "merge"
    """A fact holds on as a duplicate of another one."""
    DEMOTE = "demote"
    PROMOTE = "promote"
    KEEP = "keep"
    SUMMARISE = "summarise"
    """A summary was written."""
    RETRACT = "retract"
    """A value lost a conflict."""
    ALIAS = "alias"
    """A name is read as another one's; the target is the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing done: to a fact, by its id, or to a name."""

    verb: Verb
    target: str
    before: State = field(default_factory=dict[str, "str | int | bool | None"])
    after: State = field(default_factory=dict[str, "str | int | bool | None"])


def note(con: apsw.Connection, entry: Entry, *, at: Instant, run: int | None = None, proposal: int | None = None) -> None:
    """Write down an entry of a run or of a decision."""
    con.execute(
        "INSERT INTO journal (run_id, proposal_id, at, verb, target, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run, proposal, at, entry.verb.value, entry.target, json.dumps(dict(entry.before)), json.dumps(dict(entry.after))),
    )


def entries(con: apsw.Connection, *, run: int | None = None, proposal: int | None = None) -> list[Entry]:
    """The entries of a run itself, or of a decision, newest first. What was erased since has none."""
    where, given = ("run_id = ? AND proposal_id IS NULL", run) if run is not None else ("proposal_id = ?", proposal)
    rows = con.execute(f"SELECT verb, target, before, after FROM journal WHERE {where} ORDER BY id DESC", (given,)).fetchall()
    return [
        Entry(verb=Verb(verb), target=target, before=json.loads(before), after=json.loads(after))
        for verb, target, before, after in cast("list[tuple[str, str, str, str]]", rows)
    ]
