"""How a search weighs what it finds, as data. Figures were chosen on LoCoMo and LongMemEval development questions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from lean_memory.errors import InvalidInputError, quoted


class Fusion(StrEnum):
    """How the two arms become one ranking."""

    WEIGHTED = "weighted"
    """By relevance: the weighted sum of the lexical and the dense score of every candidate."""
    RANKS = "ranks"
    """By reciprocal rank fusion (Cormack et al., 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexical:
    """BM25 over a text and, less, over what was said before and after it (BM25F, Robertson et al., 2004)."""

    k1: float = 0.8
    b: float = 0.25
    before: float = 0.4
    """Weight of the words said just before."""
    after: float = 0.3
    """Weight of the words said just after."""
    answer: float = 0.6
    """Further weight of the words before, where they are a question: an answer leaves out what was asked."""
    near_ms: int = 3_600_000
    """Passages further apart in time are not taken for one conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One way to search; all shares and factors lie in 0..1."""

    name: str
    fusion: Fusion = Fusion.WEIGHTED
    depth: int = 60
    """Candidates that each arm hands on; more where more hits are asked for."""
    leading: int = 20
    """Of those, how many bring in what was said just before and after them."""
    coarse: int = 400
    """Rows that the coarse stage hands to the exact distances."""
    postings: int = 15_000
    """Index entries that a search reads for words that are not rare; the commoner of them are looked up only beside the others."""
    lexical: Lexical = field(default_factory=Lexical)
    dense_share: float = 0.4
    """Share of the cosine in relevance; the rest is lexical."""
    dense_share_unread: float = 0.15
    """The same for a question in a script that the model was not trained to read."""
    assistant: float = 0.6
    """Factor for what an assistant said: it is no evidence of the person's life."""
    asking: float = 0.35
    """Taken off for a text that only asks, in proportion for one that asks in part."""
    short: float = 0.15
    """Taken off a passage for each e-fold that it is shorter than `short_tokens`: greetings and thanks answer nothing."""
    short_tokens: int = 20
    unasserted: float = 0.85
    """Factor for what is past, planned or reported."""
    takes_back: float = 0.7
    """Factor for a passage that says of something only that it is over."""
    standing: int | None = 5
    """How many hits that stand come before one whose answer a newer one replaces; `None`: replaced answers are not told apart."""
    slot: float = 0.15
    """Added where a fact's predicate is what is asked for, of the subject that is named."""
    of_others: float = 0.25
    """Factor for what tells of other people, where the person asks of themselves: where my sister lives is not where I do."""
    passage_share: float = 0.75
    """How much of the score of a fact that is one hit with its passage is the passage's: what stands around it tells what it is about."""
    same_episode: float = 0.7
    """Factor for each hit after the first from one episode."""
    slot_recency: float = 0.02
    """Within a slot, what is newest is put this far before what is oldest."""
    rerank: int = 0
    """How many of the best hits a cross-encoder reads together with the question; 0: none."""
    rerank_seconds: float = 0.5
    """In how many seconds it has to be done with all of them; else the order stays as it was."""
    rerank_share: float = 0.5
    """Its share in the relevance of what it read; what it did not read has the lowest of its marks."""
    rank_constant: int = 60
    relevance: float = 1.0
    """Weights of the final score (they sum to 1)."""
    recency: float = 0.0
    importance: float = 0.0
    half_life_days: float = 90.0
    """In which recency, counted from `valid_at`, halves."""


CLASSIC = Recipe(
    name="classic",
    fusion=Fusion.RANKS,
    lexical=Lexical(k1=1.2, b=0.75, before=0.0, after=0.0, answer=0.0),
    dense_share=0.5,
    dense_share_unread=0.5,
    assistant=1.0,
    takes_back=1.0,
    standing=None,
    asking=0.0,
    short=0.0,
    slot=0.0,
    of_others=1.0,
    passage_share=0.0,
    same_episode=1.0,
    slot_recency=0.0,
    relevance=0.6,
    recency=0.2,
    importance=0.2,
)
"""Two arms of equal weight by rank, then 0.6 relevance + 0.2 recency + 0.2 importance."""

BUILTIN = Recipe(name="builtin")
"""The default with the built-in embedder."""

RERANKED = replace(BUILTIN, name="reranked", rerank=32)
"""The default with the built-in vectors and a cross-encoder: also while the second embedder's vectors are being made."""

STANDARD = replace(RERANKED, name="standard", dense_share=0.5, dense_share_unread=0.5)
"""The default in the space of the second embedder. It was chosen by reasoning, as its models could not be had here: a model of a size
of 0.6B retrieves half as well again as the built-in one and reads a hundred languages, so that its cosine counts as much as the words
in any of them; a cross-encoder of 32M reads 32 pairs of a sentence in half a second on two cores, and knows nothing of what was said
around them, so that half of the mark stays with what does."""

RECIPES = {recipe.name: recipe for recipe in (BUILTIN, CLASSIC, RERANKED, STANDARD)}


def default(*, in_second: bool, reranks: bool) -> Recipe:
    """The recipe of what is there: whether the search is in the space of the second embedder, and whether there is a cross-encoder."""
    if in_second:
        return STANDARD if reranks else replace(STANDARD, rerank=0)
    return RERANKED if reranks else BUILTIN


def named(name: str | None) -> Recipe | None:
    """The recipe of that name; `None` for `None`, the default of what is there. Raises `InvalidInputError` for an unknown name."""
    if name is None:
        return None
    try:
        return RECIPES[name]
    except KeyError:
        raise InvalidInputError(f"There is no recipe {quoted(name)!r}; use one of {', '.join(RECIPES)}.") from None
