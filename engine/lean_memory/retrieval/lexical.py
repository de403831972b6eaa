"""The lexical arm: which rows share words with a question, and how well they answer it by their words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lean_memory.retrieval.question import stop_words
from lean_memory.retrieval.recipes import Lexical
from lean_memory.retrieval.scope import Scope
from lean_memory.store import lexical_text, search_index
from lean_memory.store.lexical_text import QuestionWord
from lean_memory.store.search_index import Postings

Scores = NDArray[np.float64]

_MOST_WORDS = 64
"""Content words of a question that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A content word of a question, as the index knows it."""

    word: QuestionWord
    weight: float
    """Its inverse document frequency."""
    postings: Postings
    common: bool
    """Whether it is so common that it was looked up only where a rarer word stands as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """The content words of a question; `mean_tokens` is the mean length of a row."""

    terms: tuple[Term, ...]
    mean_tokens: float

    def counts(self, row_ids: NDArray[np.int64]) -> Scores:
        """How often each term stands in each row, shape (rows, terms)."""
        found = np.zeros((row_ids.shape[0], len(self.terms)))
        for i, term in enumerate(self.terms):
            rows = term.postings.rows
            if rows.shape[0]:
                places = np.minimum(np.searchsorted(rows, row_ids), rows.shape[0] - 1)
                found[:, i] = np.where(rows[places] == row_ids, term.postings.counts[places], 0)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One part of what counts as a text's words, for many texts."""

    counts: Scores
    """How often each term stands in each text, shape (texts, terms)."""
    tokens: Scores
    """Lengths, shape (texts,)."""
    share: Scores
    """How much the part counts, shape (texts,)."""


def read_query(scope: Scope, text: str, budget: int) -> LexicalQuery:
    """Look up the words of a question: the rare ones, and of the others, rarest first, as many as have `budget` postings.

    The rest is looked up beside those: a row with nothing but common words is not worth finding by them. One word is always
    looked up, however many postings it has. Stop words count only where there is no other word.
    """
    con = scope.tx.connection
    words = _content(lexical_text.question_words(con, text), frozenset(lexical_text.tokens(con, stop_words())))
    if scope.known_at is not None:
        return _query_of_past(scope, words)
    rows, mean = scope.view.statistics
    found = [(word, search_index.rare_postings(con, word)) for word in words]
    terms = [_term(word, postings, postings.rows.shape[0], rows) for word, postings in found if postings is not None]
    read = [term.word for term in terms if term.postings.rows.shape[0]]
    often = sorted(
        ((search_index.estimated_frequency(con, word, rows), word) for word, postings in found if postings is None),
        key=lambda pair: pair[0],
    )
    for frequency, word in often:
        common = bool(read) and frequency > budget
        postings = search_index.postings(con, word, read if common else ())
        terms.append(_term(word, postings, frequency, rows, common=common))
        if not common:
            budget -= frequency
            read.append(word)
    return LexicalQuery(terms=tuple(terms), mean_tokens=mean)


def _query_of_past(scope: Scope, words: Sequence[QuestionWord]) -> LexicalQuery:
    """The words as the visible rows alone know them, each looked up whole and counted exactly in the candidates' texts."""
    lengths = scope.view.tokens[: scope.mask.shape[0]][scope.mask]
    rows, mean = lengths.shape[0], max(1.0, float(lengths.mean())) if lengths.shape[0] else 1.0
    terms: list[Term] = []
    for word in words:
        every = search_index.postings(scope.tx.connection, word)
        seen = scope.mask[every.rows]
        known = Postings(rows=every.rows[seen], counts=every.counts[seen])
        terms.append(_term(word, known, known.rows.shape[0], rows, common=True))
    return LexicalQuery(terms=tuple(terms), mean_tokens=mean)


def _term(word: QuestionWord, postings: Postings, frequency: int, rows: int, *, common: bool = False) -> Term:
    return Term(word=word, weight=_idf(frequency, rows), postings=postings, common=common)


def completed(scope: Scope, query: LexicalQuery, row_ids: Iterable[int]) -> LexicalQuery:
    """The query with its common words looked up in just those rows, as exactly as the rare ones."""
    if not any(term.common for term in query.terms):
        return query
    texts = sorted(scope.tx.texts(row_ids).items())
    read = [lexical_text.tokens(scope.tx.connection, text) for _, text in texts]
    rows = np.array([row for row, _ in texts], dtype=np.int64)
    return replace(query, terms=tuple(_counted(term, rows, read) if term.common else term for term in query.terms))


def _counted(term: Term, rows: NDArray[np.int64], read: Sequence[Sequence[str]]) -> Term:
    token = term.word.token
    if term.word.prefix:
        counts = [sum(other.startswith(token) for other in tokens) for tokens in read]
    else:
        counts = [tokens.count(token) for tokens in read]
    return replace(term, postings=Postings(rows=rows, counts=np.array(counts, dtype=np.int64)))


def best_rows(scope: Scope, query: LexicalQuery, settings: Lexical, depth: int) -> list[int]:
    """The up to `depth` visible rows that score best by their own words, best first; equals go to the newer row."""
    scores = np.zeros(scope.mask.shape[0])
    for term in query.terms:
        rows, counts = term.postings.rows, term.postings.counts
        scores[rows] += term.weight * counts / (counts + settings.k1 * _length_norm(scope.view.tokens[rows], query, settings))
    found = np.flatnonzero((scores > 0.0) & scope.mask)
    if found.shape[0] > depth:
        # The row's id decides between equals before the cut, too.
        found = found[np.argpartition(scores[found] + found * 1e-13, -depth)[-depth:]]
    return [int(row) for row in found[np.lexsort((-found, -scores[found]))]]


def relevance(query: LexicalQuery, fields: Sequence[Field], settings: Lexical) -> Scores:
    """BM25F of texts on a fixed scale: 1 where a text of mean length has every word of the question. Shape (texts,)."""
    if not query.terms:
        return np.zeros_like(fields[0].tokens)
    weights = np.array([term.weight for term in query.terms])
    frequency = np.zeros_like(fields[0].counts)
    for field in fields:
        frequency += (field.share / _length_norm(field.tokens, query, settings))[:, None] * field.counts
    saturated = frequency * (settings.k1 + 1.0) / (frequency + settings.k1)
    return np.asarray(saturated @ weights / weights.sum(), dtype=np.float64)


def _length_norm(tokens: NDArray[np.uint16] | Scores, query: LexicalQuery, settings: Lexical) -> Scores:
    return 1.0 - settings.b + settings.b * tokens.astype(np.float64) / query.mean_tokens


def _content(words: Sequence[QuestionWord], stop: frozenset[str]) -> Sequence[QuestionWord]:
    return ([word for word in words if word.token not in stop] or words)[:_MOST_WORDS]


def _idf(frequency: int, rows: int) -> float:
    """Always positive: ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene. A word that is nowhere weighs as one that is in one row."""
    most = max(rows, frequency, 1)
    known = max(frequency, 1)
    return math.log(1.0 + (most - known + 0.5) / (known + 0.5))
