"""Who may use the memory: `<root>/clients.json`, one entry per client, with the fingerprint of its token. Standard library alone.

The file may be changed by several processes (the service, a command while no service runs): every change reads it anew under a lock,
and a reader notices a change by the file itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from lean_memory.errors import BusyError, InvalidInputError, NotFoundError
from lean_memory.only_one import only_one
from lean_memory.private_files import replace_private

FILE = "clients.json"
LOCK = "clients.lock"
OWNER = "lean-memory"
"""The name under which the person's own programs (command, tray, window) act; no client can have it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One assistant or program; `created_at` is epoch milliseconds."""

    name: str
    created_at: int
    token_hash: str | None = None
    """SHA-256 of its bearer token, which has 256 random bits of its own; `None` for one that comes through the shim only."""
    paused: bool = False
    default_namespace: str | None = None


def checked_client_name(name: str) -> str:
    """A name a client may have. Raises `InvalidInputError`."""
    if not _NAME.fullmatch(name) or name != name.strip() or name.casefold() == OWNER:
        raise InvalidInputError(
            f"{name[:80]!r} cannot be a client's name: use up to 64 letters, digits, spaces, dots, hyphens and underscores, not {OWNER!r}."
        )
    return name


class ClientBook:
    """The clients of one data root. Safe to use from several threads and processes."""

    def __init__(self, root: Path) -> None:
        self._path, self._lock_path = root / FILE, root / LOCK
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._clients: dict[str, Client] = {}
        self._by_hash: dict[str, Client] = {}

    def all(self) -> list[Client]:
        """Every client by name."""
        with self._lock:
            self._follow()
            return sorted(self._clients.values(), key=lambda client: client.name)

    def named(self, name: str) -> Client | None:
        """The client of this name."""
        with self._lock:
            self._follow()
            return self._clients.get(name)

    def known(self, name: str) -> Client:
        """The client of this name. Raises `NotFoundError`."""
        found = self.named(name)
        if found is None:
            raise NotFoundError(f"There is no client {name!r}; `lean-memory clients` lists them.")
        return found

    def by_token(self, token: str) -> Client | None:
        """The client that a bearer token belongs to."""
        with self._lock:
            self._follow()
            return self._by_hash.get(_fingerprint(token))

    def introduce(self, name: str) -> Client:
        """The client of this name, entered without a token if it is new. Raises `InvalidInputError`."""
        known = self.named(checked_client_name(name))
        return known if known is not None else self._change(name, lambda client: client)

    def issue(self, name: str) -> str:
        """A new token for a client, entered if it is new; the one before stops working. Only its fingerprint is kept."""
        token = secrets.token_urlsafe(32)
        self._change(checked_client_name(name), lambda client: replace(client, token_hash=_fingerprint(token)))
        return token

    def revoke(self, name: str) -> Client:
        """Take a client's token away. Raises `NotFoundError`."""
        self.known(name)
        return self._change(name, lambda client: replace(client, token_hash=None))

    def pause(self, name: str, paused: bool) -> Client:
        """Let a client in, or keep it out until it is let in again. Raises `NotFoundError`."""
        self.known(name)
        return self._change(name, lambda client: replace(client, paused=paused))

    def send_to(self, name: str, namespace: str | None) -> Client:
        """Set where a client's calls go when they name no namespace. Raises `NotFoundError`."""
        self.known(name)
        return self._change(name, lambda client: replace(client, default_namespace=namespace))

    def remove(self, name: str) -> None:
        """Strike a client out, and its token with it. Raises `NotFoundError`."""
        self.known(name)
        with self._alone() as clients:
            clients.pop(name, None)
            self._write(clients)

    def _change(self, name: str, change: Callable[[Client], Client]) -> Client:
        with self._alone() as clients:
            changed = change(clients.get(name) or Client(name=name, created_at=time.time_ns() // 1_000_000))
            clients[name] = changed
            self._write(clients)
        return changed

    @contextlib.contextmanager
    def _alone(self) -> Generator[dict[str, Client]]:
        """The clients as the file has them now; nobody else writes meanwhile. Raises `BusyError`."""
        with self._lock:
            deadline = time.monotonic() + _PATIENCE
            while True:
                with only_one(self._lock_path) as mine:
                    if mine:
                        self._seen = None
                        self._follow()
                        yield dict(self._clients)
                        return
                if time.monotonic() > deadline:
                    raise BusyError("Another program is changing the list of clients; nothing was changed. Try again in a moment.")
                time.sleep(0.01)

    def _follow(self) -> None:
        """Read the file if it is another one than before."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._take({}, None)
            return
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if mark != self._seen:
            self._take(_read(self._path), mark)

    def _take(self, clients: dict[str, Client], mark: tuple[int, int, int] | None) -> None:
        self._clients, self._seen = clients, mark
        self._by_hash = {client.token_hash: client for client in clients.values() if client.token_hash}

    def _write(self, clients: dict[str, Client]) -> None:
        replace_private(self._path, json.dumps({"clients": [asdict(client) for client in clients.values()]}, indent=1))
        self._seen = None


def _fingerprint(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> dict[str, Client]:
    """The clients in a file; one that cannot be understood is set aside, so that nobody gets in by it and nothing of it is lost."""
    try:
        held = cast("dict[str, list[dict[str, object]]]", json.loads(path.read_bytes()))
        clients = [_client(entry) for entry in held["clients"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        path.replace(path.with_name(f"{FILE}.damaged-{time.time_ns() // 1_000_000}"))
        return {}
    return {client.name: client for client in clients}


def _client(entry: dict[str, object]) -> Client:
    token_hash, namespace = entry.get("token_hash"), entry.get("default_namespace")
    return Client(
        name=str(entry["name"]),
        created_at=int(str(entry["created_at"])),
        token_hash=None if token_hash is None else str(token_hash),
        paused=bool(entry.get("paused", False)),
        default_namespace=None if namespace is None else str(namespace),
    )
