"""Proposals as they are stored: their evidence as JSON, their targets with how each stood, and their way to a decision."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import apsw

from lean_memory.domain import Fact, FactId, Instant
from lean_memory.errors import NotFoundError, quoted
from lean_memory.proposals import Proposal, ProposalKind, ProposalState, SearchEffect, Verdict
from lean_memory.store.identifiers import new_uid
from lean_memory.store.rows import CURRENT_FACT, StoredFact, facts_of

LASTS_MS = 30 * 24 * 60 * 60 * 1000
"""For how long a proposal may be decided."""

_PROPOSAL = """
    SELECT p.id, p.uid, p.kind, p.state, p.revision, p.entity, p.evidence, p.created_at, p.expires_at, p.decided_at, p.decision, r.uid
    FROM proposal p LEFT JOIN run r ON r.id = p.run_id
"""
_Row = tuple[int, str, str, str, int, str, str, int, int, int | None, str | None, str | None]

_STOOD = (
    "json_array(f.valid_at, f.valid_to, f.is_latest, f.struck, f.tier, f.superseded_by, f.end_reason, f.record_kind, f.episode_id, f.rule)"
)
# What is to be erased is so however it stands, as long as it says what it said: a fact whose words had to go has those of a confirmation.
_STANDS = f"""
    CASE p.kind WHEN 'forget' THEN json_extract(t.stood, '$[8]') = f.episode_id AND json_extract(t.stood, '$[9]') = f.rule
                ELSE t.stood = {_STOOD} END
"""
_SETTLED = ("pending", "approved", "rejected", "reverted")


class Evidence(TypedDict, total=False):
    """What a proposal shows beside its facts, as it is written."""

    text: str
    lost: list[str]
    demotes: list[str]
    cosine: float | None
    scores: list[tuple[str, float]]
    effects: list[tuple[str, list[str], list[str]]]
    reason: str
    choices: list[str]
    names: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProposal:
    """A proposal before it is stored."""

    kind: ProposalKind
    entity: str
    targets: tuple[FactId, ...]
    evidence: Evidence
    rests_on: tuple[FactId, ...] = ()
    """Facts to which nothing is done, and without which it would not be proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProposal:
    """A proposal with what is needed to carry it out."""

    row: int
    proposal: Proposal
    targets: tuple[StoredFact, ...]
    changed: bool
    """Whether a target stands otherwise than when it was proposed, or is gone."""
    demotes: frozenset[str]
    names: tuple[str, ...]


def stage(con: apsw.Connection, new: NewProposal, *, run: int | None, now: Instant) -> str | None:
    """Keep a proposal, and give its id; `None` where a fact of it is gone, or the person was asked the same before and nothing changed."""
    known, grounds = _rows(con, new.targets), _rows(con, new.rests_on)
    if known is None or grounds is None or _was_asked(con, new, known):
        return None
    uid = new_uid(now)
    con.execute(
        "INSERT INTO proposal (uid, run_id, kind, state, revision, entity, evidence, created_at, expires_at) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)",
        (uid, run, new.kind.value, ProposalState.PENDING.value, new.entity, json.dumps(new.evidence), now, now + LASTS_MS),
    )
    proposal = con.last_insert_rowid()
    con.executemany(
        f"INSERT INTO proposal_target (proposal_id, position, fact_id, stood) SELECT ?, ?, f.id, {_STOOD} FROM fact f WHERE f.id = ?",
        [
            *((proposal, position, row) for position, row in enumerate(known)),
            *((proposal, ~position, row) for position, row in enumerate(grounds)),
        ],
    )
    return uid


def is_new(con: apsw.Connection, new: NewProposal) -> bool:
    """Whether `stage` would keep a proposal."""
    known = _rows(con, new.targets)
    return known is not None and not _was_asked(con, new, known)


def _rows(con: apsw.Connection, ids: Iterable[FactId]) -> list[int] | None:
    rows = [cast("int | None", con.execute("SELECT id FROM fact WHERE uid = ?", (uid,)).get) for uid in ids]
    known = [row for row in rows if row is not None]
    return known if len(known) == len(rows) else None


def _was_asked(con: apsw.Connection, new: NewProposal, rows: Sequence[int]) -> bool:
    states = [state for state in _SETTLED if not (state == "approved" and new.kind is ProposalKind.DEMOTION)]
    given = {"kind": new.kind.value, "states": json.dumps(states), "rows": json.dumps(rows), "count": len(set(rows))}
    among = "p.kind = :kind AND p.state IN (SELECT value FROM json_each(:states))"
    if new.kind is ProposalKind.SAME_ENTITY:
        asked = con.execute(f"SELECT evidence FROM proposal p WHERE {among}", given).fetchall()
        names = sorted(new.evidence.get("names", []))
        return any(sorted(json.loads(evidence).get("names", [])) == names for (evidence,) in cast("list[tuple[str]]", asked))
    query = f"""
        SELECT 1 FROM proposal_target t JOIN proposal p ON p.id = t.proposal_id JOIN fact f ON f.id = t.fact_id
        WHERE {among} AND t.position >= 0 AND t.fact_id IN (SELECT value FROM json_each(:rows)) AND {_STANDS}
        GROUP BY p.id HAVING count(*) = :count LIMIT 1
    """
    return con.execute(query, given).fetchone() is not None


def load(con: apsw.Connection, namespace: str, proposal_id: str) -> StoredProposal:
    """A proposal by its id, decided or not. Raises `NotFoundError`."""
    found = con.execute(f"{_PROPOSAL} WHERE p.uid = ?", (proposal_id,)).fetchone()
    if found is None:
        raise NotFoundError(
            f"There is no proposal {quoted(proposal_id)} in the namespace “{quoted(namespace)}”; what it spoke of may have been forgotten."
        )
    return _stored(con, namespace, cast("_Row", found))


def pending(con: apsw.Connection, namespace: str, *, kind: ProposalKind | None, entity: str | None) -> list[StoredProposal]:
    """The proposals that wait for a decision, oldest first."""
    rows = con.execute(
        f"{_PROPOSAL} WHERE p.state = 'pending' AND p.kind = coalesce(?1, p.kind) AND p.entity = coalesce(?2, p.entity) ORDER BY p.id",
        (None if kind is None else kind.value, entity),
    ).fetchall()
    return [_stored(con, namespace, row) for row in cast("list[_Row]", rows)]


def decided(con: apsw.Connection, namespace: str, limit: int) -> list[StoredProposal]:
    """The proposals that are no longer pending, the one decided last first."""
    rows = con.execute(f"{_PROPOSAL} WHERE p.decided_at IS NOT NULL ORDER BY p.decided_at DESC, p.id DESC LIMIT ?", (limit,)).fetchall()
    return [_stored(con, namespace, row) for row in cast("list[_Row]", rows)]


def refused_merges(con: apsw.Connection) -> list[frozenset[FactId]]:
    """The facts that a person decided not to merge with each other, as far as they still stand as they did then."""
    rows = con.execute(
        f"""
        SELECT p.id, f.uid FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id JOIN fact f ON f.id = t.fact_id
        WHERE p.kind = 'merge' AND p.state IN ('rejected', 'reverted') AND {_STANDS}
        """
    ).fetchall()
    found: dict[int, set[FactId]] = {}
    for proposal, uid in cast("list[tuple[int, str]]", rows):
        found.setdefault(proposal, set()).add(FactId(uid))
    return [frozenset(each) for each in found.values() if len(each) > 1]


def withdraw_of_fact(con: apsw.Connection, kind: ProposalKind, fact_row: int, now: Instant) -> None:
    """Withdraw the proposals of a kind that wait for a decision about a fact."""
    rows = con.execute(
        "SELECT p.id FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id "
        "WHERE p.state = 'pending' AND p.kind = ? AND t.position >= 0 AND t.fact_id = ?",
        (kind.value, fact_row),
    ).fetchall()
    for (row,) in cast("list[tuple[int]]", rows):
        settle(con, row, ProposalState.WITHDRAWN, now=now)


def waiting_for(con: apsw.Connection, kind: ProposalKind, fact_id: FactId) -> str | None:
    """The id of the proposal of a kind that waits for a decision about a fact, if there is one."""
    found = con.execute(
        "SELECT p.uid FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id JOIN fact f ON f.id = t.fact_id "
        "WHERE p.state = 'pending' AND p.kind = ? AND f.uid = ? LIMIT 1",
        (kind.value, fact_id),
    )
    return cast("str | None", found.get)


def approved_to_be_forgotten(con: apsw.Connection) -> list[FactId]:
    """The facts that a person approved to be forgotten, and which are still there."""
    rows = con.execute(
        "SELECT f.uid FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id JOIN fact f ON f.id = t.fact_id "
        "WHERE p.state = 'approved' AND p.kind = 'forget'"
    )
    return [FactId(uid) for (uid,) in cast("list[tuple[str]]", rows.fetchall())]


def pending_kinds(con: apsw.Connection) -> tuple[tuple[str, int], ...]:
    """How many proposals of each kind wait, in the order of the kinds."""
    rows = con.execute("SELECT kind, count(*) FROM proposal WHERE state = 'pending' GROUP BY kind").fetchall()
    counts = dict(cast("list[tuple[str, int]]", rows))
    return tuple((kind.value, counts[kind.value]) for kind in ProposalKind if kind.value in counts)


def settle(con: apsw.Connection, row: int, state: ProposalState, *, now: Instant, verdict: Verdict | None = None, by: str = "") -> None:
    """Give a proposal another state."""
    decision = None if verdict is None else json.dumps({"verdict": verdict.value, "by": by})
    con.execute(
        "UPDATE proposal SET state = ?, revision = revision + 1, decided_at = ?, decision = coalesce(?, decision) WHERE id = ?",
        (state.value, now, decision, row),
    )


def reopen(con: apsw.Connection, row: int, now: Instant) -> None:
    """Let a proposal that was rejected wait for a decision again."""
    con.execute(
        "UPDATE proposal SET state = ?, revision = revision + 1, decided_at = NULL, decision = NULL, expires_at = ? WHERE id = ?",
        (ProposalState.PENDING.value, now + LASTS_MS, row),
    )


def expire(con: apsw.Connection, now: Instant) -> int:
    """Let go of what nobody decided in time; gives how many."""
    rows = con.execute("SELECT id FROM proposal WHERE state = 'pending' AND expires_at <= ?", (now,)).fetchall()
    for (row,) in cast("list[tuple[int]]", rows):
        settle(con, row, ProposalState.EXPIRED, now=now)
    return len(rows)


def overdue(con: apsw.Connection, now: Instant) -> int:
    """How many proposals wait that nobody decided in time."""
    return cast("int", con.execute("SELECT count(*) FROM proposal WHERE state = 'pending' AND expires_at <= ?", (now,)).get)


def withdraw_of_run(con: apsw.Connection, run: int, now: Instant) -> int:
    """Withdraw what a run proposed and nobody has decided; gives how many."""
    rows = con.execute("SELECT id FROM proposal WHERE state = 'pending' AND run_id = ?", (run,)).fetchall()
    for (row,) in cast("list[tuple[int]]", rows):
        settle(con, row, ProposalState.WITHDRAWN, now=now)
    return len(rows)


def withdraw_changed(con: apsw.Connection, now: Instant) -> int:
    """Withdraw pending proposals of which a fact stands otherwise by now; gives how many."""
    rows = con.execute(
        f"""
        SELECT DISTINCT p.id FROM proposal p JOIN proposal_target t ON t.proposal_id = p.id JOIN fact f ON f.id = t.fact_id
        WHERE p.state = 'pending' AND NOT ({_STANDS})
        """
    ).fetchall()
    for (row,) in cast("list[tuple[int]]", rows):
        settle(con, row, ProposalState.STALE, now=now)
    return len(rows)


def effects_of(evidence: Evidence) -> tuple[SearchEffect, ...]:
    """The effects on searches that evidence tells of."""
    return tuple(
        SearchEffect(query=query, before=tuple(before), after=tuple(after)) for query, before, after in evidence.get("effects", [])
    )


def _stored(con: apsw.Connection, namespace: str, row: _Row) -> StoredProposal:
    number, uid, kind, state, revision, entity, written, created_at, expires_at, decided_at, decision, run_id = row
    evidence = cast("Evidence", json.loads(written))
    targets, changed = _targets(con, namespace, number)
    verdict = None if decision is None else Verdict(json.loads(decision)["verdict"])
    proposal = Proposal(
        id=uid,
        namespace=namespace,
        kind=ProposalKind(kind),
        state=ProposalState(state),
        revision=revision,
        entity=entity,
        facts=tuple(target.fact for target in targets),
        text=evidence.get("text", ""),
        lost=tuple(evidence.get("lost", ())),
        cosine=evidence.get("cosine"),
        scores=tuple((name, score) for name, score in evidence.get("scores", ())),
        effects=effects_of(evidence),
        reason=evidence.get("reason", ""),
        choices=tuple(evidence.get("choices", ())),
        created_at=Instant(created_at),
        expires_at=Instant(expires_at),
        decided_at=None if decided_at is None else Instant(decided_at),
        verdict=verdict,
        run_id=run_id,
    )
    names, demotes = tuple(evidence.get("names", ())), frozenset(evidence.get("demotes", ()))
    return StoredProposal(row=number, proposal=proposal, targets=targets, changed=changed, demotes=demotes, names=names)


def _targets(con: apsw.Connection, namespace: str, proposal: int) -> tuple[tuple[StoredFact, ...], bool]:
    places = con.execute(
        f"""
        SELECT f.id, t.position, {_STANDS} FROM proposal_target t JOIN proposal p ON p.id = t.proposal_id JOIN fact f ON f.id = t.fact_id
        WHERE t.proposal_id = ? ORDER BY t.position
        """,
        (proposal,),
    ).fetchall()
    stood = cast("list[tuple[int, int, int]]", places)
    targets = [row for row, position, _ in stood if position >= 0]
    facts = {stored.row: stored for stored in _facts(con, namespace, targets)}
    return tuple(facts[row] for row in targets), not all(same for _, _, same in stood)


def _facts(con: apsw.Connection, namespace: str, rows: Iterable[int]) -> list[StoredFact]:
    return facts_of(con.execute(f"{CURRENT_FACT} WHERE f.id IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),)), namespace)


def is_as_drafted(con: apsw.Connection, namespace: str, facts: Sequence[Fact]) -> bool:
    """Whether facts still stand as a draft shows them."""
    found = facts_of(
        con.execute(f"{CURRENT_FACT} WHERE f.uid IN (SELECT value FROM json_each(?))", (json.dumps([fact.id for fact in facts]),)),
        namespace,
    )
    now = {stored.fact.id: _standing(stored.fact) for stored in found}
    return all(now.get(fact.id) == _standing(fact) for fact in facts)


def _standing(fact: Fact) -> tuple[object, ...]:
    return (fact.fact_text, fact.object, fact.valid_at, fact.valid_to, fact.is_latest, fact.superseded_by, fact.tier)
