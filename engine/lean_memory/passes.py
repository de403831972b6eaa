"""The passes of extraction that need a model: GLiNER2, the router, the typing model. They come after the rules' facts are stored.

None of them is required, and none is loaded before something waits for it. A model that cannot be had is told of once; what waits for it
goes on waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from lean_memory.domain import Candidate, Episode, Modality, Source, Trust, name_key, trust_of, value_key
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.extraction import gliner, typer
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.gliner import DISPUTED, UNRESOLVED
from lean_memory.extraction.instructions import steers
from lean_memory.extraction.router import Tally, route
from lean_memory.extraction.told import Told, told
from lean_memory.extraction.typer import Surroundings, Verdict
from lean_memory.forking import Mutex
from lean_memory.models.ports import EntityRelationModel, TypingModel

log = logging.getLogger(__name__)

MOST_TYPED = 20
"""Sentences of one episode that the typing model is asked about; the first ones that go on."""

_M = TypeVar("_M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the models found in an episode beyond the rules, and what went on to the typing model."""

    candidates: tuple[Candidate, ...]
    tally: Tally


class Passes:
    """The models of one process, each loaded when first needed. Thread-safe."""

    def __init__(
        self,
        *,
        entities: Callable[[], EntityRelationModel] | None = None,
        typing: Callable[[], TypingModel] | None = None,
    ) -> None:
        self._entities = None if entities is None else _Once(entities)
        self._typing = None if typing is None else _Once(typing)
        self._lock = Mutex()
        self._missed = ""
        self._tally = Tally()

    @property
    def are_on(self) -> bool:
        """Whether any model is set."""
        return self._entities is not None or self._typing is not None

    @property
    def tally(self) -> Tally:
        """What the router has counted since this process began."""
        return self._tally

    def want(self, episode: Episode, candidates: Sequence[Candidate], contested: Sequence[Candidate] = ()) -> bool:
        """Whether a model has something to do about an episode of which the rules made `candidates`."""
        if not self.are_on or episode.source is Source.ASSISTANT or steers(episode.text):
            return False
        said = told(episode.text, candidates)
        return bool(said and self._entities) or bool(self._typing and route(said, contested=contested)[0])

    def read(self, episode: Episode, candidates: Sequence[Candidate], around: Surroundings, contested: Sequence[Candidate] = ()) -> Found:
        """What the models find in an episode beyond what the rules made of it.

        Raises `ModelError` where a model is missing or gives nothing usable: the episode then waits on, and nothing of it is stored twice.
        """
        anchor = Anchor(t_ref=episode.t_ref, tz=episode.tz)
        said = told(episode.text, candidates)
        fresh: list[Candidate] = []
        if self._entities is not None:
            said, fresh = _marked(self._entities.get(), said, anchor)
        escalations, tally = route(said, contested=contested)
        typed: list[Candidate] = []
        if self._typing is not None:
            for each in escalations[:MOST_TYPED]:
                earlier = _before(each.said, said, around)
                typed += typer.typed(self._typing.get(), each.said, replace(around, earlier=earlier), anchor)
        clear = [candidate for candidate in fresh if not {UNRESOLVED, DISPUTED} & set(candidate.reasons)]
        return Found(candidates=_beyond(candidates, [*clear, *typed], episode.source), tally=tally)

    @property
    def can_adjudicate(self) -> bool:
        """Whether there is a model to ask how two statements stand to each other."""
        return self._typing is not None

    def typing_model(self) -> TypingModel | None:
        """The typing model, where one is set. Raises `ModelError` where it cannot be had."""
        return None if self._typing is None else self._typing.get()

    def adjudicate(self, new: str, old: str) -> Verdict:
        """How a statement stands to an older one that it may contradict. Raises `ModelError`, also where there is no model to ask."""
        if self._typing is None:
            raise ModelUnavailableError("No typing model is set.")
        return typer.adjudicate(self._typing.get(), new, old)

    def note_missing(self, error: ModelError) -> None:
        """Tell of a model that cannot be used, once until it could be used again."""
        with self._lock.held:
            first, self._missed = not self._missed, str(error)
        if first:
            log.warning(
                "What was said is stored with the facts that the rules found; more is made of it when the model is there. %s", error
            )

    def note_used(self, tally: Tally) -> None:
        """The models have answered what they were asked about an episode."""
        with self._lock.held:
            self._missed = ""
            self._tally += tally


class _Once(Generic[_M]):
    """A model that is loaded when it is first asked for, by one thread; a failure is not kept."""

    def __init__(self, load: Callable[[], _M]) -> None:
        self._load, self._lock = load, Mutex()
        self._model: _M | None = None

    def get(self) -> _M:
        with self._lock.held:
            if self._model is None:
                try:
                    self._model = self._load()
                except ImportError as error:
                    raise ModelUnavailableError(f"{error.name or 'A library'} is not installed, so its model cannot be used.") from error
            return self._model


def _marked(model: EntityRelationModel, said: Sequence[Told], anchor: Anchor) -> tuple[list[Told], list[Candidate]]:
    """The sentences with what the model found in them, and that alone."""
    marks = gliner.marked(model, said)
    whole: list[Told] = []
    fresh: list[Candidate] = []
    for each, markup in zip(said, marks, strict=True):
        stood, new = gliner.merged(each.candidates, gliner.found(each, markup, anchor))
        whole.append(replace(each, candidates=(*stood, *new)))
        fresh += new
    return whole, fresh


def _before(one: Told, said: Sequence[Told], around: Surroundings) -> Sequence[str]:
    """The sentences before one, of its own episode and those before it."""
    own = [each.text for each in said if each.sentence.span.start < one.sentence.span.start]
    return [*around.earlier, *own]


def _beyond(rules: Iterable[Candidate], models: Iterable[Candidate], source: Source) -> tuple[Candidate, ...]:
    """What the models found that the rules have not, each once; it has little trust until something speaks for it."""
    known = {_key(candidate) for candidate in rules}
    kept: dict[tuple[str, ...], Candidate] = {}
    for candidate in models:
        if candidate.modality is not Modality.HYPOTHETICAL and _key(candidate) not in known:
            kept.setdefault(_key(candidate), replace(candidate, trust=_least(trust_of(source)), is_inference=True))
    return tuple(kept.values())


def _least(trust: Trust) -> Trust:
    return trust if trust is Trust.IMPORTED else Trust.INFERRED


def _key(candidate: Candidate) -> tuple[str, ...]:
    return name_key(candidate.subject), candidate.predicate, value_key(candidate.object)
