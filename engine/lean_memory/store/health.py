"""Whether a file keeps its promises, and what it holds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

import apsw

from lean_memory.domain import EpisodeState, Instant, NamespaceStatus
from lean_memory.errors import StorageError
from lean_memory.store.connection import pragma_int
from lean_memory.store.namespaces import size_on_disk
from lean_memory.store.old_vectors import check_vectors
from lean_memory.store.overlaps import OVERLAPS
from lean_memory.store.own_schema import told_if_not_ours

_SHOWN = 3
_AHEAD_MS = 24 * 60 * 60 * 1000
"""Clocks of people who travel, or that are set right, differ by less."""

_RULES: tuple[tuple[str, str], ...] = (
    (
        "Facts without a row in the search index",
        "SELECT f.uid FROM fact f LEFT JOIN index_row r ON r.id = f.row_id AND r.fact_id = f.id WHERE r.id IS NULL",
    ),
    (
        "Passages without a row in the search index",
        "SELECT p.id FROM passage p LEFT JOIN index_row r ON r.id = p.row_id AND r.passage_id = p.id WHERE r.id IS NULL",
    ),
    (
        "Search rows that stand for nothing",
        """
        SELECT r.id FROM index_row r LEFT JOIN fact f ON f.id = r.fact_id LEFT JOIN passage p ON p.id = r.passage_id
        WHERE (f.id IS NULL AND p.id IS NULL) OR (r.fact_id IS NOT NULL AND f.id IS NULL) OR (r.passage_id IS NOT NULL AND p.id IS NULL)
        """,
    ),
    (
        "Search rows that show a fact otherwise than it stands",
        """
        SELECT f.uid FROM fact f JOIN index_row r ON r.id = f.row_id
        WHERE r.valid_at <> f.valid_at OR r.valid_to IS NOT f.valid_to OR ((r.flags & 2) <> 0) <> f.is_latest OR ((r.flags & 8) <> 0) <> f.struck
              OR ((r.flags & 4) <> 0) <> (f.tier = 'cold') OR ((r.flags & 16) <> 0) <> (f.modality = 'asserted')
        """,
    ),
    ("Facts whose interval ends before it begins", "SELECT uid FROM fact WHERE valid_to < valid_at"),
    ("Facts of one-valued slots whose intervals overlap", OVERLAPS),
    (
        "Facts that are the latest and superseded, or never were so, at once",
        "SELECT uid FROM fact WHERE is_latest AND (superseded_by IS NOT NULL OR struck)",
    ),
    ("Facts that ended without a reason", "SELECT uid FROM fact WHERE NOT is_latest AND end_reason IS NULL"),
    (
        "Chains that break off",
        """
        SELECT uid FROM fact WHERE NOT is_latest AND superseded_by IS NULL AND end_reason IN ('superseded', 'merged', 'duplicate')
        """,
    ),
    (
        "Duplicates that hold on where their survivor does not",
        """
        SELECT d.uid FROM fact d JOIN fact s ON s.id = d.superseded_by
        WHERE d.end_reason = 'duplicate' AND d.valid_to IS NULL AND (s.valid_to IS NOT NULL OR NOT s.is_latest)
        """,
    ),
    (
        "Summaries that hold on where something they were made from does not",
        """
        SELECT s.uid FROM fact s JOIN derivation d ON d.fact_id = s.id JOIN fact f ON f.id = d.source_id
        WHERE s.is_latest AND NOT f.is_latest AND f.end_reason NOT IN ('merged', 'duplicate')
    """,
    ),
    (
        "Facts whose earlier versions do not join up",
        """
        SELECT f.uid FROM fact f LEFT JOIN (
            SELECT fact_id, min(recorded_at) AS first, max(retired_at) AS last, sum(retired_at - recorded_at) AS covered
            FROM fact_version GROUP BY fact_id
        ) v ON v.fact_id = f.id
        WHERE coalesce(v.first, f.version_at) <> f.recorded_at OR coalesce(v.last, f.version_at) <> f.version_at OR v.covered <> v.last - v.first
        """,
    ),
    (
        "Facts whose source lies outside their episode",
        "SELECT f.uid FROM fact f JOIN episode e ON e.id = f.episode_id WHERE f.span_start < 0 OR f.span_end > length(e.text) OR f.span_start > f.span_end",
    ),
)
"""A promise that can be broken, and the query for what breaks it."""


def check_invariants(con: apsw.Connection) -> list[str]:
    """What does not hold, a sentence each."""
    # FTS5's check trusts what the connection remembers of the index's segments, and reports damage where another connection has
    # changed them since; a query makes it look again.
    con.execute("SELECT count(*) FROM index_text WHERE index_text MATCH 'x'").fetchall()
    problems = [f"SQLite finds the file damaged: {row[0]}." for row in con.execute("PRAGMA quick_check(10)") if row[0] != "ok"]
    problems += [f"A row of {row[0]} refers to a row of {row[2]} that is not there." for row in con.execute("PRAGMA foreign_key_check")]
    problems += [sentence for rule, query in _RULES if (sentence := _broken(con, rule, query)) is not None]
    return problems + _words_that_disagree(con) + check_vectors(con) + told_if_not_ours(con)


def read_status(con: apsw.Connection, name: str, path: Path, refusal: StorageError | None, now: Instant) -> NamespaceStatus:
    """Counts of what a file holds, and what is wrong with it: why it cannot be written, what erasing left, a clock that was ahead."""
    counts = con.execute(
        """
        SELECT (SELECT count(*) FROM fact), (SELECT count(*) FROM fact WHERE is_latest AND NOT struck), (SELECT count(*) FROM episode),
               (SELECT count(*) FROM episode WHERE state <> :done AND state <> :waiting), (SELECT count(*) FROM entity),
               (SELECT count(*) FROM setting WHERE key = 'unpurged'), (SELECT value FROM setting WHERE key = 'next_moment'),
               (SELECT count(*) FROM episode WHERE state = :unread)
        """,
        {"done": EpisodeState.DONE.value, "unread": EpisodeState.UNREAD.value, "waiting": EpisodeState.WAITING.value},
    ).fetchone()
    facts, latest, episodes, unfinished, entities, unpurged, next_moment, unread = cast(
        "tuple[int, int, int, int, int, int, int, int]", counts
    )
    problems = [str(refusal)] if refusal is not None else []
    if unpurged:
        problems.append("Something was erased, but the file or its log may hold copies of it until the namespace is opened again.")
    if unread:
        problems.append(
            f"{unread} of the texts could not be read, so no facts were made of them. They are kept and found by their words, "
            "and read again when the namespace is next opened."
        )
    if next_moment > now + _AHEAD_MS:
        problems.append(
            f"Something was recorded while the clock stood at {_date(next_moment)}, which is still to come; until then all that is recorded "
            "counts as recorded at that moment, and questions about what was known when miss it. Check this computer's clock."
        )
    return NamespaceStatus(
        name=name,
        path=str(path),
        bytes=size_on_disk(path),
        facts=facts,
        latest=latest,
        episodes=episodes,
        unfinished=unfinished,
        entities=entities,
        schema_version=pragma_int(con, "user_version"),
        writable=refusal is None,
        problems=tuple(problems),
    )


def unusable(name: str, path: Path, reason: str) -> NamespaceStatus:
    """The status of a namespace whose file cannot be used, for this reason."""
    return NamespaceStatus(
        name=name, path=str(path), bytes=0, facts=0, latest=0, episodes=0, unfinished=0, entities=0, schema_version=0, writable=False,
        problems=(reason,),
    )  # fmt: skip


def _date(moment: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(moment / 1000))


def _broken(con: apsw.Connection, rule: str, query: str) -> str | None:
    found = [str(row[0]) for row in con.execute(query)]
    if not found:
        return None
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{rule}: {', '.join(found[:_SHOWN])}{more}."


def _words_that_disagree(con: apsw.Connection) -> list[str]:
    counted = con.execute(
        "SELECT (SELECT count(*) FROM index_row), (SELECT count(*) FROM index_text), "
        "(SELECT count(*) FROM index_row r WHERE NOT EXISTS (SELECT 1 FROM index_text t WHERE t.rowid = r.id))"
    ).fetchone()
    rows, texts, missing = cast("tuple[int, int, int]", counted)
    if rows == texts and not missing:
        return []
    return [f"The search index holds the words of {texts} texts for {rows} rows; {missing} rows have none."]
