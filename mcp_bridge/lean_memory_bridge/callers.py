"""Who is calling: a client by its own token, an assistant through the shim, or one of the person's own programs."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from lean_memory_bridge.client_book import OWNER, Client, ClientBook
from lean_memory_bridge.refusals import NotAllowedError, PausedError

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever sent a request whose token is good."""

    name: str
    is_owner: bool = False
    """Whether it is one of the person's own programs, which may also manage clients and stop the service."""
    paused: bool = False
    namespace: str = DEFAULT_NAMESPACE
    """Where a call goes that names no namespace."""

    def must_be_let_in(self) -> None:
        """Raises `PausedError`."""
        if self.paused:
            raise PausedError(f"The memory is paused for {self.name}, so nothing was read or written. Only the person can resume it.")

    def must_be_owner(self) -> None:
        """Raises `NotAllowedError`."""
        if not self.is_owner:
            raise NotAllowedError("Only the person's own programs may do this, with the token of the data folder; nothing was done.")


class Callers:
    """Tells callers by what they send. `admin_token` is the secret of the data root, `all_paused` tells whether the memory is paused for all assistants."""

    def __init__(self, admin_token: str, book: ClientBook, all_paused: Callable[[], bool] = lambda: False) -> None:
        self._admin, self._book, self._all_paused = admin_token.encode(), book, all_paused

    def of(self, token: str, spoken_for: str | None) -> Caller | None:
        """The caller with this bearer token, speaking for the client named in the shim's header; `None` for a wrong token.

        Raises `InvalidInputError` for a name that no client can have.
        """
        if hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._admin):
            return Caller(name=OWNER, is_owner=True) if spoken_for is None else self._as_client(self._book.introduce(spoken_for))
        client = self._book.by_token(token)
        return None if client is None else self._as_client(client)

    def _as_client(self, client: Client) -> Caller:
        paused = client.paused or self._all_paused()
        return Caller(name=client.name, paused=paused, namespace=client.default_namespace or DEFAULT_NAMESPACE)
