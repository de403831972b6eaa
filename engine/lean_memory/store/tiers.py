"""Moving facts between the tiers, and what the person decided to keep as it is."""

from __future__ import annotations

from enum import StrEnum
from typing import cast

import apsw

from lean_memory.domain import EndReason, FactId, Instant, Tier
from lean_memory.store.apply import keep_version
from lean_memory.store.rows import KEPT_HOT
from lean_memory.store.standing import passages_about, refresh_fact_row, refresh_passage


class Keep(StrEnum):
    """What is not to be done to a fact again, because the person decided so."""

    HOT = "hot"
    """It is never proposed to be demoted, nor demoted."""
    APART = "apart"
    """It is never merged into another fact by a run."""


def set_tier(con: apsw.Connection, fact_row: int, tier: Tier, now: Instant) -> bool:
    """Move a latest fact to a tier, from now on; gives whether it was in another one and is the latest."""
    stands = con.execute("SELECT 1 FROM fact WHERE id = ? AND is_latest = 1 AND tier <> ?", (fact_row, tier.value)).fetchone()
    if stands is None:
        return False
    keep_version(con, fact_row, now)
    con.execute("UPDATE fact SET tier = ?, version_at = ? WHERE id = ?", (tier.value, now, fact_row))
    show(con, fact_row)
    return True


def merge(con: apsw.Connection, duplicate: int, survivor: int, now: Instant) -> list[int]:
    """Let a fact, and all that hold on as duplicates of it, hold on as duplicates of another one; gives their rows.

    Their intervals stay as they are: what could be asked as of any moment still can. What was to stay hot of any of them does so in
    the one that stands for them, for as long as it does: nothing is noted of it, so that taking the merge back leaves nothing behind.
    """
    held = con.execute("SELECT id FROM fact WHERE superseded_by = ? AND end_reason = ? ORDER BY id", (duplicate, EndReason.DUPLICATE.value))
    rows = [duplicate, *(cast("int", row[0]) for row in held.fetchall())]
    for row in rows:
        follow(con, row, survivor, now)
    return rows


def open_row(con: apsw.Connection, fact_id: FactId) -> int | None:
    """The row of a fact that is the latest word, hot and open; `None` where it does not stand so."""
    found = con.execute(
        "SELECT id FROM fact WHERE uid = ? AND is_latest = 1 AND struck = 0 AND tier = 'hot' AND valid_to IS NULL", (fact_id,)
    )
    return cast("int | None", found.get)


def holding_row(con: apsw.Connection, fact_id: FactId, now: Instant) -> int | None:
    """The row of a fact that is the latest word, hot and holds at `now`, whether or not its end is known; `None` where it does not stand so."""
    found = con.execute(
        "SELECT id FROM fact WHERE uid = ? AND is_latest = 1 AND struck = 0 AND tier = 'hot' AND (valid_to IS NULL OR valid_to > ?)",
        (fact_id, now),
    )
    return cast("int | None", found.get)


def follow(con: apsw.Connection, duplicate: int, survivor: int, now: Instant) -> None:
    """Let one fact hold on as a duplicate of another one."""
    keep_version(con, duplicate, now)
    con.execute(
        "UPDATE fact SET is_latest = 0, superseded_by = ?2, end_reason = ?3, retired_at = coalesce(retired_at, ?4), version_at = ?4 WHERE id = ?1",
        (duplicate, survivor, EndReason.DUPLICATE.value, now),
    )
    show(con, duplicate)


def part(con: apsw.Connection, duplicate: int, now: Instant) -> None:
    """Let an open duplicate stand on its own again."""
    about = passages_about(con, duplicate)
    keep_version(con, duplicate, now)
    con.execute(
        "UPDATE fact SET is_latest = 1, superseded_by = NULL, end_reason = NULL, retired_at = NULL, version_at = ? WHERE id = ?",
        (now, duplicate),
    )
    refresh_fact_row(con, duplicate)
    for passage in about:
        refresh_passage(con, passage)


def part_strangers(con: apsw.Connection, now: Instant) -> None:
    """Let those duplicates stand on their own again that are about somebody else than their survivor, as two names are two again."""
    strangers = con.execute(
        """
        SELECT d.id FROM fact d JOIN fact s ON s.id = d.superseded_by
        LEFT JOIN entity_alias a ON a.alias_id = d.subject_id LEFT JOIN entity_alias b ON b.alias_id = s.subject_id
        WHERE d.end_reason = 'duplicate' AND d.valid_to IS NULL AND coalesce(a.entity_id, d.subject_id) <> coalesce(b.entity_id, s.subject_id)
        """
    ).fetchall()
    for (row,) in cast("list[tuple[int]]", strangers):
        part(con, row, now)


def show(con: apsw.Connection, fact_row: int) -> None:
    """Let the index show a fact, and the passages that say it, as it stands now."""
    refresh_fact_row(con, fact_row)
    for passage in passages_about(con, fact_row):
        refresh_passage(con, passage)


def keep(con: apsw.Connection, fact_row: int, how: Keep) -> None:
    """Note what the person decided about a fact."""
    con.execute("INSERT OR IGNORE INTO kept (fact_id, how) VALUES (?, ?)", (fact_row, how.value))


def unkeep(con: apsw.Connection, fact_row: int, how: Keep) -> None:
    """Take such a decision back."""
    con.execute("DELETE FROM kept WHERE fact_id = ? AND how = ?", (fact_row, how.value))


def is_kept_hot(con: apsw.Connection, fact_row: int) -> bool:
    """Whether the person wants a fact kept hot, or one that it stands for by a merge."""
    return con.execute(f"SELECT 1 WHERE ? IN ({KEPT_HOT})", (fact_row,)).fetchone() is not None


def was_served(con: apsw.Connection, fact_row: int) -> bool:
    """Whether a fact was ever given in answer to a search."""
    return con.execute("SELECT 1 FROM access WHERE fact_id = ?", (fact_row,)).fetchone() is not None
