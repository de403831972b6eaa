"""What may stand in a column of a bundle's record: only what this program writes there, as a file of anything else could not be read afterwards."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lean_memory.arguments import EARLIEST, LATEST, timezone_of
from lean_memory.domain import Act, EndReason, EpisodeState, Modality, Polarity, RecordKind, Source, Tier, Trust
from lean_memory.errors import InvalidInputError
from lean_memory.proposals import ProposalKind, ProposalState
from lean_memory.store.tiers import Keep

BLOB = "hex:"
"""How bytes begin; after it they stand in hexadecimal digits."""
_NUMBERS = range(-(2**63), 2**63)
_ENDS_OF_TIME = range(EARLIEST, LATEST + 1)
_WORDS: Mapping[tuple[str, str] | str, type[StrEnum]] = {
    "polarity": Polarity, "modality": Modality, "trust": Trust, "tier": Tier, "record_kind": RecordKind, "end_reason": EndReason, "act": Act,
    "how": Keep, ("episode", "source"): Source, ("episode", "state"): EpisodeState, ("proposal", "kind"): ProposalKind,
    ("proposal", "state"): ProposalState,
}  # fmt: skip
"""The columns of one kind, or of every kind, that hold one of a few words."""
_SPANS = frozenset({"span_start", "span_end"})
_LISTS = frozenset({("fact", "reasons")})
_DOCUMENTS = frozenset({("proposal", "evidence"), ("run", "report"), ("proposal_target", "stood")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    name: str
    type: str
    """As it was declared; empty where any value may stand."""


def stored(kind: str, column: Column, value: object) -> str | int | float | bytes | None:
    """What is stored of a value. Raises `ValueError` for one that this program would not have written."""
    # SQLite itself refuses what is missing where something must stand.
    if value is None:
        return None
    match column.type, value:
        case "INTEGER", int() if not isinstance(value, bool) and _fits(column.name, value):
            return value
        case "REAL", int() | float() if not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        case "TEXT", str() if _says(kind, column.name, value):
            return value
        case "BLOB" | "", str() | int() if not isinstance(value, bool):
            return _bytes(value)
        case _:
            raise ValueError(f"{column.name} of a record of the kind {kind} is not what it can be")


def is_limited(kind: str, column: str) -> bool:
    """Whether a column of texts holds only some, of which each must be looked at."""
    place = kind, column
    return place in _WORDS or column in _WORDS or column == "tz" or place in _LISTS or place in _DOCUMENTS


def moment(value: object) -> int:
    """A moment. Raises `ValueError` where it is none."""
    if not isinstance(value, int) or isinstance(value, bool) or value not in _ENDS_OF_TIME:
        raise ValueError("a moment is none")
    return value


def _fits(column: str, value: int) -> bool:
    if column.endswith(("_at", "_to", "_until", "t_ref")) or column == "at":
        return value in _ENDS_OF_TIME
    return value in _NUMBERS and (column not in _SPANS or value >= 0)


def _says(kind: str, column: str, value: str) -> bool:
    words = _WORDS.get((kind, column)) or _WORDS.get(column)
    if words is not None:
        return value in set(words)
    if column == "tz":
        return _is_zone(value)
    if (kind, column) in _LISTS and value:
        reasons: object = json.loads(value)
        return isinstance(reasons, list)
    if (kind, column) in _DOCUMENTS:
        json.loads(value)
    return True


def _is_zone(value: str) -> bool:
    try:
        return timezone_of(value) == value
    except InvalidInputError:
        return False


def _bytes(value: str | int) -> str | int | bytes:
    if isinstance(value, int):
        if value not in _NUMBERS:
            raise ValueError("a number is too large")
        return value
    return bytes.fromhex(value.removeprefix(BLOB)) if value.startswith(BLOB) else value
