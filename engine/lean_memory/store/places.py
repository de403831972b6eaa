"""Where in a file a phrase may be said, found by way of the search index; whether it is said there is for `mentions.py` to tell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import apsw

from lean_memory.store import search_index
from lean_memory.store.lexical_text import QuestionWord, is_unspaced, question_words
from lean_memory.store.mentions import phrase_query

_FEW = 16
"""Rows that are looked at whole rather than asked for the phrase."""

_SHOWN_BY = """
    SELECT p.episode_id, r.fact_id, f.episode_id FROM index_row r LEFT JOIN passage p ON p.id = r.passage_id LEFT JOIN fact f ON f.id = r.fact_id
"""
_ONE_OF_SEVERAL = "EXISTS (SELECT 1 FROM passage o WHERE o.episode_id = p.episode_id AND o.id <> p.id)"
_Row = tuple[int | None, int | None, int | None]


@dataclass(slots=True)
class Places:
    """Episodes and facts, by their rows, that may say what is looked for."""

    con: apsw.Connection
    _rows: dict[str, frozenset[int] | None] = field(default_factory=dict[str, "frozenset[int] | None"])
    """The index rows in which a word stands; `None` for one that stands in many."""

    def of(self, phrases: Iterable[str]) -> tuple[set[int], set[int]]:
        """The episodes, and the facts, that may say one of several phrases."""
        found: list[_Row] = []
        whole: set[int] = set()
        pieces: set[int] = set()
        for phrase in phrases:
            words = question_words(self.con, phrase)
            rare: list[frozenset[int]] = [rows for word in words if (rows := self._with(word)) is not None]
            if not rare:
                found += [*self._matching(phrase_query(phrase), "1"), *self._split(phrase)] if words else []
            elif any(is_unspaced(word.token[0]) for word in words):
                # Without spaces, a line break between two characters changes the pairs around it: a phrase would pass it by.
                whole |= self._of_two_pairs(words)
            else:
                together = rare[0].intersection(*rare)
                pieces |= min(rare, key=len)
                if len(together) <= _FEW:
                    whole |= together
                else:
                    found += self._matching(phrase_query(phrase), "1")
        found += [*self._shown_by(whole, "1"), *self._shown_by(pieces, _ONE_OF_SEVERAL)]
        episodes = {row for said_in, _, told_in in found for row in (said_in, told_in) if row is not None}
        return episodes, {fact for _, fact, _ in found if fact is not None}

    def _of_two_pairs(self, words: Sequence[QuestionWord]) -> frozenset[int]:
        """The rows in which the rarest of the words stands or, where it is a pair of characters, the rarest that shares none of them."""
        counted = sorted(((len(rows), word.token, rows) for word in words if (rows := self._with(word)) is not None), key=lambda w: w[:2])
        _, rarest, found = counted[0]
        return (
            found if not is_unspaced(rarest[0]) else found.union(*[rows for _, token, rows in counted if not set(token) & set(rarest)][:1])
        )

    def _with(self, word: QuestionWord) -> frozenset[int] | None:
        if word.token not in self._rows:
            postings = search_index.rare_postings(self.con, word)
            self._rows[word.token] = None if postings is None else frozenset(cast("list[int]", postings.rows.tolist()))
        return self._rows[word.token]

    def _split(self, phrase: str) -> list[_Row]:
        """Pieces of longer texts that hold one half of a phrase: of one that two of them share, one has a half whole."""
        words = phrase.split()
        halves = (" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]))
        query = " OR ".join(phrase_query(half) for half in halves if any(c.isalnum() for c in half))
        return self._matching(query, _ONE_OF_SEVERAL) if len(words) > 1 and query else []

    def _matching(self, query: str, where: str) -> list[_Row]:
        matched = f"{_SHOWN_BY} WHERE r.id IN (SELECT rowid FROM index_text WHERE index_text MATCH ?) AND {where}"
        return cast("list[_Row]", self.con.execute(matched, (query,)).fetchall())

    def _shown_by(self, rows: Iterable[int], where: str) -> list[_Row]:
        listed = f"{_SHOWN_BY} WHERE r.id IN (SELECT value FROM json_each(?)) AND {where}"
        return cast("list[_Row]", self.con.execute(listed, (json.dumps(sorted(rows)),)).fetchall())
