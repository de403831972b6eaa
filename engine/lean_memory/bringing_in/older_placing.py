"""What an older file says where something else is known here too: each of its facts is told again with its dates and takes its place in time.

Told once: what an episode has said already is passed over, so that a run which was cut off can be done again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lean_memory.bringing_in.texts import Passed, Tally
from lean_memory.custody import Part
from lean_memory.domain import Candidate, Cardinality, EndReason, EpisodeId, Instant, RecordKind, Span, Trust, name_key
from lean_memory.errors import NotFoundError
from lean_memory.learning import resolve
from lean_memory.resolution.statements import Statement
from lean_memory.store.bundle_rows import Record
from lean_memory.store.episodes import load_episode
from lean_memory.store.older_file import has_said
from lean_memory.store.tombstones import Claim
from lean_memory.store.writing import WriteTransaction

_SUMMARY = "A summary of facts, where other facts are known here too."
_UNDATED = "A fact that had ended there, nobody knows when, where others are known here too."

Told = Mapping[EpisodeId, Sequence[Statement]]


def told_anew(records: Iterable[Record], parts: Iterable[Part], left: Tally) -> Told:
    """What the records say of the subjects and in the respects of `parts`, by episode."""
    wanted = {(name_key(part.subject), part.predicate) for part in parts}
    names: dict[object, tuple[str, str]] = {}
    episodes: dict[object, tuple[EpisodeId, int]] = {}
    found: defaultdict[EpisodeId, list[Statement]] = defaultdict(list)
    for record in records:
        match record["kind"]:
            case "entity":
                names[record["id"]] = str(record["name"]), str(record["type"])
            case "episode":
                episodes[record["id"]] = EpisodeId(str(record["uid"])), _number(record["t_ref"])
            case "fact" if (name_key(names[record["subject_id"]][0]), record["predicate"]) in wanted:
                reason = _refusal(record)
                if reason is not None:
                    left.note(Passed(reason=reason, place=f"fact {record['uid']}"))
                    continue
                uid, t_ref = episodes[record["episode_id"]]
                found[uid].append(_statement(record, names, t_ref))
            case _:
                pass
    return found


def place(tx: WriteTransaction, told: Told) -> int:
    """Give everything its place among what is here, but for what was forgotten; gives how many facts are new."""
    new = 0
    for uid, said in told.items():
        try:
            episode = load_episode(tx.connection, uid)
        except NotFoundError:
            continue
        left = [
            s
            for s in said
            if not tx.is_tombstoned(_claim(s.candidate)) and not has_said(tx.connection, uid, s.candidate.predicate, s.object_key)
        ]
        if left:
            new += len(tx.apply(resolve(tx, left, episode.recorded_at), episode=episode).fact_ids)
    return new


def _refusal(record: Record) -> str | None:
    if record["record_kind"] == RecordKind.SUMMARY.value:
        return _SUMMARY
    is_open = not record["is_latest"] and record["valid_to"] is None and record["end_reason"] != EndReason.DUPLICATE.value
    return _UNDATED if is_open else None


def _statement(record: Record, names: Mapping[object, tuple[str, str]], t_ref: int) -> Statement:
    subject, subject_type = names[record["subject_id"]]
    until = record["asserted_until"]
    at = Instant(_number(record["valid_at"]))
    candidate = Candidate(
        subject=subject,
        subject_type=subject_type,
        predicate=str(record["predicate"]),
        object=str(record["object"]),
        object_type=None if record["object_id"] is None else names[record["object_id"]][1],
        fact_text=str(record["fact_text"]),
        span=Span(start=_number(record["span_start"]), end=_number(record["span_end"])),
        additive=bool(record["additive"]),
        cardinality=Cardinality.FUNCTIONAL if record["functional"] else Cardinality.MULTI,
        valid_at=at,
        valid_to=None if until is None else Instant(_number(until)),
        confidence=float(record["confidence"] or 0),
        salience=float(record["salience"] or 0),
        is_inference=bool(record["is_inference"]),
        trust=Trust(str(record["trust"])),
        found_by=str(record["found_by"]),
        rule=str(record["rule"]),
    )
    return Statement(candidate=candidate, valid_at=at, object_key=str(record["object_key"]), said_at=Instant(t_ref))


def _claim(c: Candidate) -> Claim:
    return Claim(sentence=c.fact_text, subject=c.subject, predicate=c.predicate, value=c.object, polarity=c.polarity)


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
