"""Who used the memory and when: `<root>/access.jsonl`, which never holds what was said. Standard library and schemas alone."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from lean_memory_bridge.schemas import AccessView

log = logging.getLogger(__name__)

FILE = "access.jsonl"
KEPT = 2000
"""Entries that are kept."""
_REWRITE_AT = 2 * KEPT


class AccessLog:
    """The last uses of one data root, oldest first. One process writes it; safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE
        self._lock = threading.Lock()
        self._entries: deque[AccessView] = deque(_read(self._path), maxlen=KEPT)
        self._lines = _REWRITE_AT

    def note(self, entry: AccessView) -> None:
        """Add an entry. Where it cannot be written down it is remembered, and written with a later one: what it tells of is done already."""
        with self._lock:
            self._entries.append(entry)
            self._lines += 1
            try:
                if self._lines > _REWRITE_AT:
                    self._rewrite()
                else:
                    self._append(entry.model_dump_json() + "\n", os.O_APPEND)
            except OSError as error:
                self._lines = _REWRITE_AT
                log.warning("The use of the memory cannot be written to %s (%s).", FILE, error.strerror or type(error).__name__)

    def last(self, count: int, client: str | None = None) -> tuple[AccessView, ...]:
        """The newest entries of one client, or of all, newest first."""
        with self._lock:
            chosen = (entry for entry in reversed(self._entries) if client is None or entry.client == client)
            return tuple(islice(chosen, count))

    def drop_namespace(self, namespace: str) -> None:
        """Forget that there was a namespace of this name."""
        with self._lock:
            self._entries = deque((entry for entry in self._entries if entry.namespace != namespace), maxlen=KEPT)
            self._rewrite()

    def _rewrite(self) -> None:
        self._append("".join(entry.model_dump_json() + "\n" for entry in self._entries), os.O_TRUNC)
        self._lines = len(self._entries)

    def _append(self, text: str, how: int) -> None:
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600), "w", encoding="utf-8") as file:
            file.write(text)


def _read(path: Path) -> list[AccessView]:
    """What the file holds; a line that was cut off when the machine went down is passed over."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    entries: list[AccessView] = []
    for line in lines[-KEPT:]:
        try:
            entries.append(AccessView.model_validate_json(line))
        except ValidationError:
            continue
    return entries
