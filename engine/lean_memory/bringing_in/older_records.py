"""From the rows of an older file to the records of a namespace, each fact with the interval and the standing that it had there. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lean_memory.arguments import EARLIEST, LATEST
from lean_memory.bringing_in.texts import Passed, Tally, clean
from lean_memory.bringing_in.values import Kind
from lean_memory.domain import (
    Cardinality,
    EndReason,
    EpisodeState,
    Modality,
    Polarity,
    RecordKind,
    Source,
    Tier,
    name_key,
    trust_of,
    value_key,
)
from lean_memory.extraction import vocabulary
from lean_memory.extraction.secrets import redact
from lean_memory.extraction.sentences import passages
from lean_memory.store.bundle_rows import Record
from lean_memory.store.older_file import OlderRows, Row

_NO_TEXT = "A message has no text."
_NO_FACT = "A fact lacks its subject, its sentence or its dates."
_SECRET = "A fact holds a secret, such as a key or a password."
_UNMADE = "Proposals and runs of maintenance stay where they were made."

_UNTYPED = "thing"


@dataclass(slots=True, kw_only=True)
class OlderRecords:
    """The records that stand for an older file, and what was seen while they were made."""

    rows: OlderRows
    tz: str
    redacted: set[str] = field(default_factory=set[str])
    left: Tally = field(default_factory=Tally)
    facts: int = 0
    _episodes: dict[str, tuple[int, str, Source]] = field(default_factory=dict[str, "tuple[int, str, Source]"])
    """Number, text and source of each episode by its id there."""
    _entities: dict[str, int] = field(default_factory=dict[str, int])
    _names: dict[int, str] = field(default_factory=dict[int, str])
    _latest: int = 0

    def records(self) -> list[Record]:
        """Every record, in the order in which a bundle has them."""
        episodes = list(self._of_episodes())
        entities = list(self._of_entities())
        facts, versions = self._of_facts()
        beside = [*self._accesses(facts), *self._derivations(facts)]
        end: Record = {"kind": "setting", "key": "next_moment", "value": self._latest + 1}
        return [end, *episodes, *entities, *facts.values(), *versions, *beside]

    def _of_episodes(self) -> Iterator[Record]:
        spans = 0
        for number, row in enumerate(self.rows.episodes, start=1):
            cleaned = redact(clean(_text(row.get("raw"))))
            self.redacted |= set(cleaned.kinds)
            t_ref = _moment(row.get("t_ref"))
            if not cleaned.text or t_ref is None:
                self.left.note(Passed(reason=_NO_TEXT, place=f"episode {row['id']}"))
                continue
            source = _source(row.get("source"))
            self._episodes[str(row["id"])] = number, cleaned.text, source
            recorded = self._noted(_moment(row.get("created_at")) or t_ref)
            yield {
                "kind": "episode", "id": number, "uid": str(row["id"]), "text": cleaned.text, "source": source.value, "client": Kind.OLDER.value,
                "t_ref": t_ref, "tz": self.tz, "recorded_at": recorded, "state": EpisodeState.DONE.value,
            }  # fmt: skip
            for span in passages(cleaned.text):
                spans += 1
                yield {"kind": "passage", "id": spans, "episode_id": number, "span_start": span.start, "span_end": span.end}

    def _of_entities(self) -> Iterator[Record]:
        """The entities, those whose names differ only in case or spaces as one; an alias is the one that it was resolved to."""
        numbers: dict[tuple[str, str], int] = {}
        aliases: dict[str, str] = {}
        for row in self.rows.entities:
            name, kind = clean(_text(row.get("name"))), clean(_text(row.get("type"))) or _UNTYPED
            if row.get("resolved_id"):
                aliases[str(row["id"])] = str(row["resolved_id"])
            if not name:
                continue
            key = name_key(name), kind
            if key not in numbers:
                numbers[key] = len(numbers) + 1
                self._names[numbers[key]] = name
                yield {"kind": "entity", "id": numbers[key], "name": name, "name_key": key[0], "type": kind}
            self._entities[str(row["id"])] = numbers[key]
        for alias, meant in aliases.items():
            if meant in self._entities:
                self._entities[alias] = self._entities[meant]

    def _of_facts(self) -> tuple[dict[str, dict[str, str | int | float | None]], list[Record]]:
        wanted = [row for row in self.rows.facts if self._is_usable(row)]
        numbers = {str(row["id"]): number for number, row in enumerate(wanted, start=1)}
        by_id = {str(row["id"]): row for row in wanted}
        standing = {uid: _standing(row, by_id) for uid, row in by_id.items()}
        beside = self._side_by_side(by_id, standing)
        made: dict[str, dict[str, str | int | float | None]] = {}
        versions: list[Record] = []
        for uid, row in by_id.items():
            stood = standing[uid]
            made[uid] = self._fact(row, numbers, stood, is_beside=uid in beside)
            self._noted(stood.version_at)
            if stood.version_at > stood.recorded_at:
                versions.append({
                    "kind": "fact_version", "fact_id": numbers[uid], "recorded_at": stood.recorded_at, "retired_at": stood.version_at,
                    "valid_at": made[uid]["valid_at"], "valid_to": None, "is_latest": 1, "struck": 0, "superseded_by": None,
                    "end_reason": None, "tier": Tier.HOT.value, "closed_at": None,
                })  # fmt: skip
        self.facts = len(made)
        return made, versions

    def _is_usable(self, row: Row) -> bool:
        text = clean(_text(row.get("fact_text")))
        is_whole = (
            text
            and _moment(row.get("valid_at")) is not None
            and str(row.get("subject_id")) in self._entities
            and str(row.get("episode_id")) in self._episodes
        )
        kinds = redact(f"{text}\n{_text(row.get('object_literal'))}").kinds if is_whole else ()
        if not is_whole or kinds:
            self.redacted |= set(kinds)
            self.left.note(Passed(reason=_SECRET if kinds else _NO_FACT, place=f"fact {row['id']}"))
        return bool(is_whole) and not kinds

    def _fact(self, row: Row, numbers: Mapping[str, int], stood: _Standing, *, is_beside: bool) -> dict[str, str | int | float | None]:
        number, said, source = self._episodes[str(row["episode_id"])]
        text, predicate = clean(_text(row["fact_text"])), clean(_text(row.get("predicate"))) or "states"
        object_id = self._entities.get(str(row.get("object_id")))
        value = self._names[object_id] if object_id is not None else clean(_text(row.get("object_literal")))
        start = max(0, said.find(text))
        is_summary = row.get("record_kind") == RecordKind.SUMMARY.value
        functional = vocabulary.cardinality(predicate) is Cardinality.FUNCTIONAL
        return {
            "kind": "fact", "id": numbers[str(row["id"])], "uid": str(row["id"]), "subject_id": self._entities[str(row["subject_id"])],
            "predicate": predicate, "object": value, "object_key": value_key(value or text), "object_id": object_id, "fact_text": text,
            "polarity": Polarity.POSITIVE.value, "modality": Modality.ASSERTED.value,
            "record_kind": (RecordKind.SUMMARY if is_summary else RecordKind.FACT).value,
            "functional": int(functional and not is_summary), "additive": int(is_beside),
            "asserted_at": stood.valid_at, "asserted_until": stood.asserted_until, "valid_at": stood.valid_at, "valid_to": stood.valid_to,
            "recorded_at": stood.recorded_at, "retired_at": None if stood.reason is None else stood.version_at, "version_at": stood.version_at,
            "is_latest": int(stood.reason is None), "struck": 0, "superseded_by": numbers.get(stood.successor or ""),
            "end_reason": None if stood.reason is None else stood.reason.value,
            "confidence": _within(row.get("confidence"), 1.0, 1.0), "salience": _within(row.get("salience"), 5.0, 10.0),
            "is_inference": int(bool(row.get("is_inference"))), "trust": trust_of(source).value,
            "tier": (Tier.COLD if row.get("tier") == Tier.COLD.value else Tier.HOT).value, "episode_id": number,
            "span_start": start, "span_end": start + len(text) if said.startswith(text, start) else len(said),
            "found_by": "import", "rule": Kind.OLDER.value, "reasons": "[]",
        }  # fmt: skip

    def _side_by_side(self, by_id: Mapping[str, Row], standing: Mapping[str, _Standing]) -> set[str]:
        """Facts of a slot that overlapped there: each was said beside the others."""
        slots: dict[tuple[int, str], list[tuple[int, int | None, str]]] = defaultdict(list)
        for uid, row in by_id.items():
            stood = standing[uid]
            slots[self._entities[str(row["subject_id"])], _text(row.get("predicate"))].append((stood.valid_at, stood.valid_to, uid))
        found: set[str] = set()
        for held in slots.values():
            held.sort(key=lambda one: one[0])
            longest, ends = "", float("-inf")
            for start, end, uid in held:
                # Whatever overlaps an earlier one overlaps the one of them that ends last.
                if start < ends:
                    found |= {longest, uid}
                if end is None or end > ends:
                    longest, ends = uid, float("inf") if end is None else end
        return found

    def _accesses(self, facts: Mapping[str, Mapping[str, str | int | float | None]]) -> Iterator[Record]:
        for row in self.rows.facts:
            served, last = row.get("access_count"), _moment(row.get("last_access"))
            if str(row["id"]) in facts and isinstance(served, int) and served > 0 and last is not None:
                yield {"kind": "access", "fact_id": facts[str(row["id"])]["id"], "served": served, "last_at": last}

    def _derivations(self, facts: Mapping[str, Mapping[str, str | int | float | None]]) -> Iterator[Record]:
        """What summaries were made from, as far as it holds where they do."""
        for made, source in self.rows.derivations:
            if made not in facts or source not in facts or facts[made]["record_kind"] != RecordKind.SUMMARY.value:
                continue
            is_gone = not facts[source]["is_latest"] and facts[source]["end_reason"] != EndReason.DUPLICATE.value
            if not (facts[made]["is_latest"] and is_gone):
                yield {"kind": "derivation", "fact_id": facts[made]["id"], "source_id": facts[source]["id"]}

    def _noted(self, moment: int) -> int:
        self._latest = max(self._latest, moment)
        return moment


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """How a fact stood at last."""

    valid_at: int
    valid_to: int | None
    asserted_until: int | None
    recorded_at: int
    version_at: int
    successor: str | None = None
    reason: EndReason | None = None
    """Why it is not the latest; `None` where it is."""


def _standing(row: Row, by_id: Mapping[str, Row]) -> _Standing:
    begins = _moment(row["valid_at"]) or 0
    ends = _moment(row.get("valid_to"))
    ends = None if ends is None else max(begins, ends)
    recorded = _moment(row.get("ingested_at")) or _moment(row.get("created_at")) or begins
    if row.get("is_latest"):
        return _Standing(valid_at=begins, valid_to=ends, asserted_until=ends, recorded_at=recorded, version_at=recorded)
    successor = str(row["superseded_by"]) if str(row.get("superseded_by")) in by_id else None
    reason = _reason(row, None if successor is None else by_id[successor], ends)
    if reason not in {EndReason.SUPERSEDED, EndReason.DUPLICATE}:
        successor = None
    known = [] if successor is None else [_moment(by_id[successor].get("ingested_at"))]
    ended = _moment(row.get("expired_at")) or next((at for at in known if at is not None), None) or recorded
    # Where the next began is where it ended by itself: told of once more, the timeline comes to the same.
    follows = successor is not None and reason is EndReason.SUPERSEDED and _moment(by_id[successor]["valid_at"]) == ends
    return _Standing(
        valid_at=begins,
        valid_to=ends,
        asserted_until=None if follows else ends,
        recorded_at=recorded,
        version_at=max(recorded, ended),
        successor=successor,
        reason=reason,
    )


def _reason(row: Row, successor: Row | None, ends: int | None) -> EndReason:
    """Why a fact is not the latest any more."""
    if row.get("record_kind") == RecordKind.SUMMARY.value and row.get("invalidated_by"):
        return EndReason.OUTDATED
    if successor is None:
        return EndReason.RETRACTED
    holds_on = ends is None and successor.get("is_latest") and _moment(successor.get("valid_to")) is None
    return EndReason.DUPLICATE if holds_on else EndReason.SUPERSEDED


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and EARLIEST <= value <= LATEST else None


def _source(value: object) -> Source:
    said_by = {source.value: source for source in (Source.USER, Source.ASSISTANT, Source.TOOL, Source.DOC)}
    return said_by.get(_text(value), Source.IMPORT)


def _within(value: object, default: float, most: float) -> float:
    number = float(value) if isinstance(value, (int, float)) else default
    return min(max(number, 0.0), most)
