"""What two files know of the same things, compared: what one has that the other lacks, and where both went on differently.

The unit is what is known of one subject in one respect, a slot, together with the slots that it is tied to: by what superseded what, what confirms
what, and what was made from what. A slot's events are its facts, each with every way it ever stood, and what was said about them beside. One side goes on from
the other where it has all its events, and each of its facts stood first as it does there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import apsw

from lean_memory.custody import Fate, Part

SlotKey = tuple[str, str]
"""The key of the subject, and the predicate."""

_STOOD = """
    SELECT v.recorded_at, v.valid_at, v.valid_to, v.is_latest, v.struck, n.uid, v.end_reason, v.tier
    FROM fact_version v LEFT JOIN fact n ON n.id = v.superseded_by WHERE v.fact_id = ? ORDER BY v.recorded_at
"""
_FACTS = """
    SELECT f.id, f.uid, s.name_key, s.name, f.predicate, f.fact_text, f.is_latest,
           json_array(f.object, f.object_key, f.polarity, f.modality, f.record_kind, f.asserted_at, f.asserted_until, f.recorded_at, e.uid, f.span_start,
                      f.span_end, f.trust, f.is_inference),
           json_array(f.version_at, f.valid_at, f.valid_to, f.is_latest, f.struck, n.uid, f.end_reason, f.tier), n.uid
    FROM fact f JOIN entity s ON s.id = f.subject_id JOIN episode e ON e.id = f.episode_id LEFT JOIN fact n ON n.id = f.superseded_by ORDER BY f.id
"""
_EVIDENCE = """
    SELECT c.id, s.name_key, s.name, c.predicate, f.uid,
           json_array(e.uid, c.span_start, c.act, c.object_key, c.valid_at, c.recorded_at, c.polarity, c.modality)
    FROM evidence c JOIN entity s ON s.id = c.subject_id JOIN episode e ON e.id = c.episode_id LEFT JOIN fact f ON f.id = c.fact_id ORDER BY c.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A fact of one side: what never changes of it, and how it stood, oldest first."""

    row: int
    uid: str
    text: str
    is_latest: bool
    said: str
    stood: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Known:
    """What one side knows in one slot."""

    subject: str
    facts: dict[str, KnownFact] = field(default_factory=dict[str, KnownFact])
    evidence: dict[str, int] = field(default_factory=dict[str, int])
    """Rows by what tells them apart."""
    ties: set[str] = field(default_factory=set[str])
    """Facts of any slot that something here is tied to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Everything one file knows, by slot, and its episodes' texts by id."""

    slots: Mapping[SlotKey, Known]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done: a fate for every slot of the bundle, and the episodes that are new here."""

    fates: Mapping[SlotKey, Fate]
    parts: tuple[Part, ...]
    episodes: tuple[str, ...]


def side_of(con: apsw.Connection) -> Side:
    """What an open file knows, in the caller's snapshot."""
    slots: dict[SlotKey, Known] = {}
    for row, uid, key, name, predicate, text, is_latest, said, now, after in cast(
        "Iterable[tuple[int, str, str, str, str, str, int, str, str, str | None]]", con.execute(_FACTS)
    ):
        slot = slots.setdefault((key, predicate), Known(subject=name))
        slot.facts[uid] = KnownFact(row=row, uid=uid, text=text, is_latest=bool(is_latest), said=said, stood=(*_stood(con, row), now))
        slot.ties |= {uid, *([] if after is None else [after])}
    for row, key, name, predicate, fact, told in cast("Iterable[tuple[int, str, str, str, str | None, str]]", con.execute(_EVIDENCE)):
        slot = slots.setdefault((key, predicate), Known(subject=name))
        slot.evidence[told] = row
        slot.ties |= set() if fact is None else {fact}
    _tie_summaries(con, slots)
    texts = dict(cast("list[tuple[str, str]]", con.execute("SELECT uid, text FROM episode ORDER BY id").fetchall()))
    return Side(slots=slots, texts=texts)


def plan(here: Side, there: Side) -> Plan:
    """What an import of `there` does to `here`. Pure."""
    changed = {uid for uid, text in there.texts.items() if here.texts.get(uid, text) != text}
    fates: dict[SlotKey, Fate] = {}
    for tied in _components(here, there):
        fate = _fate(tied, here, there, changed)
        fates.update({slot: fate if fate is not Fate.CHANGE else _alone(slot, here, there) for slot in tied if slot in there.slots})
    parts = [_part(fate, slot, here, there) for slot, fate in fates.items() if fate is not Fate.SAME]
    return Plan(
        fates=fates,
        parts=tuple(sorted(parts, key=lambda part: (part.subject, part.predicate))),
        episodes=tuple(uid for uid in there.texts if uid not in here.texts),
    )


def _fate(tied: Iterable[SlotKey], here: Side, there: Side, changed: set[str]) -> Fate:
    """What becomes of slots that are tied to each other: all meet the same fate, as one half of a chain would tell nothing."""
    both = [(here.slots.get(slot), there.slots.get(slot)) for slot in tied]
    theirs = [known for _, known in both if known is not None]
    if not theirs:
        return Fate.SAME
    if any(_episode_of(fact.said) in changed for known in theirs for fact in known.facts.values()):
        return Fate.CONFLICT
    if all(_goes_on(mine, known) for mine, known in both if known is not None):
        return Fate.SAME
    if all(_goes_on(known, mine) for mine, known in both if mine is not None):
        return Fate.CHANGE
    return Fate.CONFLICT


def _goes_on(later: Known | None, earlier: Known) -> bool:
    """Whether `later` has every event of `earlier`, and its facts stood first as they do there."""
    if later is None:
        return not earlier.facts and not earlier.evidence
    if not earlier.evidence.keys() <= later.evidence.keys():
        return False
    for uid, fact in earlier.facts.items():
        other = later.facts.get(uid)
        if other is None or other.said != fact.said or other.stood[: len(fact.stood)] != fact.stood:
            return False
    return True


def _alone(slot: SlotKey, here: Side, there: Side) -> Fate:
    """Of slots that are brought up to date together, what is done in one of them."""
    mine, known = here.slots.get(slot), there.slots[slot]
    if mine is None:
        return Fate.ADD
    return Fate.SAME if _goes_on(mine, known) else Fate.CHANGE


def _part(fate: Fate, slot: SlotKey, here: Side, there: Side) -> Part:
    mine, known = here.slots.get(slot), there.slots[slot]
    return Part(fate=fate, subject=known.subject, predicate=slot[1], here=_sentences(mine), there=_sentences(known))


def _sentences(known: Known | None) -> tuple[str, ...]:
    """The sentences that hold, or all where none does."""
    facts: Sequence[KnownFact] = [] if known is None else list(known.facts.values())
    return tuple(fact.text for fact in facts if fact.is_latest) or tuple(fact.text for fact in facts)


def _components(here: Side, there: Side) -> list[list[SlotKey]]:
    """The slots of both sides, those together that are tied to each other."""
    home = {uid: slot for side in (here, there) for slot, known in side.slots.items() for uid in known.facts}
    leader = {slot: slot for side in (here, there) for slot in side.slots}

    def lead(slot: SlotKey) -> SlotKey:
        while leader[slot] != slot:
            leader[slot] = slot = leader[leader[slot]]
        return slot

    for side in (here, there):
        for slot, known in side.slots.items():
            for uid in known.ties:
                if uid in home:
                    leader[lead(slot)] = lead(home[uid])
    found: dict[SlotKey, list[SlotKey]] = {}
    for slot in leader:
        found.setdefault(lead(slot), []).append(slot)
    return list(found.values())


def _stood(con: apsw.Connection, row: int) -> tuple[str, ...]:
    rows = con.execute(_STOOD, (row,)).fetchall()
    return tuple(json.dumps(list(cast("tuple[object, ...]", stood)), separators=(",", ":"), ensure_ascii=False) for stood in rows)


def _episode_of(said: str) -> str:
    return cast("list[str]", json.loads(said))[8]


def _tie_summaries(con: apsw.Connection, slots: Mapping[SlotKey, Known]) -> None:
    homes = {uid: known for known in slots.values() for uid in known.facts}
    rows = con.execute("SELECT f.uid, s.uid FROM derivation d JOIN fact f ON f.id = d.fact_id JOIN fact s ON s.id = d.source_id")
    for made, source in cast("list[tuple[str, str]]", rows.fetchall()):
        homes[made].ties.add(source)
