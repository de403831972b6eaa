"""Erasing what the person wants forgotten, from every row that holds it, inside one write transaction."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

import apsw

from lean_memory.domain import EndReason, ForgetResult, Instant
from lean_memory.store import lexical_text, overlaps, search_index, summaries, telling, tiers, tombstones
from lean_memory.store.cutting import is_wordless
from lean_memory.store.erase_text import TextEraser
from lean_memory.store.forget_scope import Scope, Statement
from lean_memory.store.search_index import RowVisibility
from lean_memory.store.standing import fact_visibility, passages_about, refresh_passage

_REBASE = """
    UPDATE fact SET fact_text = e.fact_text, object = e.object, episode_id = e.episode_id, span_start = e.span_start, span_end = e.span_end,
                    trust = e.trust, rule = 'confirmation', reasons = ''
    FROM evidence e WHERE fact.id = ?1 AND e.id = ?2
"""
_NAMED_NOWHERE = """
    DELETE FROM entity WHERE id = ?1
    AND NOT EXISTS (SELECT 1 FROM fact WHERE subject_id = ?1) AND NOT EXISTS (SELECT 1 FROM fact WHERE object_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM evidence WHERE subject_id = ?1) AND NOT EXISTS (SELECT 1 FROM entity_alias WHERE ?1 IN (alias_id, entity_id))
    RETURNING name
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What went, and the texts that held it."""

    result: ForgetResult
    texts: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Eraser:
    """Erases one scope."""

    con: apsw.Connection
    scope: Scope
    now: Instant
    texts: list[str] = field(default_factory=list[str])
    """Every text that was erased."""

    def run(self) -> Erased:
        """Erase everything; the caller commits, and then empties the log."""
        scope = self.scope
        buried = self._bury()
        kept = self._keep_what_was_said_elsewhere()
        gone = [said for row, said in scope.facts.items() if row not in kept]
        standing = self._let_ended_facts_stand({said.row for said in gone})
        self.texts += [text for said in scope.told() for text in (said.text, said.object)]
        for said in scope.evidence.values():
            self.con.execute("DELETE FROM evidence WHERE id = ?", (said.row,))
        standing |= self._let_what_followed_stand(gone)
        ids = self._erase_traces_of_maintenance(gone)
        self._unlink([said.row for said in gone])
        self._erase_facts(gone)
        parted = overlaps.part(self.con, ((said.subject, said.predicate) for said in scope.told()), self.now)
        standing |= parted
        summaries.retire_summaries(self.con, parted, self.now)
        eraser = TextEraser(con=self.con)
        for episode, spans in scope.cuts.items():
            eraser.cut(episode, spans)
        self.texts += eraser.texts
        telling.erase_proposals(self.con, [*ids, *scope.sentences, *eraser.texts])
        entities = self._erase_entities()
        for passage in {p for row in {*standing, *kept} for p in passages_about(self.con, row)}:
            refresh_passage(self.con, passage)
        self.con.execute("INSERT OR REPLACE INTO setting (key, value) VALUES ('unpurged', 1)")
        result = ForgetResult(facts=len(gone), episodes=eraser.episodes, passages=eraser.passages, entities=entities, tombstones=buried)
        return Erased(result=result, texts=tuple(self.texts))

    def _bury(self) -> int:
        meant = self.scope.meant.values()
        keys = {row: self._name_key(row) for row in {said.subject for said in meant}}
        self._bury_places()
        values = [(keys[said.subject], said.predicate, said.object_key, said.polarity) for said in meant if said.object_key]
        return tombstones.bury_sentences(self.con, self.scope.sentences, self.now) + tombstones.bury_values(self.con, values, self.now)

    def _bury_places(self) -> None:
        """Note where it stood too: not all that goes with a statement says it."""
        for episode, spans in self.scope.cuts.items():
            uid, text = cast("tuple[str, str]", self.con.execute("SELECT uid, text FROM episode WHERE id = ?", (episode,)).fetchone())
            whole = any(span.start <= 0 and span.end >= len(text) for span in spans)
            if whole:
                tombstones.bury_episodes(self.con, [uid], self.now)
            tombstones.bury_cuts(self.con, [] if whole else [(uid, text[span.start : span.end]) for span in spans], self.now)

    def _name_key(self, entity: int) -> str:
        return cast("str", self.con.execute("SELECT name_key FROM entity WHERE id = ?", (entity,)).get)

    def _let_ended_facts_stand(self, gone: set[int]) -> set[int]:
        """Facts that were ended by what is erased keep their interval; only what ended them is no longer said. What was never so, stays so."""
        ended = {said.fact for said in self.scope.evidence.values() if said.retracts and said.fact is not None}
        for row in gone:
            rows = self.con.execute(
                "SELECT id FROM fact WHERE superseded_by = ? AND (end_reason <> ? OR valid_to IS NOT NULL)",
                (row, EndReason.DUPLICATE.value),
            ).fetchall()
            ended.update(found[0] for found in cast("list[tuple[int]]", rows))
        stand = ended - gone
        for row in stand:
            self.con.execute(
                "UPDATE fact SET superseded_by = NULL, end_reason = iif(struck, end_reason, ?) WHERE id = ? AND NOT is_latest",
                (EndReason.FORGOTTEN.value, row),
            )
        return stand

    def _let_what_followed_stand(self, gone: Iterable[Statement]) -> set[int]:
        """What was out of sight for the sake of an erased fact comes back: its duplicates, the sources of a summary, what only repeats it."""
        rows = {said.row for said in gone}
        stand = set(summaries.warm_repeated(self.con, rows, self.now)) - rows
        for said in gone:
            followers = self.con.execute(
                "SELECT id FROM fact WHERE superseded_by = ? AND end_reason = ? AND valid_to IS NULL", (said.row, EndReason.DUPLICATE.value)
            ).fetchall()
            for (row,) in cast("list[tuple[int]]", followers):
                tiers.part(self.con, row, self.now)
                stand.add(row)
            stand.update(summaries.warm_sources(self.con, said.row, self.now))
        return stand

    def _keep_what_was_said_elsewhere(self) -> set[int]:
        """A fact that only shared a sentence with what is erased stays, if it was said again in other words that may stay."""
        kept: set[int] = set()
        for row, said in self.scope.facts.items():
            again = self.con.execute(
                "SELECT id FROM evidence WHERE fact_id = ? AND act = 'assert' ORDER BY valid_at, id", (row,)
            ).fetchall()
            clean = [e[0] for e in cast("list[tuple[int]]", again) if e[0] not in self.scope.evidence]
            if row not in self.scope.meant and clean:
                self._rebase(said, clean[0])
                kept.add(row)
        return kept

    def _rebase(self, said: Statement, evidence: int) -> None:
        _, visibility = fact_visibility(self.con, said.row)
        self._erase_index_row(said, visibility)
        self.con.execute(_REBASE, (said.row, evidence))
        self.con.execute("DELETE FROM evidence WHERE id = ?", (evidence,))
        text = cast("str", self.con.execute("SELECT fact_text FROM fact WHERE id = ?", (said.row,)).get)
        index_row = search_index.insert_row(self.con, fact_id=said.row, passage_id=None, text=text, visibility=visibility)
        self.con.execute("UPDATE fact SET row_id = ? WHERE id = ?", (index_row, said.row))

    def _erase_index_row(self, said: Statement, visibility: RowVisibility) -> None:
        """Erase the row of a fact; one that its passage shares is given back to the passage."""
        index_row = cast("int", self.con.execute("SELECT row_id FROM fact WHERE id = ?", (said.row,)).get)
        shared = self.con.execute("SELECT passage_id FROM index_row WHERE id = ?", (index_row,)).get
        if shared is None:
            search_index.delete_row(self.con, index_row, said.text)
        else:
            search_index.set_fact(self.con, index_row, None)
            search_index.set_visibility(self.con, index_row, replace(visibility, struck=False, asserted=True))

    def _unlink(self, rows: Iterable[int]) -> None:
        """Let nothing refer to facts that are about to go."""
        gone = json.dumps(list(rows))
        among = "IN (SELECT value FROM json_each(?))"
        for table, column in (("fact", "superseded_by"), ("fact_version", "superseded_by"), ("evidence", "fact_id")):
            self.con.execute(f"UPDATE {table} SET {column} = NULL WHERE {column} {among}", (gone,))
        for table, column in (
            ("derivation", "fact_id"),
            ("derivation", "source_id"),
            ("fact_version", "fact_id"),
            ("access", "fact_id"),
            ("kept", "fact_id"),
        ):
            self.con.execute(f"DELETE FROM {table} WHERE {column} {among}", (gone,))

    def _erase_facts(self, gone: Iterable[Statement]) -> None:
        """Erase facts: first all their index rows, as FTS5 writes down what it has gathered at every deletion that checks other tables."""
        for said in gone:
            _, visibility = fact_visibility(self.con, said.row)
            self._erase_index_row(said, visibility)
        self.con.executemany("DELETE FROM fact WHERE id = ?", [(said.row,) for said in gone])

    def _erase_traces_of_maintenance(self, gone: Iterable[Statement]) -> list[str]:
        """Proposals about erased facts go with them, and journal entries and reports that name one or hold its words; gives their ids."""
        ids = [cast("str", self.con.execute("SELECT uid FROM fact WHERE id = ?", (said.row,)).get) for said in gone]
        words = {word for s in self.scope.sentences for word in (s.strip(), json.dumps(s.strip())[1:-1]) if not is_wordless(word)}
        marks = json.dumps([*ids, *sorted(words)])
        holds = "EXISTS (SELECT 1 FROM json_each(?) m WHERE instr({}, m.value))"
        journal, run = (
            holds.format(" || char(10) || ".join(f"coalesce({column}, '')" for column in columns))
            for columns in (("target", "before", "after"), ("report",))
        )
        self.con.execute(
            "DELETE FROM proposal WHERE id IN (SELECT proposal_id FROM proposal_target WHERE fact_id IN (SELECT value FROM json_each(?)))",
            (json.dumps([said.row for said in gone]),),
        )
        self.con.execute(f"DELETE FROM journal WHERE {journal}", (marks,))
        self.con.execute(f"UPDATE run SET report = NULL WHERE {run}", (marks,))
        return ids

    def _erase_entities(self) -> int:
        """Entities that nothing speaks of any more, among those that the erased statements spoke of."""
        spoken = {e for said in self.scope.facts.values() for e in (said.subject, said.object_entity) if e is not None}
        spoken |= {said.subject for said in self.scope.evidence.values()} | self.scope.entities
        for entity in self.scope.entities:
            self.con.execute("DELETE FROM entity_alias WHERE ? IN (alias_id, entity_id)", (entity,))
        names = [
            row[0] for entity in sorted(spoken) for row in cast("list[tuple[str]]", self.con.execute(_NAMED_NOWHERE, (entity,)).fetchall())
        ]
        self.texts += names
        telling.erase_proposals(self.con, [*names, *self._values_held_by_nobody()])
        return len(names)

    def _values_held_by_nobody(self) -> list[str]:
        """The values of the erased statements that nothing else has; a proposal may tell of them by the way."""
        values = {said.object_key: said.object for said in self.scope.told() if said.object_key}
        if not values or self.con.execute("SELECT 1 FROM proposal LIMIT 1").fetchone() is None:
            return []
        among = "object_key IN (SELECT value FROM json_each(?1))"
        held = self.con.execute(
            f"SELECT object_key FROM fact WHERE {among} UNION SELECT object_key FROM evidence WHERE {among}", (json.dumps(list(values)),)
        )
        return [values[key] for key in values.keys() - {row[0] for row in cast("list[tuple[str]]", held.fetchall())}]


def traces_of(con: apsw.Connection, texts: Iterable[str]) -> tuple[bytes, ...]:
    """The byte strings by which copies of erased texts could be found in a file.

    They are the words that no other text has, and the texts that have none; as they were said, and as they are indexed.
    """
    erased = {stripped for text in texts if not is_wordless(stripped := text.strip())}
    said = {text: set(re.findall(r"\w{4,}", text)) for text in erased}
    unsaid = {word for word in set[str]().union(*said.values()) if _is_unsaid(con, word)}
    told = unsaid | {text for text, words in said.items() if not words & unsaid}
    forms = {form for t in told for form in (t, t.lower(), t.casefold(), unicodedata.normalize("NFKC", t).casefold())}
    return tuple(form.encode("utf-8", "surrogatepass") for form in sorted(forms))


def _is_unsaid(con: apsw.Connection, word: str) -> bool:
    found = con.execute("SELECT 1 FROM index_vocabulary WHERE term = ?", (" ".join(lexical_text.tokens(con, word)),))
    return found.fetchone() is None
