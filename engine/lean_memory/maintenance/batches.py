"""Short write transactions, bounded by time and not by number, between which live clients have their turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction

_WRITES_SECONDS = 0.02
"""How long a transaction takes on new work; what is begun is finished, and written down to the disk."""
_RESTS_SECONDS = 0.005

_T = TypeVar("_T")


def in_batches(
    store: NamespaceStore,
    items: Iterable[_T],
    do: Callable[[WriteTransaction, _T], None],
    *,
    before: Callable[[WriteTransaction, int], None] = lambda tx, done: None,
) -> int:
    """Do something to every item, as many in a transaction as there is time for; gives how many there were.

    `before` is called at the beginning of each transaction, with the number of items done; what it raises ends the work.
    """
    waiting = _Waiting(iter(items))
    done = 0
    while waiting.has_more():
        done += store.change(partial(_batch, waiting=waiting, do=do, before=before, done=done), anew=False)
        time.sleep(_RESTS_SECONDS)
    return done


class _Waiting(Iterator[_T]):
    """An iterator that can be asked whether there is more."""

    def __init__(self, items: Iterator[_T]) -> None:
        self._items = items
        self._next: list[_T] = []

    def has_more(self) -> bool:
        for item in self._items if not self._next else ():
            self._next.append(item)
            break
        return bool(self._next)

    def __next__(self) -> _T:
        if not self.has_more():
            raise StopIteration
        return self._next.pop()


def _batch(
    tx: WriteTransaction,
    *,
    waiting: _Waiting[_T],
    do: Callable[[WriteTransaction, _T], None],
    before: Callable[[WriteTransaction, int], None],
    done: int,
) -> int:
    before(tx, done)
    until = time.monotonic() + _WRITES_SECONDS
    count = 0
    while waiting.has_more():
        do(tx, next(waiting))
        count += 1
        if time.monotonic() >= until:
            break
    return count
