"""The simple systems that every figure is read against, on the same questions.

Full text alone; full text with the neighbouring turns in a second column; and that plus dense vectors of (previous + current
turn), half and half of normalised scores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from bench.values import Corpus, Found, Question, Turn
from lean_memory.models.ports import Embedder, Vectors

NEIGHBOUR_WEIGHT = 0.4

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a an the is are was were be been am do does did has have had of in on at to for from by with and or what which who whom whose when
        where why how that this these those it its i my me you your he she they his her their them him we our us as not can could would
        should will if about there so than then into after before
        """,
    )
)
"""Left out of a query: with them the baselines find markedly less, and a baseline should be worth beating."""

Scores = NDArray[np.float64]


class FullText:
    """BM25 of SQLite's FTS5 (Porter stems) over the turns, any content word of the question; ties go to the newer turn.

    With a `neighbour_weight` the turns before and after one, in the same session, are a second column of that weight.
    """

    def __init__(self, neighbour_weight: float = 0.0) -> None:
        self._weight = neighbour_weight
        self._indexes: dict[str, apsw.Connection] = {}

    @property
    def name(self) -> str:
        return "FTS5 + neighbours" if self._weight else "FTS5"

    def load(self, corpus: Corpus) -> None:
        index = apsw.Connection(":memory:")
        index.execute("CREATE VIRTUAL TABLE turn USING fts5(text, neighbours, tokenize='porter unicode61')")
        index.executemany(
            "INSERT INTO turn(rowid, text, neighbours) VALUES (?, ?, ?)",
            ((row, turn.text, _neighbours(corpus.turns, row) if self._weight else "") for row, turn in enumerate(corpus.turns)),
        )
        self._indexes[corpus.name] = index

    def drop(self, corpus: Corpus) -> None:
        self._indexes.pop(corpus.name).close()

    def search(self, corpus: Corpus, question: Question, k: int) -> Sequence[Found]:
        scores = self.scores(corpus, question)
        return _best(corpus, scores, k, floor=0.0)

    def scores(self, corpus: Corpus, question: Question) -> Scores:
        """One BM25 score per turn, higher is better, 0 where no word matches."""
        scores = np.zeros(len(corpus.turns))
        query = match_any(question.text)
        if query:
            sql = "SELECT rowid, -bm25(turn, 1.0, ?) FROM turn WHERE turn MATCH ?"
            for row, score in self._indexes[corpus.name].execute(sql, (self._weight, query)):
                scores[row] = score
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """Half normalised BM25 (with neighbours) and half normalised cosine over (previous + current turn)."""

    lexical: FullText
    embedder: Embedder
    vectors: dict[str, Vectors]
    dense_share: float = 0.5

    @property
    def name(self) -> str:
        return "FTS5 + neighbours + dense"

    def load(self, corpus: Corpus) -> None:
        self.lexical.load(corpus)
        self.vectors[corpus.name] = self.embedder.embed([_with_previous(corpus.turns, row) for row in range(len(corpus.turns))])

    def drop(self, corpus: Corpus) -> None:
        self.lexical.drop(corpus)
        del self.vectors[corpus.name]

    def search(self, corpus: Corpus, question: Question, k: int) -> Sequence[Found]:
        dense = self.vectors[corpus.name] @ self.embedder.embed_query(question.text)
        lexical = self.lexical.scores(corpus, question)
        return _best(corpus, self.dense_share * _normalised(dense) + (1 - self.dense_share) * _normalised(lexical), k)


def match_any(question: str) -> str:
    """An FTS5 expression for any content word of a question (any word at all where it has no other); empty where it has none."""
    words = re.findall(r"\w+", question)
    content = [word for word in words if word.lower() not in STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in content)


def baselines(embedder: Embedder) -> list[FullText | Summed]:
    """Every baseline, weakest first."""
    summed = Summed(lexical=FullText(NEIGHBOUR_WEIGHT), embedder=embedder, vectors={})
    return [FullText(), FullText(NEIGHBOUR_WEIGHT), summed]


def _best(corpus: Corpus, scores: Scores, k: int, floor: float = -np.inf) -> list[Found]:
    newest_first: list[int] = np.lexsort((-np.arange(len(scores)), -scores))[:k].tolist()
    return [Found(turn=corpus.turns[row].id, text=corpus.turns[row].text) for row in newest_first if scores[row] > floor]


def _normalised(raw: NDArray[np.floating]) -> Scores:
    scores = raw.astype(np.float64)
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))


def _neighbours(turns: Sequence[Turn], row: int) -> str:
    beside = (turns[other] for other in (row - 1, row + 1) if 0 <= other < len(turns))
    return "\n".join(turn.text for turn in beside if turn.session == turns[row].session)


def _with_previous(turns: Sequence[Turn], row: int) -> str:
    earlier = turns[row - 1] if row else None
    joined = earlier is not None and earlier.session == turns[row].session
    return f"{earlier.text}\n{turns[row].text}" if earlier is not None and joined else turns[row].text
