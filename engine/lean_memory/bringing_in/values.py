"""What can be brought in from elsewhere, and what a person is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lean_memory.custody import Part
from lean_memory.domain import Instant
from lean_memory.errors import LeanMemoryError

PLACES = 5
"""How many places are named of what was left out for one reason."""
SAMPLES = 5
"""How many texts a preview shows."""


class Kind(StrEnum):
    """Where something comes from. The value also names the client of every text that is brought in."""

    OLDER = "lean-memory"
    """The older lean-memory's database of one or several namespaces, schema versions 1 to 3."""
    CHATGPT = "chatgpt"
    """The data export of ChatGPT: a zip or a folder with `conversations.json`, or that file."""
    CLAUDE = "claude"
    """The data export of Claude, likewise."""
    MEM0 = "mem0"
    """Memories of mem0 as JSON or as one JSON object a line."""
    BASIC_MEMORY = "basic-memory"
    """A folder of basic-memory's Markdown notes, or one of them."""
    MCP_SERVER = "mcp-memory"
    """The file of the reference MCP memory server: one entity or relation a line."""
    PLAIN = "text"
    """Markdown or plain text: a file or a folder."""


class State(StrEnum):
    """How far it went."""

    PREVIEW = "preview"
    """Nothing was written."""
    DONE = "done"
    STOPPED = "stopped"
    """It was asked to stop, or broke off; what was brought in until then stays, and the same call goes on from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was not brought in, for one reason."""

    reason: str
    """A sentence."""
    count: int
    places: tuple[str, ...] = ()
    """Where the first of them are, such as a file and a line; never what they say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What bringing something in would do, or did."""

    kind: Kind
    path: Path
    state: State
    namespaces: tuple[str, ...]
    """Into which namespaces it goes."""
    texts: int = 0
    """Texts that were found and can be brought in; `known` and `added` are parts of them."""
    known: int = 0
    """Texts that were brought in before."""
    added: int = 0
    """Texts that are new here; in a preview, those that would be."""
    facts: int = 0
    """Facts that were learned; a preview only knows them of the older files."""
    superseded: int = 0
    """Facts that were the latest here and are no longer."""
    forgotten: int = 0
    """Statements that were left out because the person had them forgotten here."""
    redacted: tuple[str, ...] = ()
    """The kinds of secrets that were taken out before anything was written."""
    since: Instant | None = None
    """When the earliest of the texts was said; `None` where there is none."""
    until: Instant | None = None
    """When the latest of them was said."""
    left_out: tuple[LeftOut, ...] = ()
    conflicts: tuple[Part, ...] = ()
    """Of the older files: where something else is known here too; what they say takes its place beside it by its dates."""
    samples: tuple[str, ...] = ()
    """In a preview, the first texts that would be added, shortened."""
    notes: tuple[str, ...] = ()
    reached: str = ""
    """Where it stopped or broke off: a file, and about how much of it was read. Empty where it came to the end."""
    kept_aside: Path | None = None
    """The backup of what was here before, where one was made."""


def came_before(error: LeanMemoryError) -> Report | None:
    """What had been brought in when this error broke it off; `None` where nothing was begun."""
    return error.done if isinstance(error.done, Report) else None
