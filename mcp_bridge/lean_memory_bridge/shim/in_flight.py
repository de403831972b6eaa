"""The requests of one client that wait for their answer, and the identifiers under which the service knows them.

JSON-RPC tells 9 from "9", the service's library does not: of two such requests at once one answer would be lost. Such a request travels under
another identifier, and its answer comes back under its own. The standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import cast

Message = Mapping[str, object]


@dataclass(slots=True)
class InFlight:
    """The requests of one client that wait."""

    _held: dict[str, object] = field(default_factory=dict[str, object])
    """The client's identifiers by those that the service sees, as text."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    @contextlib.contextmanager
    def travelling(self, message: Message, line: bytes) -> Generator[tuple[Message, bytes]]:
        """A message and its bytes as they may go to the service, while the block runs."""
        if "id" not in message:
            yield self._told(message, line)
            return
        identifier = self._taken(message["id"])
        try:
            if identifier is message["id"]:
                yield message, line
            else:
                changed = {**message, "id": identifier}
                yield changed, json.dumps(changed).encode()
        finally:
            with self._lock:
                self._held.pop(str(identifier), None)

    def own(self, sent: object) -> object:
        """The client's identifier of a request that travels under `sent`."""
        with self._lock:
            return self._held.get(str(sent), sent)

    def _taken(self, identifier: object) -> object:
        with self._lock:
            sent = identifier
            while str(sent) in self._held or not _can_travel(sent):
                self._count += 1
                sent = f"shim-{self._count}"
            self._held[str(sent)] = identifier
            return sent

    def _told(self, message: Message, line: bytes) -> tuple[Message, bytes]:
        """What the client calls off is named as the service knows it."""
        params = message.get("params")
        if message.get("method") != "notifications/cancelled" or not isinstance(params, dict):
            return message, line
        named = cast("dict[str, object]", params)
        wanted = named.get("requestId")
        with self._lock:
            sent = [name for name, held in self._held.items() if held == wanted and type(held) is type(wanted)]
        if not sent or sent[-1] == str(wanted):
            return message, line
        changed = {**message, "params": {**named, "requestId": sent[-1]}}
        return changed, json.dumps(changed).encode()


def _can_travel(identifier: object) -> bool:
    """Half a character has no UTF-8 form."""
    return not isinstance(identifier, str) or all(not "\ud800" <= character <= "\udfff" for character in identifier)
