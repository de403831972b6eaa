"""Bringing what a bundle has into a file that holds something already, inside one write transaction, as planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import apsw

from lean_memory.custody import Fate
from lean_memory.domain import Instant
from lean_memory.errors import DamagedFileError
from lean_memory.store.bundle_rows import index_fact, index_passage
from lean_memory.store.health import check_invariants
from lean_memory.store.merging import Plan, Side
from lean_memory.store.standing import passages_about, refresh_fact_row, refresh_passage

_Row = dict[str, str | int | float | bytes | None]
_STANDING = "valid_at, valid_to, retired_at, version_at, is_latest, struck, end_reason, tier"


@dataclass(slots=True, kw_only=True)
class Merger:
    """Writes from one open file into another."""

    there: apsw.Connection
    con: apsw.Connection
    episodes: dict[int, int] = field(default_factory=dict[int, int])
    entities: dict[int, int] = field(default_factory=dict[int, int])
    facts: dict[int, int] = field(default_factory=dict[int, int])
    """Rows of the one by rows of the other."""
    passages: dict[int, int] = field(default_factory=dict[int, int])
    touched: set[int] = field(default_factory=set[int])
    """Facts here that are new or stand otherwise."""

    def run(self, plan: Plan, side: Side) -> None:
        """Carry the plan out; the caller commits. Raises `DamagedFileError` where the outcome would not keep the promises of a file."""
        self.con.execute("PRAGMA defer_foreign_keys = ON")
        for uid in plan.episodes:
            self._episode(uid)
        self._map("episode", self.episodes)
        wanted = [known for slot, known in side.slots.items() if plan.fates.get(slot) in {Fate.ADD, Fate.CHANGE}]
        self._map("fact", self.facts)
        new = [fact.row for known in wanted for fact in known.facts.values() if fact.row not in self.facts]
        rows = [fact.row for known in wanted for fact in known.facts.values()]
        for row in new:
            self._fact(row)
        for row in rows:
            self._standing(row)
        evidence = [row for known in wanted for row in known.evidence.values()]
        for row in sorted(evidence):
            self._evidence(row)
        self._beside(new)
        self._aliases()
        self._show(new)
        problems = check_invariants(self.con)
        if problems:
            raise DamagedFileError(f"What the bundle brings does not fit what is here ({problems[0]}), so nothing of it was written.")

    def _episode(self, uid: str) -> None:
        (old,) = self._read("SELECT * FROM episode WHERE uid = ?", uid)
        row = self._insert("episode", {**old, "id": None})
        for passage in self._read("SELECT * FROM passage WHERE episode_id = ? ORDER BY id", cast("int", old["id"])):
            place = self._insert("passage", {**passage, "id": None, "episode_id": row, "row_id": 0})
            self.passages[cast("int", passage["id"])] = place
            start, end = cast("int", passage["span_start"]), cast("int", passage["span_end"])
            t_ref, recorded_at = Instant(cast("int", old["t_ref"])), Instant(cast("int", old["recorded_at"]))
            index_passage(self.con, place, cast("str", old["text"])[start:end], t_ref, recorded_at)

    def _fact(self, row: int) -> None:
        (old,) = self._read("SELECT * FROM fact WHERE id = ?", row)
        named = old["object_id"]
        self.facts[row] = self._insert(
            "fact",
            {
                **old,
                "id": None,
                "subject_id": self._entity(cast("int", old["subject_id"])),
                "object_id": None if named is None else self._entity(cast("int", named)),
                "episode_id": self.episodes[cast("int", old["episode_id"])],
                "superseded_by": None,
                "row_id": 0,
            },
        )

    def _standing(self, row: int) -> None:
        """Let a fact stand as it does there, with every way it stood before."""
        here = self.facts[row]
        (old,) = self._read(f"SELECT {_STANDING}, superseded_by FROM fact WHERE id = ?", row)
        after = old.pop("superseded_by")
        self.con.execute(
            f"UPDATE fact SET {', '.join(f'{name} = ?' for name in old)}, superseded_by = ? WHERE id = ?",
            (*old.values(), None if after is None else self.facts[cast("int", after)], here),
        )
        self.con.execute("DELETE FROM fact_version WHERE fact_id = ?", (here,))
        for version in self._read("SELECT * FROM fact_version WHERE fact_id = ?", row):
            then = version["superseded_by"]
            mapped = None if then is None else self.facts.get(cast("int", then))
            self._insert("fact_version", {**version, "fact_id": here, "superseded_by": mapped})
        self.touched.add(here)

    def _evidence(self, row: int) -> None:
        (old,) = self._read("SELECT * FROM evidence WHERE id = ?", row)
        fact = None if old["fact_id"] is None else self.facts[cast("int", old["fact_id"])]
        episode, subject = self.episodes[cast("int", old["episode_id"])], self._entity(cast("int", old["subject_id"]))
        keys = (episode, subject, *(old[name] for name in ("predicate", "span_start", "act", "object_key", "valid_at", "recorded_at")))
        found = self.con.execute(
            """
            SELECT id FROM evidence WHERE episode_id = ? AND subject_id = ? AND predicate = ? AND span_start = ? AND act = ? AND object_key = ?
                   AND valid_at = ? AND recorded_at = ?
            """,
            keys,
        ).get
        if found is not None:
            self.con.execute("UPDATE evidence SET fact_id = ? WHERE id = ?", (fact, found))
            here = cast("int", found)
        else:
            here = self._insert("evidence", {**old, "id": None, "subject_id": subject, "episode_id": episode, "fact_id": fact})
        for link in self._read("SELECT * FROM evidence_link WHERE evidence_id = ?", row):
            if cast("int", link["fact_id"]) in self.facts:
                self._insert("evidence_link", {**link, "evidence_id": here, "fact_id": self.facts[cast("int", link["fact_id"])]})

    def _beside(self, new: Iterable[int]) -> None:
        """What is noted of facts in tables beside theirs."""
        for row in new:
            for table in ("derivation", "kept", "access"):
                for noted in self._read(f"SELECT * FROM {table} WHERE fact_id = ?", row):
                    source = noted.get("source_id")
                    if source is None or cast("int", source) in self.facts:
                        mapped = {} if source is None else {"source_id": self.facts[cast("int", source)]}
                        self._insert(table, {**noted, "fact_id": self.facts[row], **mapped})

    def _aliases(self) -> None:
        """Names that are read as others there, where both are known here and nothing was decided of them."""
        for alias in self._read("SELECT * FROM entity_alias"):
            name, head = (self._entity(cast("int", alias[key]), make=False) for key in ("alias_id", "entity_id"))
            if name is not None and head is not None and name != head:
                self.con.execute(
                    "INSERT INTO entity_alias (alias_id, entity_id) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM entity_alias WHERE ?1 IN (alias_id, entity_id) OR ?2 = alias_id)",
                    (name, head),
                )

    def _show(self, new: Iterable[int]) -> None:
        for row in new:
            shared = self.there.execute("SELECT r.passage_id FROM fact f JOIN index_row r ON r.id = f.row_id WHERE f.id = ?", (row,)).get
            text = cast("str", self.con.execute("SELECT fact_text FROM fact WHERE id = ?", (self.facts[row],)).get)
            index_fact(self.con, self.facts[row], text, None if shared is None else self.passages.get(cast("int", shared)))
        for row in sorted(self.touched):
            refresh_fact_row(self.con, row)
        for passage in sorted({*self.passages.values(), *(p for row in self.touched for p in passages_about(self.con, row))}):
            refresh_passage(self.con, passage)

    def _entity(self, row: int, *, make: bool = True) -> int | None:
        if row not in self.entities:
            (old,) = self._read("SELECT * FROM entity WHERE id = ?", row)
            found = self.con.execute(
                "SELECT id FROM entity WHERE name_key = ? ORDER BY type = ? DESC, id LIMIT 1", (old["name_key"], old["type"])
            ).get
            if found is None and not make:
                return None
            self.entities[row] = cast("int", found) if found is not None else self._insert("entity", {**old, "id": None})
        return self.entities[row]

    def _map(self, table: str, into: dict[int, int]) -> None:
        """Rows that both have, by their `uid`."""
        here = dict(cast("list[tuple[str, int]]", self.con.execute(f"SELECT uid, id FROM {table}").fetchall()))
        for uid, row in cast("list[tuple[str, int]]", self.there.execute(f"SELECT uid, id FROM {table}").fetchall()):
            if uid in here:
                into[row] = here[uid]

    def _read(self, query: str, *given: str | int) -> list[_Row]:
        cursor = self.there.execute(query, given)
        rows = cast("list[tuple[str | int | float | bytes | None, ...]]", cursor.fetchall())
        if not rows:
            return []
        names = _names(self.there, query, given)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _insert(self, table: str, row: Mapping[str, str | int | float | bytes | None]) -> int:
        self.con.execute(
            f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        ).fetchall()
        return self.con.last_insert_rowid()


def _names(con: apsw.Connection, query: str, given: tuple[str | int, ...]) -> list[str]:
    cursor = con.cursor()
    cursor.execute(query, given)
    names = [column[0] for column in cursor.get_description()]
    cursor.close()
    return names
