"""The engine as a system under test, through its public library API alone."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import lean_memory
from bench.values import Corpus, Found, Question
from lean_memory.domain import EpisodeId, SearchHit
from lean_memory.models.ports import Embedder

if TYPE_CHECKING:
    from lean_memory import Memory


@contextmanager
def scratch_memory(embedder: Embedder | None = None) -> Generator[Memory]:
    """A memory in a folder of its own that is gone afterwards; without an `embedder` it has the engine's own."""
    root = Path(mkdtemp(prefix="lean-memory-bench-"))
    try:
        with lean_memory.Memory(root=root, embedder=embedder) as memory:
            yield memory
    finally:
        shutil.rmtree(root, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One `add` per turn with its date; a hit counts for the turn whose episode it came from."""

    memory: Memory
    recipe: str | None = None
    latest_only: bool = True
    turns: dict[str, Mapping[EpisodeId, str]] = field(default_factory=dict[str, Mapping[EpisodeId, str]])

    @property
    def name(self) -> str:
        return f"lean-memory ({self.recipe})" if self.recipe else "lean-memory"

    def load(self, corpus: Corpus) -> None:
        said = {
            self.memory.add(corpus.name, turn.text, t_ref=turn.said_at, tz="UTC", source=turn.source).episode_id: turn.id
            for turn in corpus.turns
        }
        self.turns[corpus.name] = said

    def search(self, corpus: Corpus, question: Question, k: int) -> Sequence[Found]:
        hits = self.memory.search(corpus.name, question.text, k, is_latest_only=self.latest_only, now=question.asked_at, recipe=self.recipe)
        return [self._found(corpus, hit) for hit in hits]

    def drop(self, corpus: Corpus) -> None:
        self.memory.clear(corpus.name)
        del self.turns[corpus.name]

    def _found(self, corpus: Corpus, hit: SearchHit) -> Found:
        return Found(turn=self.turns[corpus.name].get(hit.fact.episode_id, ""), text=hit.fact.fact_text)
