"""Reading how a fact came about: what was said, what it ended, and what ended it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import EndReason, Fact, FactId, Instant, Source
from lean_memory.store.facts import source_text, stored_fact
from lean_memory.store.rows import CURRENT_FACT, StoredFact, facts_of

_RETRACTION = """
    SELECT c.fact_text, c.object, c.object_key FROM evidence c JOIN fact f ON f.id = ?1
    WHERE c.act = 'retract' AND c.subject_id = f.subject_id AND c.predicate = f.predicate AND c.valid_at = f.valid_to
      AND c.object_key IN ('', f.object_key, coalesce((SELECT r.object_key FROM evidence r WHERE r.fact_id = f.id AND r.act = 'retract'), ''))
    ORDER BY c.fact_id IS f.id DESC, c.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """What was said when a value was taken back: the sentence, the value in its words, and the key of the value that was meant."""

    sentence: str
    value: str
    object_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A fact and the sentence it came from."""

    fact: Fact
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What is stored of a fact's beginnings and end."""

    fact: Fact
    sentence: str
    said_at: Instant
    source: Source
    client: str | None
    confirmed_at: tuple[Instant, ...]
    echoes: int
    ended: tuple[Told, ...]
    """The facts that it stands in place of."""
    successor: Told | None
    retraction: Retraction | None


def read_grounds(con: apsw.Connection, namespace: str, fact_id: FactId) -> Grounds:
    """The grounds of a fact. Raises `NotFoundError`."""
    stored = stored_fact(con, namespace, fact_id)
    fact = stored.fact
    said = con.execute("SELECT t_ref, source, client FROM episode WHERE uid = ?", (fact.episode_id,)).fetchone()
    said_at, source, client = cast("tuple[int, str, str | None]", said)
    ended = facts_of(con.execute(f"{CURRENT_FACT} WHERE f.superseded_by = ? ORDER BY f.valid_at, f.id", (stored.row,)), namespace)
    return Grounds(
        fact=fact,
        sentence=source_text(con, fact),
        said_at=Instant(said_at),
        source=Source(source),
        client=client,
        confirmed_at=_moments(con, stored.row),
        echoes=cast("int", con.execute("SELECT count(*) FROM evidence WHERE fact_id = ? AND act = 'echo'", (stored.row,)).get),
        ended=tuple(Told(fact=one.fact, sentence=source_text(con, one.fact)) for one in ended),
        successor=_successor(con, namespace, fact),
        retraction=_retraction(con, stored),
    )


def _moments(con: apsw.Connection, row: int) -> tuple[Instant, ...]:
    rows = con.execute(
        "SELECT e.t_ref FROM evidence c JOIN episode e ON e.id = c.episode_id WHERE c.fact_id = ? AND c.act = 'assert' ORDER BY e.t_ref",
        (row,),
    )
    return tuple(Instant(found[0]) for found in cast("list[tuple[int]]", rows.fetchall()))


def _successor(con: apsw.Connection, namespace: str, fact: Fact) -> Told | None:
    if fact.superseded_by is None:
        return None
    successor = stored_fact(con, namespace, fact.superseded_by).fact
    return Told(fact=successor, sentence=source_text(con, successor))


def _retraction(con: apsw.Connection, stored: StoredFact) -> Retraction | None:
    if stored.fact.end_reason is not EndReason.RETRACTED:
        return None
    found = cast("tuple[str, str, str] | None", con.execute(_RETRACTION, (stored.row,)).fetchone())
    return None if found is None else Retraction(sentence=found[0], value=found[1], object_key=found[2])
