"""Looking for many byte strings at once in a file too large to be looked through once for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_KEY = 4
"""Bytes by which a trace is known: its first ones, looked for as one number."""
_FEW = 8
"""Up to so many are found faster one by one."""
_BITS = 20
_MIX = np.uint32(0x9E3779B1)
"""Knuth's multiplicative hash: a prime near the golden ratio of 32 bits."""


class Traces:
    """Byte strings, none of them empty, of which any may stand in a window."""

    def __init__(self, traces: Sequence[bytes]) -> None:
        many = [trace for trace in traces if len(trace) >= _KEY] if len(traces) > _FEW else []
        self._single = [trace for trace in traces if len(trace) < _KEY or not many]
        self._by_key: dict[int, dict[int, set[bytes]]] = {}
        for trace in many:
            self._by_key.setdefault(int.from_bytes(trace[:_KEY], "little"), {}).setdefault(len(trace), set()).add(trace)
        self._keys = np.array(sorted(self._by_key), np.uint32)
        self._likely = np.zeros(1 << _BITS, np.bool_)
        self._likely[_hashed(self._keys)] = True

    def stand_in(self, window: bytes) -> bool:
        """Whether any of them stands in the window."""
        return any(trace in window for trace in self._single) or any(self._stand_at(window, start) for start in range(_KEY))

    def _stand_at(self, window: bytes, start: int) -> bool:
        """Whether one of them begins at `start` or at a multiple of the key's length after it."""
        if not self._by_key or len(window) < start + _KEY:
            return False
        words = np.frombuffer(window, "<u4", count=(len(window) - start) // _KEY, offset=start)
        places = np.flatnonzero(self._likely[_hashed(words)])
        places = places[np.isin(words[places], self._keys)]
        return any(self._begins(window, start + _KEY * place, int(words[place])) for place in places.tolist())

    def _begins(self, window: bytes, at: int, key: int) -> bool:
        return any(window[at : at + length] in traces for length, traces in self._by_key[key].items())


def _hashed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (words * _MIX) >> np.uint32(32 - _BITS)
