"""Connections on which the other side has proved itself, so that no token reaches a stranger who listens where the service did. The standard
library alone."""

from __future__ import annotations

import http.client
import secrets

from lean_memory_bridge.runtime import HOST, Live, proved

_PATIENCE = 2.0
"""Seconds a proof may take; a service that is busy gives it at once all the same."""
_LARGEST_PROOF = 64_000


class StrangerError(ConnectionRefusedError):
    """Who listens there is not the service of this data root; nothing was sent to it."""


class ProvenConnection(http.client.HTTPConnection):
    """A connection to the service of a data root; as soon as it is open the service has proved that it knows the root's `token`.

    Where it cannot, `StrangerError` is raised instead, like a refused connection.
    """

    def __init__(self, live: Live, token: str, *, timeout: float | None = None) -> None:
        super().__init__(HOST, live.port, timeout=timeout)
        self._token = token

    def connect(self) -> None:
        """Open the connection and have the service prove itself on it."""
        super().connect()
        patience = self.sock.gettimeout()
        self.sock.settimeout(_PATIENCE)
        try:
            if not self._has_proved():
                raise StrangerError(f"Who listens on port {self.port} is not the service of this data folder.")
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise error if isinstance(error, StrangerError) else StrangerError(str(error)) from error
        self.sock.settimeout(patience)

    def _has_proved(self) -> bool:
        challenge = secrets.token_hex(32)
        request = f"GET /healthz?challenge={challenge} HTTP/1.1\r\nHost: {HOST}:{self.port}\r\nAccept: application/json\r\n\r\n"
        self.sock.sendall(request.encode())
        answer = http.client.HTTPResponse(self.sock, method="GET")
        answer.begin()
        body = answer.read(_LARGEST_PROOF)
        is_whole = answer.isclosed() and not answer.will_close
        return answer.status == http.client.OK and is_whole and proved(body, challenge, self._token, self.port) is not None
