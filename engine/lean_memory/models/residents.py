"""The models that live in the worker: brought in one after another, put to bed when nobody asks, brought back when somebody does."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from lean_memory.domain import ModelIdentity
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.models.desk import Desk
from lean_memory.models.manifest import Role
from lean_memory.models.ports import Embedder, EntityRelationModel, Reranker
from lean_memory.models.warming import PATIENCE
from lean_memory.models.worker_file import NOBODY, Roles, RoleState, State

log = logging.getLogger(__name__)

Model = Embedder | Reranker | EntityRelationModel

RETRY = 60.0
"""Seconds after which a model that could not be brought in may be tried again."""
_TICK = 5.0
"""Seconds between two looks for models that nobody needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loader:
    """A model that may live here: which one it is, and how it is brought in, which may raise `ModelError`."""

    identity: ModelIdentity
    load: Callable[[], Model]
    warm: Callable[[Model], None] = lambda _: None
    """Asks it for the first time, which may raise `ModelError` too."""


@dataclass(slots=True, kw_only=True)
class _Place:
    state: RoleState
    model: Model | None = None
    used_at: float = field(default_factory=monotonic)
    users: int = 0
    failed_at: float = 0.0


class Residents:
    """At most one model for each role, each once, whoever asks. Thread-safe.

    `lull` is after how many seconds without a question a model gives its memory back, for which `tidy` is called; `changed` is called with
    the states after each change, `breathe` now and then while models are used, `emptied` once the last model has gone. Nothing is brought in before `keep_house` runs, and when `resting`
    nothing before somebody asks for it. A model is ready once it has answered for the first time, at the `desk`.
    """

    def __init__(
        self,
        loaders: Mapping[Role, Loader],
        *,
        desk: Desk,
        lull: float,
        tidy: Callable[[], None],
        changed: Callable[[Roles], None],
        breathe: Callable[[], None] = lambda: None,
        emptied: Callable[[], None] = lambda: None,
        resting: bool = False,
    ) -> None:
        self._loaders, self._lull, self._tidy, self._changed, self._emptied = loaders, lull, tidy, changed, emptied
        self._desk, self._breathe = desk, breathe
        self._breathed_at = monotonic()
        self._news = threading.Condition()
        begun = State.IDLE if resting else State.WARMING
        self._places = {role: _Place(state=_begun(loader.identity, begun)) for role, loader in loaders.items()}
        self._wanted = set[Role]() if resting else set(loaders)
        self._ended = False

    @property
    def states(self) -> Roles:
        """How far each model is."""
        with self._news:
            return {**NOBODY, **{role: place.state for role, place in self._places.items()}}

    @contextlib.contextmanager
    def model(self, role: Role, model_id: str, revision: str) -> Generator[Model]:
        """The model of a role, which stays while the block runs. Raises `ModelUnavailableError` where it is not there, and sends for it."""
        with self._news:
            place = self._places.get(role)
            if place is None or (place.state.model_id, place.state.revision) != (model_id, revision):
                raise ModelUnavailableError(f"The model {model_id!r} is not one of those in use.")
            if place.model is None:
                self._send_for(role, place)
                raise ModelUnavailableError(_why_not(role, place.state))
            model, place.used_at = place.model, monotonic()
            place.users += 1
        try:
            yield model
        finally:
            del model
            with self._news:
                place.users, place.used_at = place.users - 1, monotonic()

    def send_for(self, role: Role) -> None:
        """Have a model brought in if it is not here."""
        with self._news:
            place = self._places.get(role)
            if place is not None and place.model is None:
                self._send_for(role, place)

    def keep_house(self) -> None:
        """Bring in what is wanted, the most useful first, and put to bed what is not; until `end`."""
        while True:
            with self._news:
                self._news.wait_for(lambda: self._wanted or self._ended, timeout=min(_TICK, self._lull / 4))
                if self._ended:
                    return
                role = next((role for role in Role if role in self._wanted), None)
            if role is None:
                self._put_to_bed()
                self._breathe_if_used()
            else:
                self._bring_in(role)

    def end(self) -> None:
        """Let `keep_house` return."""
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _send_for(self, role: Role, place: _Place) -> None:
        if place.state.state is State.FAILED and monotonic() - place.failed_at < RETRY:
            return
        self._wanted.add(role)
        place.state = replace(place.state, state=State.WARMING, message="")
        self._news.notify_all()

    def _bring_in(self, role: Role) -> None:
        place, loader = self._places[role], self._loaders[role]
        self._changed(self.states)
        started = monotonic()
        try:
            model, message = loader.load(), ""
            # At the desk, as computing in another thread would bring that one a crew of cores and a share of memory of its own.
            self._desk.do(partial(loader.warm, model), urgent=False, until=monotonic() + PATIENCE)
        except ModelError as error:
            model, message = None, str(error)
            log.warning("The %s could not be loaded. %s", role, error)
        with self._news:
            self._wanted.discard(role)
            place.model, place.used_at, place.failed_at = model, monotonic(), monotonic()
            place.state = replace(place.state, state=State.FAILED if model is None else State.READY, message=message)
        log.info("The %s took %.1f s to load.", role, monotonic() - started)
        self._changed(self.states)

    def _put_to_bed(self) -> None:
        with self._news:
            now = monotonic()
            tired = [place for place in self._places.values() if place.model and not place.users and now - place.used_at >= self._lull]
            for place in tired:
                place.model, place.state = None, replace(place.state, state=State.IDLE)
            is_empty = not self._wanted and not any(place.model for place in self._places.values())
        if tired:
            self._tidy()
            self._changed(self.states)
            if is_empty:
                self._emptied()

    def _breathe_if_used(self) -> None:
        with self._news:
            is_due = any(place.users or place.used_at >= self._breathed_at for place in self._places.values())
        if is_due:
            self._breathed_at = monotonic()
            self._breathe()


def _begun(identity: ModelIdentity, state: State) -> RoleState:
    return RoleState(state=state, model_id=identity.model_id, revision=identity.revision)


def _why_not(role: Role, state: RoleState) -> str:
    return state.message if state.state is State.FAILED else f"The {role} is being loaded."
