"""The lexical arm: which rows share words with a question, and how well a text answers it by its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.retrieval.question import stop_words
from lean_memory.retrieval.recipes import Lexical
from lean_memory.store import lexical_text, search_index
from lean_memory.store.codes import IndexView, Mask
from lean_memory.store.reading import ReadTransaction

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A content word of a question, as the index knows it."""

    token: str
    prefix: bool
    """Whether it stands for every token that begins with it."""
    weight: float
    """Its inverse document frequency."""
    rows: NDArray[np.int64]
    """The rows it stands in; empty also where it is too common to be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """The content words of a question; `mean_tokens` is the mean length of a row."""

    terms: tuple[Term, ...]
    mean_tokens: float

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return sum(term.weight for term in self.terms) or 1.0

    def counts(self, tokens: Sequence[str]) -> Scores:
        """How often each term stands in a text, shape (terms,)."""
        found = np.zeros(len(self.terms))
        places = {term.token: i for i, term in enumerate(self.terms) if not term.prefix}
        prefixes = [(term.token, i) for i, term in enumerate(self.terms) if term.prefix]
        for token in tokens:
            place = places.get(token)
            if place is not None:
                found[place] += 1
            for start, i in prefixes:
                found[i] += token.startswith(start)
        return found


def read_query(tx: ReadTransaction, view: IndexView, text: str, budget: int) -> LexicalQuery:
    """Look up the words of a question, rarest first, while their postings together stay within `budget`.

    The rarest word is always looked up; stop words only where there is no other word.
    """
    rows, mean = view.statistics
    con = tx.connection
    stop = frozenset(lexical_text.tokens(con, stop_words()))
    tokens = _content(lexical_text.question_tokens(con, text), stop)
    terms: list[Term] = []
    for frequency, token in sorted((_frequency(tx, token), token) for token in tokens):
        wanted = frequency > 0 and (frequency <= budget or not terms)
        budget -= frequency if wanted else 0
        prefix = lexical_text.is_prefix(token)
        found = search_index.postings(con, token, prefix=prefix) if wanted else np.zeros(0, dtype=np.int64)
        terms.append(Term(token=token, prefix=prefix, weight=_idf(frequency, rows), rows=found))
    return LexicalQuery(terms=tuple(terms), mean_tokens=mean)


def best_rows(query: LexicalQuery, view: IndexView, mask: Mask, settings: Lexical, depth: int) -> list[int]:
    """The up to `depth` visible rows that score best by their own words, best first; equals go to the newer row.

    A word counts once here, however often it stands in a row: how often is known only once the text is read.
    """
    scores = np.zeros(mask.shape[0])
    for term in query.terms:
        rows = term.rows[term.rows < mask.shape[0]]
        length = view.tokens[rows] / query.mean_tokens
        scores[rows] += term.weight / (1.0 + settings.k1 * (1.0 - settings.b + settings.b * length))
    found = np.flatnonzero((scores > 0.0) & mask)
    if found.shape[0] > depth:
        # The row's id decides between equals before the cut, too.
        keys = scores[found] + found * 1e-13
        found = found[np.argpartition(keys, -depth)[-depth:]]
    return [int(row) for row in found[np.lexsort((-found, -scores[found]))]]


def relevance(query: LexicalQuery, fields: Sequence[tuple[Scores, NDArray[np.float64], Scores]], settings: Lexical) -> Scores:
    """BM25F of texts on a fixed scale: 1 where a text of mean length has every word of the question once. Shape (texts,).

    Each field is (counts, shape (texts, terms); lengths in tokens, shape (texts,); weights, shape (texts,)).
    """
    weights = np.array([term.weight for term in query.terms])
    frequency = np.zeros((fields[0][0].shape[0], weights.shape[0]))
    for counts, lengths, share in fields:
        normal = 1.0 - settings.b + settings.b * lengths / query.mean_tokens
        frequency += share[:, None] * counts / normal[:, None]
    saturated = frequency * (settings.k1 + 1.0) / (frequency + settings.k1)
    return saturated @ weights / query.total


def _content(tokens: Sequence[str], stop: frozenset[str]) -> list[str]:
    distinct = list(dict.fromkeys(tokens))
    return [token for token in distinct if token not in stop] or distinct


def _frequency(tx: ReadTransaction, token: str) -> int:
    if lexical_text.is_prefix(token):
        return search_index.postings(tx.connection, token, prefix=True).shape[0]
    return search_index.document_frequency(tx.connection, token)


def _idf(frequency: int, rows: int) -> float:
    """Always positive: ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene. A word that is nowhere weighs as one that is in one row."""
    known = min(max(frequency, 1), max(rows, 1))
    return math.log(1.0 + (max(rows, 1) - known + 0.5) / (known + 0.5))
