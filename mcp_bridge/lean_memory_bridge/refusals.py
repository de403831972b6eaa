"""Why the service does not do what it was asked, beside the engine's own errors.

LeanMemoryError
├── RefusedError            the service will not do this for this caller now; nothing was done
│   ├── PausedError         the person has paused this client
│   ├── NotAllowedError     only the person's own programs may do this
│   └── TooManyCallsError   the client asks for more than its share; try again after `seconds`
└── UnreachableError        the service did not answer; whether it did what it was asked is not known
"""

from __future__ import annotations

from lean_memory.errors import LeanMemoryError


class RefusedError(LeanMemoryError):
    """The service will not do this for this caller now; nothing was done."""


class PausedError(RefusedError):
    """The person has paused this client."""


class NotAllowedError(RefusedError):
    """Only the person's own programs may do this."""


class TooManyCallsError(RefusedError):
    """The client asks for more than its share; nothing of this call was done."""

    def __init__(self, sentence: str, seconds: float = 1.0) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class UnreachableError(LeanMemoryError):
    """The service did not answer; whether it did what it was asked is not known."""
