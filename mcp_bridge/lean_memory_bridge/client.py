"""The service as seen from the command, the tray and tests: its verbs as typed calls over loopback HTTP. Loads no engine code."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import quote, urlencode

from pydantic import BaseModel

from lean_memory import errors
from lean_memory_bridge import refusals
from lean_memory_bridge.proven import ProvenConnection
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.runtime import CLIENT_HEADER, Live, admin_token, find, fresh_key
from lean_memory_bridge.schemas import (
    AccessLog,
    Added,
    AddedMany,
    AddItem,
    AddManyRequest,
    AddRequest,
    AssistantAsked,
    AssistantDone,
    Assistants,
    Cleared,
    ClearRequest,
    ClientChange,
    Clients,
    ClientView,
    Explained,
    Facts,
    ForgetRequest,
    Forgotten,
    Found,
    History,
    IssuedToken,
    ModelsView,
    MomentText,
    Namespaces,
    Problem,
    SearchRequest,
    Snapshot,
    Sound,
    Status,
    Stopping,
    WindowCode,
    WouldForget,
)
from lean_memory_bridge.schemas.downloads import PullRequest, TierRemoved, TierRequest

M = TypeVar("M", bound=BaseModel)

TIMEOUT = 60.0
"""Seconds after which a call that got no answer is given up."""
_SILENCE = 45.0
"""Seconds without a sign of life after which a stream of snapshots is given up; the service sends one every 15."""


class ServiceClient:
    """Talks to the live service of one data root. Safe to use from several threads: each call has a connection of its own.

    Every call raises what the service says went wrong (`LeanMemoryError` and below), and `UnreachableError` where it does not answer.
    A call that found the service gone is sent once more to the one that took its place, if doing it twice does no harm.
    """

    def __init__(self, root: Path, live: Live, token: str, *, client: str | None = None) -> None:
        self._root, self._live, self._token, self._client = root, live, token, client

    @classmethod
    def find(cls, root: Path, *, client: str | None = None, timeout: float = 2.0) -> Self | None:
        """A client of the service that runs for `root`, once it has proved itself; `None` where none runs. `client` is whom to speak for."""
        live = find(root, timeout=timeout)
        return None if live is None else cls(root, live, admin_token(root), client=client)

    def speaking_for(self, client: str | None) -> ServiceClient:
        """The same, speaking for a client of this name; for the person where there is none."""
        return self if client == self._client else ServiceClient(self._root, self._live, self._token, client=client)

    @property
    def live(self) -> Live:
        """The service that answered last."""
        return self._live

    def add(
        self,
        text: str,
        *,
        namespace: str | None = None,
        t_ref: MomentText | None = None,
        tz: str | None = None,
        source: str = "user",
        relearn: bool = False,
    ) -> Added:
        """Remember a text."""
        given = {"text": text, "namespace": namespace, "t_ref": t_ref, "tz": tz, "source": source, "relearn": relearn}
        asked = AddRequest.model_validate(given)
        return self._post("add", asked, Added, again=True, headers={"Idempotency-Key": fresh_key()})

    def add_many(self, items: Sequence[AddItem], *, namespace: str | None = None) -> tuple[Added, ...]:
        """Remember many texts, oldest first, at most `MAX_BATCH` of them."""
        return self._post("add-many", AddManyRequest(items=tuple(items), namespace=namespace), AddedMany).results

    def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        k: int = 5,
        as_of: MomentText | None = None,
        known_at: MomentText | None = None,
        include_history: bool = False,
        include_cold: bool = False,
    ) -> Found:
        """The best answers to a question."""
        asked = SearchRequest(
            query=query,
            namespace=namespace,
            k=k,
            as_of=as_of,
            known_at=known_at,
            include_history=include_history,
            include_cold=include_cold,
        )
        return self._post("search", asked, Found, again=True)

    def facts(
        self,
        *,
        namespace: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: MomentText | None = None,
        known_at: MomentText | None = None,
        include_history: bool = False,
        include_cold: bool = False,
        limit: int | None = None,
    ) -> Facts:
        """The facts of a namespace."""
        asked = {
            "namespace": namespace,
            "subject": subject,
            "predicate": predicate,
            "as_of": as_of,
            "known_at": known_at,
            "include_history": "true" if include_history else None,
            "include_cold": "true" if include_cold else None,
            "limit": limit,
        }
        return self._get("facts", Facts, asked)

    def history(self, fact_id: str, *, namespace: str | None = None) -> History:
        """The chain a fact belongs to, oldest first."""
        return self._get("history", History, {"fact_id": fact_id, "namespace": namespace})

    def explain(self, fact_id: str, *, namespace: str | None = None) -> Explained:
        """Why a fact is held."""
        return self._get("explain", Explained, {"fact_id": fact_id, "namespace": namespace})

    def would_forget(self, asked: ForgetRequest) -> tuple[str, ...]:
        """The texts that `forget` with the same request would erase."""
        return self._post("would-forget", asked, WouldForget, again=True).texts

    def forget(self, asked: ForgetRequest) -> Forgotten:
        """Erase, down to the last byte."""
        return self._post("forget", asked, Forgotten, again=True, headers={"Idempotency-Key": fresh_key()})

    def clear(self, namespace: str) -> Cleared:
        """Remove a namespace."""
        return self._post("clear", ClearRequest(namespace=namespace), Cleared)

    def namespaces(self) -> Namespaces:
        """The namespaces there are."""
        return self._get("namespaces", Namespaces)

    def status(self, namespace: str | None = None) -> Status:
        """The service, and counts of one namespace or of all."""
        return self._get("status", Status, {"namespace": namespace})

    def check(self, namespace: str | None = None) -> tuple[str, ...]:
        """The invariants of a namespace that do not hold, a sentence each."""
        return self._get("check", Sound, {"namespace": namespace}).problems

    def clients(self) -> tuple[ClientView, ...]:
        """Every client that is known."""
        return self._get("clients", Clients).clients

    def issue_token(self, name: str) -> str:
        """A new token for a client; the one before stops working."""
        return self._call("POST", f"clients/{quote(name, safe='')}/token", IssuedToken).token

    def revoke_token(self, name: str) -> ClientView:
        """Take a client's token away."""
        return self._call("DELETE", f"clients/{quote(name, safe='')}/token", ClientView)

    def change_client(self, name: str, change: ClientChange) -> ClientView:
        """Pause or resume a client, or set where its calls go."""
        return self._call("PATCH", f"clients/{quote(name, safe='')}", ClientView, _json(change))

    def remove_client(self, name: str) -> tuple[ClientView, ...]:
        """Strike a client out; gives those that are left."""
        return self._call("DELETE", f"clients/{quote(name, safe='')}", Clients).clients

    def access(self, *, client: str | None = None, limit: int = 100) -> AccessLog:
        """The last uses of the memory, newest first."""
        return self._get("access", AccessLog, {"client": client, "limit": limit})

    def assistants(self) -> Assistants:
        """Every assistant that is known, and how it stands on this computer."""
        return self._get("assistants", Assistants)

    def connect_assistant(self, name: str) -> AssistantDone:
        """Enter the memory into an assistant's configuration, and try it."""
        return self._post(f"assistants/{quote(name, safe='')}/connect", AssistantAsked(), AssistantDone)

    def disconnect_assistant(self, name: str) -> AssistantDone:
        """Take the memory out of an assistant's configuration."""
        return self._post(f"assistants/{quote(name, safe='')}/disconnect", AssistantAsked(), AssistantDone)

    def test_assistant(self, name: str) -> AssistantDone:
        """Start the memory the way an assistant would, and say what answered."""
        return self._post(f"assistants/{quote(name, safe='')}/test", AssistantAsked(), AssistantDone)

    def models(self) -> ModelsView:
        """The tier in use, how far its models and their vectors are, every tier that can be had, and the last download."""
        return self._get("models", ModelsView)

    def pull_models(self, asked: PullRequest) -> ModelsView:
        """Begin to fetch a tier; the snapshots say how far it is. The person must have said so."""
        return self._post("models/pull", asked, ModelsView, again=True)

    def cancel_pull(self) -> ModelsView:
        """Stop the download; what came is kept."""
        return self._call("POST", "models/cancel", ModelsView)

    def use_tier(self, tier: str) -> ModelsView:
        """Choose a tier that is here."""
        return self._post("models/use", TierRequest(tier=tier), ModelsView)

    def remove_tier(self, tier: str) -> TierRemoved:
        """Delete the models of a tier that is not in use."""
        return self._post("models/remove", TierRequest(tier=tier), TierRemoved)

    def snapshot(self) -> Snapshot:
        """The whole state of this moment."""
        return self._get("snapshot", Snapshot)

    def window_code(self) -> WindowCode:
        """A code with which one browser can let itself in, once and soon."""
        return self._call("POST", "window/code", WindowCode)

    def stop(self) -> Stopping:
        """Ask the service to end in good order."""
        return self._call("POST", "shutdown", Stopping)

    def snapshots(self) -> Iterator[Snapshot]:
        """The state now, and again whenever it is another one, until the connection ends; then `UnreachableError`."""
        with self._connected(_SILENCE) as connection:
            connection.request("GET", "/api/v1/events", headers=self._headers())
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise _error(answer.status, answer.read())
            for line in answer:
                if line.startswith(b"data: "):
                    yield Snapshot.model_validate_json(line[len(b"data: ") :])
        raise UnreachableError("The service ended the stream of its states.")

    def _get(self, path: str, kind: type[M], asked: Mapping[str, object] | None = None) -> M:
        query = urlencode({name: value for name, value in (asked or {}).items() if value is not None}, errors="surrogatepass")
        return self._call("GET", f"{path}?{query}" if query else path, kind, again=True)

    def _post(self, path: str, asked: BaseModel, kind: type[M], *, again: bool = False, headers: Mapping[str, str] | None = None) -> M:
        return self._call("POST", path, kind, _json(asked), again=again, headers=headers)

    def _call(
        self,
        method: str,
        path: str,
        kind: type[M],
        body: bytes = b"",
        *,
        again: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> M:
        """Send a call; once more to the service that has taken the place of one that is gone, if it may be done `again` or never arrived."""
        try:
            return self._once(method, path, kind, body, headers)
        except UnreachableError as error:
            was_refused = isinstance(error.__cause__, ConnectionRefusedError)
            follower = find(self._root) if again or was_refused else None
            if follower is None:
                raise
            self._live = follower
        return self._once(method, path, kind, body, headers)

    def _once(self, method: str, path: str, kind: type[M], body: bytes, headers: Mapping[str, str] | None) -> M:
        with self._connected(TIMEOUT) as connection:
            connection.request(method, f"/api/v1/{path}", body, {**self._headers(), **(headers or {})})
            answer = connection.getresponse()
            content = answer.read()
        if answer.status >= http.client.BAD_REQUEST:
            raise _error(answer.status, content)
        return kind.model_validate_json(content)

    def _headers(self) -> dict[str, str]:
        spoken_for = {} if self._client is None else {CLIENT_HEADER: self._client}
        return {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", "Accept": "*/*", **spoken_for}

    @contextlib.contextmanager
    def _connected(self, timeout: float) -> Generator[http.client.HTTPConnection]:
        connection = ProvenConnection(self._live, self._token, timeout=timeout)
        try:
            yield connection
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError("The memory service did not answer; start it with `lean-memory serve` and try again.") from error
        finally:
            connection.close()


def _json(asked: BaseModel) -> bytes:
    return asked.model_dump_json(exclude_none=True).encode()


def _error(status: int, content: bytes) -> errors.LeanMemoryError:
    """The error that the service reported, as the exception it was there."""
    try:
        problem = Problem.model_validate_json(content)
    except ValueError:
        return refusals.RefusedError(f"The service answered with the status {status}.")
    kind: object = getattr(errors, problem.error, None) or getattr(refusals, problem.error, None)
    if isinstance(kind, type) and issubclass(kind, errors.LeanMemoryError):
        return kind(problem.message)
    return refusals.RefusedError(problem.message)
