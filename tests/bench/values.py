"""What a retrieval benchmark is made of: turns said at a time, questions with the turns that answer them, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lean_memory.domain import Instant, Source

DEPTH = 50
"""How many hits a retrieval question asks for; every measure at a smaller cut reads a prefix of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said: one `add`."""

    id: str
    text: str
    said_at: Instant
    session: str
    source: Source = Source.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the ids of the turns that answer it (`evidence`) and of those that once did (`stale`)."""

    id: str
    text: str
    evidence: frozenset[str]
    category: str
    asked_at: Instant
    stale: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A collection that questions are asked of: it becomes one namespace."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One hit: the turn it came from (empty where it came from none) and the text a client is given."""

    turn: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question with its hits, best first."""

    question: Question
    found: Sequence[Found]
    ranked: Sequence[str] = field(init=False)
    """The turns of the hits, best first; a turn may stand there more than once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranked", tuple(hit.turn for hit in self.found))


class Retriever(Protocol):
    """Something that remembers turns and answers questions: the engine, or a baseline."""

    @property
    def name(self) -> str: ...

    def load(self, corpus: Corpus) -> None:
        """Takes in every turn of the corpus, in order."""
        ...

    def search(self, corpus: Corpus, question: Question, k: int) -> Sequence[Found]:
        """At most `k` hits from that corpus, best first."""
        ...

    def drop(self, corpus: Corpus) -> None:
        """Lets go of the corpus."""
        ...
