"""Taking stretches out of episodes, with everything that points into them kept in its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

import apsw

from lean_memory.domain import Instant, Span
from lean_memory.store import search_index
from lean_memory.store.cutting import Cut, cut, is_wordless
from lean_memory.store.episodes import Passage, passages_of
from lean_memory.store.search_index import RowVisibility
from lean_memory.store.standing import refresh_passage


@dataclass(slots=True, kw_only=True)
class TextEraser:
    """Cuts episodes; counts what it changed."""

    con: apsw.Connection
    episodes: int = 0
    passages: int = 0
    texts: list[str] = field(default_factory=list[str])
    """The passages and the stretches that were erased."""

    def cut(self, episode: int, spans: Iterable[Span]) -> None:
        """Take stretches out of an episode; one of which nothing is left, and nothing was learned, goes with its passages.

        A passage that was changed has a new index row, which waits for its vector.
        """
        text, t_ref, recorded_at = cast(
            "tuple[str, int, int]", self.con.execute("SELECT text, t_ref, recorded_at FROM episode WHERE id = ?", (episode,)).fetchone()
        )
        after = cut(text, spans)
        if not after.removed:
            return
        self.episodes += 1
        self.texts += [text[s.start : s.end] for s in after.removed]
        for passage in passages_of(self.con, episode):
            self._move_passage(passage, text, after, Instant(t_ref), Instant(recorded_at))
        self._move_statements(episode, after)
        self.con.execute("UPDATE episode SET text = ? WHERE id = ?", (after.text, episode))
        for passage in passages_of(self.con, episode):
            refresh_passage(self.con, passage.row)
        if is_wordless(after.text):
            self.con.execute(
                """
                DELETE FROM episode WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM fact WHERE episode_id = ?1)
                AND NOT EXISTS (SELECT 1 FROM evidence WHERE episode_id = ?1) AND NOT EXISTS (SELECT 1 FROM passage WHERE episode_id = ?1)
                """,
                (episode,),
            )

    def _move_passage(self, passage: Passage, old: str, after: Cut, t_ref: Instant, recorded_at: Instant) -> None:
        span = after.moved(passage.span)
        was, now = old[passage.span.start : passage.span.end], after.text[span.start : span.end]
        if was == now:
            self.con.execute("UPDATE passage SET span_start = ?, span_end = ? WHERE id = ?", (span.start, span.end, passage.row))
            return
        self.passages += 1
        self.texts.append(was)
        self._erase_index_row(passage, was)
        if is_wordless(now):
            self.con.execute("DELETE FROM passage WHERE id = ?", (passage.row,))
            return
        index_row = search_index.insert_row(
            self.con,
            fact_id=None,
            passage_id=passage.row,
            text=now,
            visibility=RowVisibility(valid_at=t_ref, valid_to=None, recorded_at=recorded_at, latest=True),
        )
        self.con.execute(
            "UPDATE passage SET span_start = ?, span_end = ?, row_id = ? WHERE id = ?", (span.start, span.end, index_row, passage.row)
        )

    def _erase_index_row(self, passage: Passage, text: str) -> None:
        """Erase a passage's row; one that also stands for a fact that stays is left to the fact."""
        fact = self.con.execute("SELECT fact_id FROM index_row WHERE id = ?", (passage.index_row,)).get
        if fact is None:
            search_index.delete_row(self.con, passage.index_row, text)
        else:
            self.con.execute("UPDATE index_row SET passage_id = NULL WHERE id = ?", (passage.index_row,))

    def _move_statements(self, episode: int, after: Cut) -> None:
        for table in ("fact", "evidence"):
            rows = self.con.execute(f"SELECT id, span_start, span_end FROM {table} WHERE episode_id = ?", (episode,)).fetchall()
            for row, start, end in cast("list[tuple[int, int, int]]", rows):
                span = after.moved(Span(start=start, end=end))
                self.con.execute(f"UPDATE {table} SET span_start = ?, span_end = ? WHERE id = ?", (span.start, span.end, row))
