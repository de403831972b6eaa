"""How well each candidate answers a question, on a fixed scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import STATES, Cardinality
from lean_memory.extraction import vocabulary
from lean_memory.retrieval.candidates import Candidates, Places
from lean_memory.retrieval.lexical import Field, LexicalQuery, Scores, relevance
from lean_memory.retrieval.recipes import Lexical, Recipe
from lean_memory.retrieval.scope import Scope
from lean_memory.store.search_rows import SearchRows, people_among

_LEAST = 0.5
"""The share of its score that a short text always keeps."""
_COSINE_OF_MATCH = 0.5
"""The cosine that a row without a vector is taken to have where all its words match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The scores of candidates, shape (rows,) each."""

    alone: Scores
    """By what the row says by itself."""
    in_context: Scores
    """With what was said before and after it."""
    slot: Scores
    """What is to be added to both for filling the slot that is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a question asks for, as far as rows can be held against it."""

    words: LexicalQuery
    predicates: frozenset[str]
    subjects: frozenset[int]
    """The entities it is about, by number."""
    of_self: bool
    """It asks of the person and nobody else."""
    dense_share: float


def score(scope: Scope, candidates: Candidates, aim: Aim, cosines: NDArray[np.float64] | None, recipe: Recipe) -> Scored:
    """Blend words and meaning, weigh by what kind of text a row is, and add what its slot is worth.

    `cosines` has NaN for rows without a vector, and is `None` where nothing is embedded.
    """
    rows = candidates.rows
    tokens = scope.view.tokens[rows.row_id].astype(np.float64)
    asks = scope.view.asks[rows.row_id].astype(np.float64) / 255.0
    factor = _factor(rows, tokens, asks, recipe)
    if aim.of_self:
        factor = np.where(_of_others(scope, rows, aim), recipe.of_others, factor)
    # What is past or planned may be in the slot, but does not fill it.
    slot = np.where(rows.asserted, [_slot(each, aim, recipe) for each in rows.slot], 0.0)
    own, context = _fields(candidates, aim.words, tokens, asks, recipe.lexical)
    alone = relevance(aim.words, [own], recipe.lexical)
    in_context = relevance(aim.words, [own, *context], recipe.lexical)
    return Scored(
        alone=_blended(alone, cosines, aim.dense_share) * factor,
        in_context=_blended(in_context, cosines, aim.dense_share) * factor,
        slot=slot,
    )


def _factor(rows: SearchRows, tokens: Scores, asks: Scores, recipe: Recipe) -> Scores:
    """What a row's kind leaves of its score."""
    factor = np.where(rows.by_assistant, recipe.assistant, 1.0) * np.where(rows.asserted, 1.0, recipe.unasserted)
    factor *= np.where(rows.takes_back, recipe.takes_back, 1.0)
    short = np.clip(1.0 + recipe.short * np.log(np.maximum(tokens, 1.0) / recipe.short_tokens), _LEAST, 1.0)
    return factor * np.where(rows.is_fact, 1.0, short) * (1.0 - recipe.asking * asks)


def _of_others(scope: Scope, rows: SearchRows, aim: Aim) -> NDArray[np.bool_]:
    """What tells of other people, or of anything else in the slots that are asked for, where nothing beside it answers for who asks."""
    people = people_among(scope.tx.connection, {slot[0] for slot in rows.slot if slot is not None})
    told, answered = set[tuple[int, str | None]](), set[tuple[int, str | None]]()
    for passage, slot, sentence in zip(rows.passage.tolist(), rows.slot, rows.sentence, strict=True):
        if slot is None or slot[1] == STATES:
            continue
        if slot[0] not in aim.subjects and (slot[0] in people or slot[1] in aim.predicates):
            # One sentence may give a fact about the person as well: whom they have for a sister, and where she lives.
            told |= {(passage, sentence), (passage, None)}
        elif slot[0] in aim.subjects and slot[1] in aim.predicates:
            answered |= {(passage, sentence), (passage, None)}
    told -= answered
    return np.array([place in told for place in zip(rows.passage.tolist(), rows.sentence, strict=True)], dtype=np.bool_)


def _fields(
    candidates: Candidates, words: LexicalQuery, tokens: Scores, asks: Scores, settings: Lexical
) -> tuple[Field, tuple[Field, Field]]:
    own = Field(counts=words.counts(candidates.rows.row_id), tokens=tokens, share=np.ones_like(tokens))
    before = settings.before + settings.answer * asks[candidates.before]
    after = np.full_like(tokens, settings.after)
    return own, (_moved(own, candidates.before, before), _moved(own, candidates.after, after))


def _moved(own: Field, places: Places, share: Scores) -> Field:
    return Field(counts=own.counts[places], tokens=own.tokens[places], share=np.where(places >= 0, share, 0.0))


def _blended(words: Scores, cosines: NDArray[np.float64] | None, share: float) -> Scores:
    if cosines is None:
        return words
    known = np.where(np.isnan(cosines), _COSINE_OF_MATCH * words, np.maximum(cosines, 0.0))
    return (1.0 - share) * words + share * known


def _slot(slot: tuple[int, str] | None, aim: Aim, recipe: Recipe) -> float:
    if slot is None or slot[1] not in aim.predicates:
        return 0.0
    if slot[0] in aim.subjects:
        # Where one has moved to tells where one lives, in other words: of the one value there is, the slot says more than the words do.
        return recipe.slot * (2 if aim.of_self and vocabulary.cardinality(slot[1]) is Cardinality.FUNCTIONAL else 1)
    return 0.0 if aim.of_self else recipe.slot / 4
