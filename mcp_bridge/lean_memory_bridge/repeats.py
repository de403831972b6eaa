"""Calls that are sent twice, because their answer was lost, and done once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

KEPT = 1000


class Repeats(Generic[T]):
    """The last `KEPT` calls by their keys, in this process. Belongs to one event loop."""

    def __init__(self) -> None:
        self._calls: OrderedDict[Hashable, asyncio.Future[T]] = OrderedDict()

    async def once(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call`, or that of the earlier call with this key, which may still be running. One that failed is done anew."""
        known = self._calls.get(key)
        if known is None or (known.done() and (known.cancelled() or known.exception() is not None)):
            known = self._calls[key] = asyncio.ensure_future(call())
            self._calls.move_to_end(key)
        if len(self._calls) > KEPT:
            self._calls.popitem(last=False)
        # One caller that hangs up does not take the answer away from the other.
        return await asyncio.shield(known)

    def forget(self) -> None:
        """Forget every finished call, as its answer may hold what the person has erased."""
        for key in [key for key, call in self._calls.items() if call.done()]:
            del self._calls[key]
