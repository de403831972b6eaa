"""Why the service does not do what it was asked, beside the engine's own errors.

LeanMemoryError
└── RefusedError            the service will not do this for this caller now; nothing was done
    ├── PausedError         the person has paused this client
    ├── NotAllowedError     only the person's own programs may do this
    └── TooManyCallsError   the client asks for more than its share; try again after `seconds`
"""

from __future__ import annotations

from lean_memory.errors import LeanMemoryError


class RefusedError(LeanMemoryError):
    """The service will not do this for this caller now; nothing was done."""


class PausedError(RefusedError):
    """The person has paused this client."""

    def __init__(self, client: str) -> None:
        super().__init__(
            f"The memory is paused for {client}, so nothing was read or written. The person can resume it with `lean-memory clients` or in the window."
        )


class NotAllowedError(RefusedError):
    """Only the person's own programs may do this."""


class TooManyCallsError(RefusedError):
    """The client asks for more than its share; nothing of this call was done."""

    def __init__(self, sentence: str, seconds: float) -> None:
        super().__init__(sentence)
        self.seconds = seconds
