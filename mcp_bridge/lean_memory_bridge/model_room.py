"""Follows the models that the worker holds, and does in the background what they make possible: vectors, and texts that wait for a model.

The service asks for nothing here and waits for nothing: whatever the worker does, adding and searching go on with the built-in embedder.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

from lean_memory.domain import NO_CROSS_ENCODER, NO_SECOND
from lean_memory.errors import LeanMemoryError
from lean_memory.models.in_use import RemoteModels
from lean_memory.models.manifest import Role
from lean_memory.models.worker_file import Roles, State
from lean_memory.service import MemoryService
from lean_memory_bridge.schemas import ModelsView, RoleView, VectorsView

log = logging.getLogger(__name__)

LOOK = 0.5
"""Seconds between two looks at the worker."""
_CHECK = 2.0
"""Seconds between two looks at whether other models were chosen."""
SWEEP = 60.0
"""Seconds after which every namespace is looked at again: other processes write too, and a model that failed may be there by now."""
_AT_A_TIME, _AT_MOST_SECONDS = 8, 2.0
"""Texts that are finished between two looks at whether the service ends, and after how long none is begun."""
_GOODBYE = 10.0
_LACKING = {Role.EMBEDDER: NO_SECOND, Role.RERANKER: NO_CROSS_ENCODER}
"""What an answer lacks without the model."""


@dataclass(slots=True, kw_only=True)
class _Making:
    texts: int
    missing: int


class ModelRoom:
    """Two threads beside the service. `changed` is called after what a window would show differently, `outdated` while other models are to be used."""

    def __init__(
        self, memory: MemoryService, models: RemoteModels, *, changed: Callable[[], None], outdated: Callable[[], None] = lambda: None
    ) -> None:
        self._memory, self._models, self._changed, self._outdated = memory, models, changed, outdated
        self._news = threading.Condition()
        self._touched: set[str] = set()
        self._sweeps = True
        self._checks = False
        self._ended = False
        self._making: dict[str, _Making] = {}
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True) for name, work in (("look", self._follow), ("finish", self._work))
        ]

    @property
    def lacking(self) -> tuple[str, ...]:
        """What answers lack at present."""
        return tuple(name for role, name in _LACKING.items() if self._models.holds(role) and not self._models.serves(role))

    def view(self) -> ModelsView:
        """The tier, its models, and what is being made."""
        making = sorted(self._making.items())
        return ModelsView(
            tier=self._models.tier,
            roles=tuple(
                RoleView(role=role.value, state=one.state.value, message=one.message, model_id=one.model_id, revision=one.revision)
                for role, one in self._models.roles.items()
            ),
            vectors=tuple(VectorsView(namespace=name, done=one.texts - one.missing, total=one.texts) for name, one in making),
            lacking=self.lacking,
            runnable=self._models.can_run,
            remedy=self._models.remedy,
            along=self._models.along,
        )

    def start(self) -> None:
        """Begin to look and to work."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End once the texts in hand are done; a model that takes longer is not waited for."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_GOODBYE)
        self._models.close()

    def touched(self, namespace: str) -> None:
        """Somebody wrote there: it may lack vectors, or have texts that wait."""
        with self._news:
            self._touched.add(namespace)
            self._news.notify_all()

    def chosen(self) -> None:
        """Somebody chose other models."""
        with self._news:
            self._checks = True
            self._news.notify_all()

    def _follow(self) -> None:
        """Look at the worker where there may be one, and now and then at what is chosen."""
        before, checked = self._models.roles, monotonic()
        while not self._is_over(LOOK if self._models.are_any else _CHECK):
            now = self._models.look()
            if now != before:
                self._sweeps_if_newly_ready(before, now)
                before = now
                self._changed()
            if self._checks or monotonic() - checked >= _CHECK:
                self._checks, checked = False, monotonic()
                if self._models.is_outdated:
                    self._outdated()

    def _sweeps_if_newly_ready(self, before: Roles, now: Roles) -> None:
        if any(now[role].state is State.READY is not before[role].state for role in Role):
            with self._news:
                self._sweeps = True
                self._news.notify_all()

    def _is_over(self, seconds: float) -> bool:
        with self._news:
            self._news.wait_for(lambda: self._ended or self._checks, timeout=seconds)
            return self._ended

    def _work(self) -> None:
        swept = monotonic()
        while True:
            with self._news:
                self._news.wait_for(lambda: self._ended or self._sweeps or self._touched, timeout=max(0.0, swept + SWEEP - monotonic()))
                if self._ended:
                    return
                sweeps, self._sweeps = self._sweeps or not self._touched, False
                due, self._touched = self._touched, set()
            if sweeps:
                swept = monotonic()
            self._do(partial(self._go_through, None if sweeps else due))

    def _go_through(self, chosen: set[str] | None) -> None:
        """Do what there is to do in these namespaces, or in all."""
        for namespace in self._memory.namespaces() if chosen is None else sorted(chosen):
            for work in (self._make_vectors, self._finish):
                if self._ended:
                    return
                self._do(partial(work, namespace))

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except LeanMemoryError as error:
            # The next sweep takes it up again; a namespace may also have been removed meanwhile.
            log.info("Work in the background was broken off (%s).", type(error).__name__)
        except Exception as error:  # noqa: BLE001 - a defect that one namespace meets must not end the work for all others
            # Its kind alone: what it says may be what somebody said.
            log.error("Work in the background failed by a defect of this program (%s); it is tried again later.", type(error).__name__)

    def _make_vectors(self, namespace: str) -> None:
        def note(_made: int, missing: int) -> None:
            making = self._making.get(namespace)
            if making is None:
                texts = max((space.texts for space in self._memory.status(namespace)[0].vectors), default=missing)
                self._making[namespace] = _Making(texts=texts, missing=missing)
            else:
                making.missing = missing
            self._changed()

        try:
            self._memory.catch_up_vectors(namespace, progress=note, cancelled=lambda: self._ended)
        finally:
            if self._making.pop(namespace, None) is not None:
                self._changed()

    def _finish(self, namespace: str) -> None:
        more = True
        while more and not self._ended:
            done = self._memory.finish_queued(namespace, limit=_AT_A_TIME, seconds=_AT_MOST_SECONDS)
            more = bool(done.episodes and done.waiting and not done.missing)
            if done.episodes:
                self._changed()
