"""Lean Memory: a private, bi-temporal memory in one SQLite file per namespace.

`from lean_memory import Memory` is the public library. Names are loaded when first used, so that importing
`lean_memory.settings` or `lean_memory.errors` alone loads neither apsw nor numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lean_memory.domain import AddResult, ClearResult, Explanation, Fact, ForgetResult, HistoryEntry, SearchHit
    from lean_memory.errors import LeanMemoryError
    from lean_memory.models.ollama import OllamaTalk
    from lean_memory.service import MemoryService as Memory

__all__ = [
    "AddResult",
    "ClearResult",
    "Explanation",
    "Fact",
    "ForgetResult",
    "HistoryEntry",
    "LeanMemoryError",
    "Memory",
    "OllamaTalk",
    "SearchHit",
]

_HOMES = {
    "AddResult": ("lean_memory.domain", "AddResult"),
    "ClearResult": ("lean_memory.domain", "ClearResult"),
    "Explanation": ("lean_memory.domain", "Explanation"),
    "Fact": ("lean_memory.domain", "Fact"),
    "ForgetResult": ("lean_memory.domain", "ForgetResult"),
    "HistoryEntry": ("lean_memory.domain", "HistoryEntry"),
    "LeanMemoryError": ("lean_memory.errors", "LeanMemoryError"),
    "Memory": ("lean_memory.service", "MemoryService"),
    "OllamaTalk": ("lean_memory.models.ollama", "OllamaTalk"),
    "SearchHit": ("lean_memory.domain", "SearchHit"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
