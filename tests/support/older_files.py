"""Files of the older lean-memory, made from its documented tables: schema versions 1, 2 and 3, with the same things said in each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from support.moments import day as noon, ms


def day(number: int) -> int:
    """Noon UTC of a day of January 2025, in epoch milliseconds."""
    return ms(noon(number))


_VERSION_1 = """
    CREATE TABLE episode (id TEXT PRIMARY KEY, namespace TEXT NOT NULL, raw TEXT NOT NULL, source TEXT, t_ref INTEGER NOT NULL,
                          created_at INTEGER NOT NULL);
    CREATE TABLE entity (id TEXT PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL, type TEXT, summary TEXT, resolved_id TEXT,
                         created_at INTEGER NOT NULL);
    CREATE TABLE fact (id TEXT PRIMARY KEY, namespace TEXT NOT NULL, subject_id TEXT NOT NULL REFERENCES entity (id), predicate TEXT NOT NULL,
                       object_id TEXT REFERENCES entity (id), object_literal TEXT, fact_text TEXT NOT NULL, valid_at INTEGER NOT NULL,
                       valid_to INTEGER, superseded_by TEXT REFERENCES fact (id), is_latest INTEGER NOT NULL DEFAULT 1,
                       ingested_at INTEGER NOT NULL, expired_at INTEGER, invalidated_by TEXT REFERENCES fact (id),
                       confidence REAL NOT NULL DEFAULT 1.0, salience REAL NOT NULL DEFAULT 0.0, last_access INTEGER,
                       access_count INTEGER NOT NULL DEFAULT 0, is_inference INTEGER NOT NULL DEFAULT 0, tier TEXT NOT NULL DEFAULT 'hot',
                       episode_id TEXT NOT NULL REFERENCES episode (id), created_at INTEGER NOT NULL);
    CREATE VIRTUAL TABLE fact_fts USING fts5 (fact_id UNINDEXED, fact_text);
"""
_VERSION_2 = """
    ALTER TABLE fact ADD COLUMN record_kind TEXT NOT NULL DEFAULT 'fact';
    CREATE TABLE fact_derivation (summary_id TEXT NOT NULL REFERENCES fact (id), source_id TEXT NOT NULL REFERENCES fact (id),
                                  run_id TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (summary_id, source_id));
"""
_VERSION_3 = """
    ALTER TABLE entity ADD COLUMN name_key TEXT NOT NULL DEFAULT '';
"""

SAID = (
    ("e1", "I work at Acme.", day(1)),
    ("e2", "I like tea.", day(2)),
    ("e3", "I now work at Globex.", day(10)),
    ("e4", "I like jazz.", day(11)),
    ("e5", "I like tea!", day(12)),
    ("e6", "My sister lives in Porto.", day(13)),
)
"""What was said: an id, the text, when."""

_ENTITIES = (("n1", "user", "person"), ("n2", "Acme", "org"), ("n3", "Globex", "org"), ("n4", "ACME", "org"), ("n5", "Sister", None))

# id, subject, predicate, entity, literal, sentence, from, until, superseded by, latest, tier, episode
_FACTS = (
    ("f1", "n1", "works_at", "n2", None, "I work at Acme.", day(1), day(10), "f3", 0, "hot", "e1"),
    ("f2", "n1", "likes", None, "tea", "I like tea.", day(2), None, None, 1, "hot", "e2"),
    ("f3", "n1", "works_at", "n3", None, "I now work at Globex.", day(10), None, None, 1, "hot", "e3"),
    ("f4", "n1", "likes", None, "jazz", "I like jazz.", day(11), None, None, 1, "cold", "e4"),
    ("f5", "n1", "likes", None, "tea", "I like tea!", day(12), None, "f2", 0, "hot", "e5"),
    ("f6", "n5", "lives_in", None, "Porto", "My sister lives in Porto.", day(13), None, None, 1, "hot", "e6"),
    ("f7", "n1", "plays", None, "chess", "I play chess.", day(3), day(5), None, 0, "hot", "e2"),
)


def older_file(path: Path, version: int, *, namespace: str = "ana", secret: str | None = None) -> Path:
    """Make a file of a schema version that holds what was said above, and perhaps something that is secret."""
    with closing(sqlite3.connect(path)) as con, con:
        con.executescript(_VERSION_1)
        for wanted, statements in ((2, _VERSION_2), (3, _VERSION_3)):
            if version >= wanted:
                con.executescript(statements)
        con.execute(f"PRAGMA user_version = {version}")
        for uid, text, at in SAID:
            con.execute("INSERT INTO episode VALUES (?, ?, ?, 'user', ?, ?)", (f"{namespace}-{uid}", namespace, text, at, at + 1000))
        if secret is not None:
            con.execute("INSERT INTO episode VALUES (?, ?, ?, 'user', ?, ?)", ("e9", namespace, secret, day(14), day(14)))
        for uid, name, kind in _ENTITIES:
            con.execute(
                "INSERT INTO entity (id, namespace, name, type, created_at) VALUES (?, ?, ?, ?, 0)",
                (f"{namespace}-{uid}", namespace, name, kind),
            )
        con.execute("PRAGMA foreign_keys = OFF")
        for fact in _FACTS:
            _insert(con, namespace, fact)
        if version >= 2:
            _summarise(con, namespace)
    return path


def _insert(con: sqlite3.Connection, namespace: str, fact: tuple[object, ...]) -> None:
    uid, subject, predicate, entity, literal, text, since, until, after, latest, tier, episode = fact

    def own(name: object) -> str | None:
        return None if name is None else f"{namespace}-{name}"

    con.execute(
        """
        INSERT INTO fact (id, namespace, subject_id, predicate, object_id, object_literal, fact_text, valid_at, valid_to, superseded_by, is_latest,
                          ingested_at, salience, tier, episode_id, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 5.0, ?, ?, ?)
        """,
        (own(uid), namespace, own(subject), predicate, own(entity), literal, text, since, until, own(after), latest, since, tier, own(episode),
         since),
    )  # fmt: skip


def _summarise(con: sqlite3.Connection, namespace: str) -> None:
    """A summary, as the second version's maintenance makes them."""
    _insert(con, namespace, ("f8", "n1", "likes", None, None, "You like tea and jazz.", day(20), None, None, 1, "hot", "e5"))
    con.execute("UPDATE fact SET record_kind = 'summary' WHERE id = ?", (f"{namespace}-f8",))
    for source in ("f2", "f4"):
        con.execute("INSERT INTO fact_derivation VALUES (?, ?, 'run', ?)", (f"{namespace}-f8", f"{namespace}-{source}", day(20)))
