"""Writing a change set: facts, how stored facts stand from now on, what was said again or taken back, and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import apsw
import numpy as np
from numpy.typing import NDArray

from lean_memory.changes import ChangeSet, FactChange, FactRef, NewEvidence, NewFact
from lean_memory.domain import Act, Cardinality, EndReason, Episode, FactId, Instant, Modality, ModelIdentity, RecordKind, Tier
from lean_memory.store import search_index
from lean_memory.store.entities import entity_row
from lean_memory.store.episodes import episode_row, passage_at, passages_of
from lean_memory.store.identifiers import new_uid
from lean_memory.store.rows import reasons_column
from lean_memory.store.search_index import RowVisibility
from lean_memory.store.standing import passages_about, refresh_fact_row, refresh_passage

INSERT_FACT = """
    INSERT INTO fact (uid, subject_id, predicate, object, object_key, object_id, fact_text, polarity, modality, record_kind, functional,
                      additive, asserted_at, asserted_until, valid_at, valid_to, recorded_at, retired_at, version_at, is_latest, struck,
                      superseded_by, end_reason, confidence, salience, is_inference, trust, tier, episode_id, span_start, span_end,
                      found_by, rule, reasons, row_id)
    VALUES (:uid, :subject_id, :predicate, :object, :object_key, :object_id, :fact_text, :polarity, :modality, :record_kind, :functional,
            :additive, :asserted_at, :asserted_until, :valid_at, :valid_to, :recorded_at, :retired_at, :recorded_at, :is_latest, 0,
            NULL, :end_reason, :confidence, :salience, :is_inference, :trust, :tier, :episode_id, :span_start, :span_end,
            :found_by, :rule, :reasons, 0)
"""
_KEEP_VERSION = """
    INSERT INTO fact_version (fact_id, recorded_at, retired_at, valid_at, valid_to, is_latest, struck, superseded_by, end_reason, tier, closed_at)
    SELECT id, version_at, ?2, valid_at, valid_to, is_latest, struck, superseded_by, end_reason, tier, retired_at
    FROM fact WHERE id = ?1 AND version_at < ?2
"""
_CHANGE_FACT = """
    UPDATE fact SET valid_at = :valid_at, valid_to = :valid_to, struck = :struck, superseded_by = :superseded_by, end_reason = :end_reason,
                    retired_at = CASE WHEN :is_latest THEN NULL WHEN is_latest THEN :now ELSE retired_at END,
                    is_latest = :is_latest, version_at = :now
    WHERE id = :row
"""
_SHOWN_IN_PASSAGES = """
    SELECT is_latest, valid_to, struck, CASE WHEN end_reason IN ('merged', 'duplicate') THEN superseded_by ELSE 0 END FROM fact WHERE id = ?
"""
_INSERT_EVIDENCE = """
    INSERT INTO evidence (subject_id, predicate, object, object_key, act, polarity, modality, trust, additive, valid_at, valid_to, recorded_at,
                          fact_id, fact_text, episode_id, span_start, span_end)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_KEEP_LINK = """
    INSERT OR IGNORE INTO evidence_link (evidence_id, retired_at, fact_id)
    SELECT id, ?2, fact_id FROM evidence WHERE id = ?1 AND fact_id <> ?3 AND recorded_at < ?2
"""

_Columns = dict[str, str | int | float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a change set became."""

    fact_ids: tuple[FactId, ...]
    """Ids of the new facts, in the order of `ChangeSet.facts`."""
    existing: tuple[FactId, ...]
    """Facts that were only said again."""
    superseded: tuple[FactId, ...]
    """Stored facts that were the latest and are no longer."""
    ended: tuple[int, ...]
    """Rows of stored facts that do not hold as they did: they were given an end, or were never so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Unit vectors of texts, shape (dims,) each, with the model that made them."""

    model: ModelIdentity
    by_text: Mapping[str, NDArray[np.float32]]


def apply_changes(
    con: apsw.Connection, changes: ChangeSet, *, episode: Episode, recorded_at: Instant, embeddings: Embeddings | None
) -> Applied:
    """Write a change set that came from `episode`, inside the caller's transaction."""
    writer = _Writer(con=con, now=recorded_at, episode=episode, episode_row=episode_row(con, episode.uid))
    applied = writer.write(changes)
    if embeddings is not None:
        writer.write_vectors(embeddings)
    return applied


def keep_version(con: apsw.Connection, fact_row: int, now: Instant) -> None:
    """Keep how a fact stood until now, before it is changed; what was changed in this transaction already was never seen."""
    con.execute(_KEEP_VERSION, (fact_row, now))


@dataclass(slots=True, kw_only=True)
class _Writer:
    con: apsw.Connection
    now: Instant
    episode: Episode
    episode_row: int
    rows: list[int] = field(default_factory=list[int])
    """Rows of the new facts, in order."""
    texts: dict[int, str] = field(default_factory=dict[int, str])
    """Index rows that want a vector, with their texts."""
    changed: set[int] = field(default_factory=set[int])
    """Facts that stand differently now, and with them every passage that says them."""
    ended: set[int] = field(default_factory=set[int])
    """Facts that do not hold as they did."""
    said_at: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Places, an episode's row and an offset, at which something is said that was not there or belonged to another fact."""

    def write(self, changes: ChangeSet) -> Applied:
        ids = [self._insert(serial, fact) for serial, fact in enumerate(changes.facts)]
        for row, fact in zip(self.rows, changes.facts, strict=True):
            if fact.superseded_by is not None:
                self.con.execute("UPDATE fact SET superseded_by = ? WHERE id = ?", (self._row(fact.superseded_by), row))
        superseded = [change.row for change in changes.changes if self._change(change)]
        for said in changes.evidence:
            self._insert_evidence(said)
        for link in changes.relinks:
            self._relink(link.row, self._row(link.fact))
        for row in changes.existing:
            self._revive(row)
        self._refresh_passages()
        return Applied(
            fact_ids=tuple(ids),
            existing=self._ids(changes.existing),
            superseded=self._ids(superseded),
            ended=tuple(sorted(self.ended)),
        )

    def write_vectors(self, embeddings: Embeddings) -> None:
        """Keep the vectors of the new rows and of the episode's passages, as far as they were made."""
        for passage in passages_of(self.con, self.episode_row):
            self.texts.setdefault(passage.index_row, self.episode.text[passage.span.start : passage.span.end])
        found = {row: embeddings.by_text[text] for row, text in self.texts.items() if text in embeddings.by_text}
        if found:
            search_index.set_vectors(self.con, embeddings.model, found)

    def _insert(self, serial: int, fact: NewFact) -> FactId:
        uid = FactId(new_uid(self.now, serial))
        subject, object_, episode = self._endpoints(fact)
        links = {"uid": uid, "subject_id": subject, "object_id": object_, "episode_id": episode}
        self.con.execute(INSERT_FACT, links | _said(fact) | self._standing(fact))
        row = self.con.last_insert_rowid()
        self.rows.append(row)
        self.said_at.add((episode, fact.candidate.span.start))
        index_row = self._index(row, fact, episode)
        self.con.execute("UPDATE fact SET row_id = ? WHERE id = ?", (index_row, row))
        self.texts[index_row] = fact.candidate.fact_text
        return uid

    def _standing(self, fact: NewFact) -> _Columns:
        """The columns that say how a new fact stands."""
        return {
            "asserted_at": fact.asserted_at,
            "asserted_until": fact.asserted_until,
            "valid_at": fact.valid_at,
            "valid_to": fact.valid_to,
            "recorded_at": self.now,
            "retired_at": None if fact.is_latest else self.now,
            "is_latest": fact.is_latest,
            "end_reason": fact.end_reason.value if fact.end_reason else None,
            "tier": Tier.HOT.value,
        }

    def _endpoints(self, fact: NewFact) -> tuple[int, int | None, int]:
        """Rows of the subject, of the object where it is an entity, and of the episode."""
        if fact.evidence is not None:
            said = self.con.execute(
                "SELECT c.subject_id, f.object_id, c.episode_id FROM evidence c LEFT JOIN fact f ON f.id = c.fact_id WHERE c.id = ?",
                (fact.evidence.row,),
            ).fetchone()
            return cast("tuple[int, int | None, int]", said)
        c = fact.candidate
        subject = entity_row(self.con, c.subject, c.subject_type)
        named = c.object_type is not None and c.object.strip() != ""
        return subject, entity_row(self.con, c.object, c.object_type or "") if named else None, self.episode_row

    def _index(self, row: int, fact: NewFact, episode: int) -> int:
        """The index row of a new fact: its passage's, where it was said just now and the passage says nothing else; else one of its own."""
        visibility = RowVisibility(
            valid_at=fact.valid_at,
            valid_to=fact.valid_to,
            recorded_at=self.now,
            latest=fact.is_latest,
            asserted=fact.candidate.modality is Modality.ASSERTED,
        )
        # What was said long ago and is a fact only now keeps its passage, which was known all the while.
        shared = self._row_of_whole_passage(fact, episode) if fact.evidence is None else None
        if shared is None:
            return search_index.insert_row(self.con, fact_id=row, passage_id=None, text=fact.candidate.fact_text, visibility=visibility)
        search_index.set_fact(self.con, shared, row)
        search_index.set_visibility(self.con, shared, visibility)
        return shared

    def _row_of_whole_passage(self, fact: NewFact, episode: int) -> int | None:
        span = fact.candidate.span
        passage = passage_at(self.con, episode, span.start)
        if passage is None or len(fact.candidate.fact_text) != passage.span.end - passage.span.start:
            return None
        text = cast("str", self.con.execute("SELECT text FROM episode WHERE id = ?", (episode,)).get)
        if text[passage.span.start : passage.span.end] != fact.candidate.fact_text:
            return None
        taken = self.con.execute("SELECT fact_id FROM index_row WHERE id = ?", (passage.index_row,)).get
        return passage.index_row if taken is None else None

    def _change(self, change: FactChange) -> bool:
        """Whether the fact was the latest and is no longer."""
        before = self._shown_in_passages(change.row)
        keep_version(self.con, change.row, self.now)
        self.con.execute(
            _CHANGE_FACT,
            {
                "row": change.row,
                "valid_at": change.valid_at,
                "valid_to": change.valid_to,
                "is_latest": change.is_latest,
                "struck": change.struck,
                "superseded_by": None if change.superseded_by is None else self._row(change.superseded_by),
                "end_reason": change.end_reason.value if change.end_reason else None,
                "now": self.now,
            },
        )
        refresh_fact_row(self.con, change.row)
        if self._shown_in_passages(change.row) != before:
            self.changed.add(change.row)
        if _has_ended(change):
            self.ended.add(change.row)
        return bool(before[0]) and not change.is_latest

    def _shown_in_passages(self, row: int) -> tuple[int | None, ...]:
        """What of a fact decides how its passages are shown, whether it is the latest first; where it begins does not."""
        return cast("tuple[int | None, ...]", self.con.execute(_SHOWN_IN_PASSAGES, (row,)).fetchone())

    def _insert_evidence(self, said: NewEvidence) -> None:
        c = said.candidate
        fact = None if said.fact is None else self._row(said.fact)
        self.con.execute(
            _INSERT_EVIDENCE,
            (
                self._subject_of(said, fact),
                c.predicate,
                c.object,
                said.object_key,
                said.act.value,
                c.polarity.value,
                c.modality.value,
                c.trust.value,
                c.additive,
                said.valid_at,
                said.valid_to,
                self.now,
                fact,
                c.fact_text,
                self.episode_row,
                c.span.start,
                c.span.end,
            ),
        )
        self.said_at.add((self.episode_row, c.span.start))

    def _subject_of(self, said: NewEvidence, fact: int | None) -> int:
        """An echo is about whom its fact is about, whatever its words made of it."""
        if said.act is Act.ECHO:
            return cast("int", self.con.execute("SELECT subject_id FROM fact WHERE id = ?", (fact,)).get)
        return entity_row(self.con, said.candidate.subject, said.candidate.subject_type)

    def _relink(self, evidence_row: int, fact_row: int) -> None:
        self.con.execute(_KEEP_LINK, (evidence_row, self.now, fact_row))
        place = self.con.execute("UPDATE evidence SET fact_id = ? WHERE id = ? RETURNING episode_id, span_start", (fact_row, evidence_row))
        self.said_at.update(cast("list[tuple[int, int]]", place.fetchall()))

    def _revive(self, row: int) -> None:
        """What is said again comes back from the cold."""
        if self.con.execute("SELECT tier FROM fact WHERE id = ?", (row,)).get == Tier.HOT.value:
            return
        keep_version(self.con, row, self.now)
        self.con.execute("UPDATE fact SET tier = ?, version_at = ? WHERE id = ?", (Tier.HOT.value, self.now, row))
        refresh_fact_row(self.con, row)
        self.changed.add(row)

    def _refresh_passages(self) -> None:
        """Show those passages anew that may have to be shown otherwise: what only confirms a fact leaves its earlier ones alone."""
        about = {p for row in self.changed for p in passages_about(self.con, row)}
        here = {p.row for p in (passage_at(self.con, episode, offset) for episode, offset in self.said_at) if p is not None}
        for passage in sorted(about | here):
            refresh_passage(self.con, passage)

    def _row(self, ref: FactRef) -> int:
        if ref.row is not None:
            return ref.row
        if ref.new is None:
            raise ValueError("a reference names a stored fact or a new one")
        return self.rows[ref.new]

    def _ids(self, rows: Sequence[int]) -> tuple[FactId, ...]:
        return tuple(FactId(cast("str", self.con.execute("SELECT uid FROM fact WHERE id = ?", (row,)).get)) for row in rows)


def _has_ended(change: FactChange) -> bool:
    """Whether a fact holds no longer; one that says the same as another holds in that one."""
    return change.struck or (change.valid_to is not None and change.end_reason not in {EndReason.MERGED, EndReason.DUPLICATE})


def _said(fact: NewFact) -> _Columns:
    """The columns that say what a new fact says."""
    c = fact.candidate
    return {
        "predicate": c.predicate,
        "object": c.object,
        "object_key": fact.object_key,
        "fact_text": c.fact_text,
        "polarity": c.polarity.value,
        "modality": c.modality.value,
        "record_kind": RecordKind.FACT.value,
        "functional": c.cardinality is Cardinality.FUNCTIONAL,
        "additive": c.additive,
        "confidence": c.confidence,
        "salience": c.salience,
        "is_inference": c.is_inference,
        "trust": c.trust.value,
        "span_start": c.span.start,
        "span_end": c.span.end,
        "found_by": c.found_by,
        "rule": c.rule,
        "reasons": reasons_column(c.reasons),
    }
