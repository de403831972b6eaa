"""Keeping what was forgotten out of an older copy: its tombstones are those of today, and whatever they know is erased from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import EpisodeId, Instant, Polarity, Span
from lean_memory.store import tombstones
from lean_memory.store.episodes import find_episode
from lean_memory.store.forget import Eraser
from lean_memory.store.forget_scope import Scope, ScopeFinder
from lean_memory.store.wording import words_of
from lean_memory.store.writing import WriteTransaction

_FACTS = """
    SELECT f.id, e.name_key, f.predicate, f.object_key, f.polarity FROM fact f JOIN entity e ON e.id = f.subject_id WHERE f.object_key <> '' ORDER BY f.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graves:
    """What one file knows of what was forgotten: its tombstones, and the salt without which they tell nothing."""

    salt: bytes
    rows: tuple[tuple[bytes | int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """How many facts were erased, and the texts that went."""

    facts: int
    texts: tuple[str, ...]
    is_guarded: bool = True
    """Whether all of it stays unlearned; where two histories with tombstones of their own meet, those of the older one are let go."""


def graves_of(con: apsw.Connection) -> Graves:
    """The tombstones of an open file."""
    salt = cast("bytes", con.execute("SELECT value FROM setting WHERE key = 'salt'").get)
    rows = cast("list[tuple[bytes | int, int]]", con.execute("SELECT digest, forgotten_at FROM tombstone").fetchall())
    return Graves(salt=salt, rows=tuple(rows))


def scrub(tx: WriteTransaction, graves: Iterable[Graves]) -> Scrubbed:
    """Erase all that the graves know from this file, and keep them in it, inside the caller's transaction.

    Those of the file's own history are added to its own. Those of another one replace its own, which no other file could read.
    """
    facts, texts, guarded = 0, list[str](), True
    for each in graves:
        if not each.rows:
            continue
        own = graves_of(tx.connection)
        guarded = guarded and (own.salt == each.salt or not own.rows)
        _take_over(tx.connection, each, keep=own.salt == each.salt)
        for scope in _known(tx.connection):
            erased = Eraser(con=tx.connection, scope=scope, now=tx.recorded_at).run()
            facts, texts = facts + erased.result.facts, [*texts, *erased.texts]
    return Scrubbed(facts=facts, texts=tuple(texts), is_guarded=guarded)


def _take_over(con: apsw.Connection, graves: Graves, *, keep: bool) -> None:
    if not keep:
        con.execute("DELETE FROM tombstone")
        con.execute("UPDATE setting SET value = ? WHERE key = 'salt'", (graves.salt,))
    con.executemany("INSERT OR IGNORE INTO tombstone (digest, forgotten_at) VALUES (?, ?)", graves.rows)


def _known(con: apsw.Connection) -> Iterator[Scope]:
    """What the tombstones know of the file, one scope after another; each is erased before the next is looked for."""
    for (uid,) in cast("list[tuple[str]]", con.execute("SELECT uid FROM episode ORDER BY id").fetchall()):
        yield from _of_episode(con, uid)
    for row, subject, predicate, object_key, polarity in cast("list[tuple[int, str, str, str, str]]", con.execute(_FACTS).fetchall()):
        is_there = con.execute("SELECT 1 FROM fact WHERE id = ?", (row,)).get is not None
        if is_there and tombstones.is_buried(con, (subject, predicate, object_key, Polarity(polarity))):
            yield ScopeFinder(con).of_fact(row)


def _of_episode(con: apsw.Connection, uid: str) -> Iterator[Scope]:
    before = ""
    while (found := find_episode(con, EpisodeId(uid))) is not None:
        text = cast("str", con.execute("SELECT text FROM episode WHERE id = ?", (found,)).get)
        if text == before:
            return
        before = text
        if tombstones.is_erased(con, uid):
            yield ScopeFinder(con).of_episode(found)
            continue
        span = _stretch(con, uid, text)
        if span is None:
            return
        yield ScopeFinder(con).of_stretch(found, span)


def _stretch(con: apsw.Connection, uid: str, text: str) -> Span | None:
    words = words_of(text)
    return next(iter([*tombstones.forgotten_stretches(con, text, words), *tombstones.cut_stretches(con, uid, words)]), None)


def next_moment(con: apsw.Connection) -> Instant:
    """Nothing is recorded before it."""
    return Instant(cast("int", con.execute("SELECT value FROM setting WHERE key = 'next_moment'").get))
