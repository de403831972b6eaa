"""The heartbeat of a run while its proposers think, which may take longer than a lease lasts."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from lean_memory.errors import LeanMemoryError, StorageError
from lean_memory.store import runs
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.runs import Lease

BEATS_EVERY_SECONDS = 20.0


class Heart:
    """Beats in a thread of its own for as long as its block lasts; a lease that was lost is noticed by the next batch."""

    def __init__(self, store: NamespaceStore, lease: Lease) -> None:
        self._store, self._lease = store, lease
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="maintenance-heart", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(BEATS_EVERY_SECONDS):
            try:
                self._store.change(lambda tx: runs.beat(tx.connection, self._lease, self._store.clock()), anew=False)
            except StorageError:
                continue
            except LeanMemoryError:
                return
