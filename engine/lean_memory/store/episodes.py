"""Episodes and their passages: what was said, kept before anything is made of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import apsw

from lean_memory.domain import Episode, EpisodeId, EpisodeState, Instant, Source, Span
from lean_memory.errors import NotFoundError, quoted
from lean_memory.store import search_index
from lean_memory.store.identifiers import new_uid
from lean_memory.store.rows import EPISODE, episodes_of
from lean_memory.store.search_index import RowVisibility

_LOOK_BACK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEpisode:
    """What is said, before it is stored; `passages` are the pieces of `text` that are indexed."""

    text: str
    source: Source
    client: str | None = None
    t_ref: Instant
    tz: str
    passages: Sequence[Span]
    uid: EpisodeId | None = None
    """Its id, where it has one already by which it is known again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """An indexed piece of an episode."""

    row: int
    episode_row: int
    span: Span
    index_row: int


def insert_episode(con: apsw.Connection, new: NewEpisode, recorded_at: Instant) -> Episode:
    """Write an episode with its passages and their words; their vectors come later."""
    uid = new.uid or EpisodeId(new_uid(recorded_at))
    con.execute(
        "INSERT INTO episode (uid, text, source, client, t_ref, tz, recorded_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (uid, new.text, new.source.value, new.client, new.t_ref, new.tz, recorded_at, EpisodeState.STORED.value),
    )
    episode_row = con.last_insert_rowid()
    for span in new.passages:
        con.execute(
            "INSERT INTO passage (episode_id, span_start, span_end, row_id) VALUES (?, ?, ?, 0)", (episode_row, span.start, span.end)
        )
        passage_row = con.last_insert_rowid()
        index_row = search_index.insert_row(
            con,
            fact_id=None,
            passage_id=passage_row,
            text=new.text[span.start : span.end],
            visibility=RowVisibility(valid_at=new.t_ref, valid_to=None, recorded_at=recorded_at, latest=True),
        )
        con.execute("UPDATE passage SET row_id = ? WHERE id = ?", (index_row, passage_row))
    return Episode(
        uid=uid,
        text=new.text,
        source=new.source,
        client=new.client,
        t_ref=new.t_ref,
        tz=new.tz,
        recorded_at=recorded_at,
    )


def find_episode(con: apsw.Connection, uid: EpisodeId) -> int | None:
    """The row of an episode, if it is there."""
    return cast("int | None", con.execute("SELECT id FROM episode WHERE uid = ?", (uid,)).get)


def known_episodes(con: apsw.Connection, uids: Iterable[EpisodeId]) -> frozenset[EpisodeId]:
    """Which of these episodes are there."""
    found = con.execute("SELECT uid FROM episode WHERE uid IN (SELECT value FROM json_each(?))", (json.dumps(list(uids)),))
    return frozenset(EpisodeId(uid) for (uid,) in cast("list[tuple[str]]", found.fetchall()))


def episode_row(con: apsw.Connection, uid: EpisodeId) -> int:
    """The row of an episode."""
    row = find_episode(con, uid)
    if row is None:
        raise NotFoundError(f"There is no episode {quoted(uid)} in this namespace; it may have been forgotten or cleared.")
    return row


def load_episode(con: apsw.Connection, uid: EpisodeId) -> Episode:
    """An episode by its id."""
    found = episodes_of(con.execute(f"{EPISODE} WHERE uid = ?", (uid,)))
    if not found:
        raise NotFoundError(f"There is no episode {quoted(uid)} in this namespace; it may have been forgotten or cleared.")
    return found[0]


def unfinished_episodes(con: apsw.Connection) -> list[Episode]:
    """Episodes that ingest has not finished, oldest first."""
    unfinished = f"state <> '{EpisodeState.DONE.value}' AND state <> '{EpisodeState.WAITING.value}'"
    return episodes_of(con.execute(f"{EPISODE} WHERE {unfinished} ORDER BY id"))


def waiting_episodes(con: apsw.Connection) -> list[Episode]:
    """Episodes whose facts are stored and which wait for a model, oldest first."""
    # The first condition is that of the index.
    return episodes_of(
        con.execute(f"{EPISODE} WHERE state <> '{EpisodeState.DONE.value}' AND state = '{EpisodeState.WAITING.value}' ORDER BY id")
    )


def recent_episodes(con: apsw.Connection, before: EpisodeId, client: str | None, limit: int) -> list[Episode]:
    """The last episodes of one client that were stored before another, oldest first; looks back over a bounded number of episodes."""
    last = find_episode(con, before)
    if last is None:
        return []
    found = con.execute(
        f"{EPISODE} WHERE id < ?1 AND id >= ?1 - ?2 AND client IS ?3 ORDER BY id DESC LIMIT ?4", (last, _LOOK_BACK, client, limit)
    )
    return episodes_of(found)[::-1]


def mark(con: apsw.Connection, uid: EpisodeId, state: EpisodeState) -> None:
    """Note how far ingest has got with an episode."""
    con.execute("UPDATE episode SET state = ? WHERE uid = ?", (state.value, uid))


def passages_of(con: apsw.Connection, episode_row: int) -> list[Passage]:
    """The passages of an episode, in order."""
    found = con.execute(
        "SELECT id, episode_id, span_start, span_end, row_id FROM passage WHERE episode_id = ? ORDER BY span_start, id", (episode_row,)
    )
    return [_passage(row) for row in cast("list[tuple[int, int, int, int, int]]", found.fetchall())]


def passage_at(con: apsw.Connection, episode_row: int, position: int) -> Passage | None:
    """The passage of an episode that a character lies in: the last one to begin at or before it."""
    found = con.execute(
        "SELECT id, episode_id, span_start, span_end, row_id FROM passage "
        "WHERE episode_id = ? AND span_start <= ? ORDER BY span_start DESC, id DESC LIMIT 1",
        (episode_row, position),
    ).fetchone()
    if found is None:
        return None
    passage = _passage(cast("tuple[int, int, int, int, int]", found))
    return passage if position < passage.span.end else None


def _passage(row: tuple[int, int, int, int, int]) -> Passage:
    return Passage(row=row[0], episode_row=row[1], span=Span(start=row[2], end=row[3]), index_row=row[4])
