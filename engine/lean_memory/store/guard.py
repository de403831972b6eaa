"""The checks before maintenance commits: nothing that could be asked as of a past moment is answered otherwise, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Instant
from lean_memory.errors import MaintenanceError

_STANDS = "SELECT id, valid_at, valid_to, struck FROM fact WHERE id IN (SELECT value FROM json_each(?))"
_LOST = """
    SELECT f.uid FROM json_each(?) j JOIN fact f ON f.id = j.value LEFT JOIN fact s ON s.id = f.superseded_by
    WHERE NOT f.is_latest AND f.valid_to IS NULL AND (f.end_reason IS NOT 'duplicate' OR s.id IS NULL OR NOT s.is_latest OR s.valid_to IS NOT NULL)
"""

_Stand = tuple[int, int | None, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How facts stand before something is done to them."""

    before: dict[int, _Stand]

    @classmethod
    def of(cls, con: apsw.Connection, rows: Iterable[int]) -> Guard:
        """Those of the facts that are stored."""
        return cls(before=_stands(con, rows))

    def check(self, con: apsw.Connection, now: Instant) -> None:
        """Raise `MaintenanceError` where the past changed: an interval may only be given an end, at `now` or later, and stays open otherwise."""
        after = _stands(con, self.before)
        changed = [row for row, stood in self.before.items() if row not in after or not _is_alike(stood, after[row], now)]
        lost = cast("list[tuple[str]]", con.execute(_LOST, (json.dumps(list(self.before)),)).fetchall())
        if changed or lost:
            raise MaintenanceError(
                f"Maintenance would have changed what is known of the past, or lost {len(changed) + len(lost)} facts, so nothing of it was written. "
                "This is a defect; run `lean-memory doctor`."
            )


def _is_alike(before: _Stand, after: _Stand, now: Instant) -> bool:
    (began, ended, struck), (begins, ends, is_struck) = before, after
    if (began, struck) != (begins, is_struck):
        return False
    return ends == ended or ((ended is None or ended > now) and ends is not None and ends >= max(now, begins))


def _stands(con: apsw.Connection, rows: Iterable[int]) -> dict[int, _Stand]:
    found = con.execute(_STANDS, (json.dumps(list(rows)),)).fetchall()
    return {row: (begins, ends, struck) for row, begins, ends, struck in cast("list[tuple[int, int, int | None, int]]", found)}
