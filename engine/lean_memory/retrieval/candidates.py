"""The candidates of a search: what the arms found, what was said beside it, and how well each answers the question."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import Modality, Source
from lean_memory.retrieval.lexical import LexicalQuery, Scores, relevance
from lean_memory.retrieval.question import Question
from lean_memory.retrieval.recipes import Recipe
from lean_memory.store import lexical_text
from lean_memory.store.codes import Mask
from lean_memory.store.reading import ReadTransaction
from lean_memory.store.search_rows import SearchRow, passage_rows, search_rows

_SENTENCE = re.compile(r"[^.!?。！？…]*(?:[.!?。！？…]+|$)", re.DOTALL)
_ASKS = ("?", "？")
_LEAST = 0.5
"""The share of its relevance that a short text always keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A row with its scores. `relevance` is on a fixed scale; it may pass 1 where every word occurs again and again."""

    row: SearchRow
    lexical: float
    cosine: float | None
    relevance: float


def gather(tx: ReadTransaction, row_ids: Iterable[int], mask: Mask, near_ms: int) -> tuple[list[SearchRow], dict[int, SearchRow]]:
    """The rows, and by passage the visible rows of the passages said just before and after, which are candidates as well."""
    rows = {row.row_id: row for row in search_rows(tx.connection, row_ids)}
    spoken = {row.passage: row for row in rows.values()}
    beside = {passage + step for passage in spoken for step in (-1, 1)}
    found = passage_rows(tx.connection, beside | set(spoken))
    wanted = [row_id for row_id in found.values() if row_id < mask.shape[0] and mask[row_id]]
    for row in search_rows(tx.connection, [row_id for row_id in wanted if row_id not in rows]):
        if _is_near_any(row, spoken, near_ms):
            rows[row.row_id] = row
    passages = {rows[row_id].passage: rows[row_id] for row_id in wanted if row_id in rows}
    return list(rows.values()), passages


def score(
    tx: ReadTransaction,
    rows: Sequence[SearchRow],
    passages: Mapping[int, SearchRow],
    *,
    query: LexicalQuery,
    cosines: Mapping[int, float] | None,
    asked: Question,
    subjects: frozenset[int],
    recipe: Recipe,
) -> list[Candidate]:
    """The rows with their relevance. `cosines` by row id; `None` where nothing is embedded."""
    lexical = _lexical(tx, rows, passages, query, recipe)
    share = recipe.dense_share_unread + (recipe.dense_share - recipe.dense_share_unread) * asked.read_share
    found: list[Candidate] = []
    for row, words in zip(rows, lexical.tolist(), strict=True):
        cosine = None if cosines is None else cosines.get(row.row_id)
        blended = words if cosine is None else (1.0 - share) * words + share * max(cosine, 0.0)
        weighted = blended * _factor(row, recipe) + _slot(row, asked, subjects, recipe)
        found.append(Candidate(row=row, lexical=words, cosine=cosine, relevance=weighted))
    return found


def _lexical(
    tx: ReadTransaction, rows: Sequence[SearchRow], passages: Mapping[int, SearchRow], query: LexicalQuery, recipe: Recipe
) -> Scores:
    settings = recipe.lexical
    if not rows or not query.terms:
        return np.zeros(len(rows))
    read: dict[int, tuple[Scores, float]] = {}
    for row in [*rows, *passages.values()]:
        if row.row_id not in read:
            tokens = lexical_text.tokens(tx.connection, row.text)
            read[row.row_id] = (query.counts(tokens), float(len(tokens)))
    nothing = (np.zeros(len(query.terms)), 0.0)
    before = [_beside(row, passages.get(row.passage - 1), settings.near_ms) for row in rows]
    after = [_beside(row, passages.get(row.passage + 1), settings.near_ms) for row in rows]
    shares_before = [settings.before + (settings.answer if b is not None and _asks(b.text) else 0.0) for b in before]
    fields = [
        _field([read[row.row_id] for row in rows], [1.0] * len(rows)),
        _field([nothing if b is None else read[b.row_id] for b in before], shares_before),
        _field([nothing if a is None else read[a.row_id] for a in after], [settings.after] * len(rows)),
    ]
    return relevance(query, fields, settings)


def _field(read: Sequence[tuple[Scores, float]], shares: Sequence[float]) -> tuple[Scores, NDArray[np.float64], Scores]:
    return np.stack([counts for counts, _ in read]), np.array([length for _, length in read]), np.array(shares)


def _beside(row: SearchRow, other: SearchRow | None, near_ms: int) -> SearchRow | None:
    """The neighbour, where it is of the same conversation and a person said it."""
    if other is None or not _is_near(row, other, near_ms):
        return None
    return other if other.source != Source.ASSISTANT or other.episode == row.episode else None


def _is_near(row: SearchRow, other: SearchRow, near_ms: int) -> bool:
    return row.client == other.client and abs(row.said_at - other.said_at) <= near_ms


def _is_near_any(row: SearchRow, spoken: Mapping[int, SearchRow], near_ms: int) -> bool:
    known = (spoken.get(row.passage + step) for step in (-1, 0, 1))
    return any(other is not None and _is_near(row, other, near_ms) for other in known)


def _factor(row: SearchRow, recipe: Recipe) -> float:
    factor = recipe.assistant if row.source == Source.ASSISTANT else 1.0
    factor *= 1.0 - recipe.asking * _asking_share(row.text)
    words = max(1, len(row.text.split()))
    if recipe.short and words < recipe.short_tokens:
        factor *= max(_LEAST, 1.0 + recipe.short * math.log(words / recipe.short_tokens))
    return factor if row.modality is Modality.ASSERTED else factor * recipe.unasserted


def _slot(row: SearchRow, asked: Question, subjects: frozenset[int], recipe: Recipe) -> float:
    if row.predicate is None or row.predicate not in asked.predicates:
        return 0.0
    return recipe.slot if row.subject in subjects else recipe.slot / 4


def _asking_share(text: str) -> float:
    if not any(mark in text for mark in _ASKS):
        return 0.0
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(text)]
    return sum(len(s) for s in sentences if _asks(s)) / max(1, sum(len(s) for s in sentences))


def _asks(text: str) -> bool:
    return text.rstrip().endswith(_ASKS)
