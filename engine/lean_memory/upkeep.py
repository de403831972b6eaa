"""What an open namespace does beside answering: it counts what was served, and goes over what nobody has gone over for long."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from time import monotonic

from lean_memory.domain import FactId, Instant, RecordKind, SearchHit
from lean_memory.errors import LeanMemoryError, NotFoundError
from lean_memory.forking import Mutex
from lean_memory.maintenance.caretaker import Caretaker
from lean_memory.maintenance.run import Request
from lean_memory.proposals import MaintenanceReport
from lean_memory.store.tallies import add_tallies

log = logging.getLogger(__name__)

_KEPT = 256
_KEPT_SECONDS = 60.0
"""Tallies are written down after an answer, and no more often than this."""
_STOPS_WITHIN_SECONDS = 5.0


class Upkeep:
    """The upkeep of one open namespace. Thread-safe."""

    def __init__(self, caretaker: Caretaker) -> None:
        self.caretaker = caretaker
        self._store = caretaker.store
        self._served: dict[FactId, tuple[int, Instant]] = {}
        self._since = monotonic()
        self._lock = Mutex()
        self._ended = threading.Event()
        self._flusher: threading.Thread | None = None
        self._keeper: threading.Thread | None = None

    def note(self, hits: Iterable[SearchHit]) -> None:
        """Count facts that are given in answer to a search; they are written down afterwards, in a thread of their own."""
        now = self._store.clock()
        with self._lock.held:
            for hit in hits:
                if hit.fact.record_kind is not RecordKind.PASSAGE:
                    times, _ = self._served.get(hit.fact.id, (0, now))
                    self._served[hit.fact.id] = (times + 1, now)
            is_time = len(self._served) >= _KEPT or (bool(self._served) and monotonic() - self._since >= _KEPT_SECONDS)
            if is_time and (self._flusher is None or not self._flusher.is_alive()):
                self._flusher = threading.Thread(target=self.flush, name="tallies", daemon=True)
                self._flusher.start()

    def flush(self) -> None:
        """Write down what was counted; where that cannot be done now, the next time does it."""
        with self._lock.held:
            served, self._served, self._since = self._served, {}, monotonic()
        if not served:
            return
        try:
            if self._store.writable:
                self._store.change(lambda tx: add_tallies(tx.connection, served), anew=False)
        except NotFoundError:
            log.debug("The namespace was cleared, and what was counted of it went too.")
        except LeanMemoryError as error:
            log.info("What was served is counted later (%s).", type(error).__name__)
            with self._lock.held:
                for fact, (times, at) in served.items():
                    more, last = self._served.get(fact, (0, at))
                    self._served[fact] = (times + more, max(at, last))

    def run(self, request: Request) -> MaintenanceReport:
        """A run, which knows what was served until now; a dry one writes not even that."""
        if request.apply:
            self.flush()
        return self.caretaker.run(request)

    def go_over(self) -> None:
        """Where nobody has gone over the namespace for long, take care of the safe band, in a thread of its own."""
        self._keeper = threading.Thread(target=self._keep, name="maintenance", daemon=True)
        self._keeper.start()

    def end(self) -> None:
        """Stop what is under way, and write down what was counted."""
        self._ended.set()
        if self._keeper is not None and self._keeper is not threading.current_thread():
            self._keeper.join(_STOPS_WITHIN_SECONDS)
        self.flush()

    def _keep(self) -> None:
        request = Request(apply=True, auto_only=True, trigger="auto", cancelled=self._ended.is_set)
        try:
            if self.caretaker.is_auto_due():
                self.run(request)
        except LeanMemoryError as error:
            log.info("The memory is gone over another time (%s).", type(error).__name__)
