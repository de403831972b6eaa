"""Letting the person's own browser in: a one-time code for a cookie, and beside the cookie a key that the page keeps.

A cookie of 127.0.0.1 goes to every port of it, so another local server that the person looks at would see it. It is therefore worth nothing
alone: the page sends a key with each request that only its own origin, port included, can read; and the key is worth nothing without the
cookie, which no script can read. Both are derived from the secret of the data root, so that they outlive a restart of the service.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

KEY_HEADER = "X-Lean-Memory-Window"
CODE_LIFE = 120.0
"""Seconds within which a code has to be used."""
PASS_LIFE = 30 * 86_400
"""Seconds that a browser stays let in."""

_MOST_CODES = 32
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPass:
    """What a browser that was let in holds: the cookie's value, and the key of the page."""

    cookie: str
    key: str


class WindowDoor:
    """Gives out codes and tells passes. `secret` is that of the data root. Belongs to one event loop; `clock` gives epoch seconds."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret, self._clock = secret.encode(), clock
        self._codes: dict[str, float] = {}

    def invite(self) -> str:
        """A code for one browser; of many that nobody used, the oldest give way."""
        now = self._clock()
        alive = [(code, end) for code, end in self._codes.items() if end > now]
        code = secrets.token_urlsafe(32)
        self._codes = {**dict(alive[-_MOST_CODES + 1 :]), _hash(code): now + CODE_LIFE}
        return code

    def admit(self, code: str) -> WindowPass | None:
        """A pass for a code that is fresh and was not used; afterwards it is used."""
        end = self._codes.pop(_hash(code), None)
        if end is None or end <= self._clock():
            return None
        said = f"{int(self._clock()) + PASS_LIFE}.{secrets.token_urlsafe(32)}"
        cookie = f"{said}.{self._mac('cookie', said)}"
        return WindowPass(cookie=cookie, key=self._mac("key", cookie))

    def knows(self, cookie: str, key: str) -> bool:
        """Whether cookie and key belong together, are ours and have not run out."""
        if len(cookie) > _LONGEST or len(key) > _LONGEST:
            return False
        said, _, mac = cookie.rpartition(".")
        ours = _same(mac, self._mac("cookie", said)) and _same(key, self._mac("key", cookie))
        end = said.partition(".")[0]
        return ours and int(end) > self._clock()

    def _mac(self, what: str, said: str) -> str:
        return hmac.new(self._secret, f"lean-memory window {what} 1\n{said}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def cookie_name(port: int) -> str:
    """Each service has a name of its own, as browsers give the cookies of one port to all."""
    return f"lean_memory_window_{port}"


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), right.encode())


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
