"""The link between one client and whatever instance of the service lives: it survives restarts, and the client does not notice.

A request that got no answer is sent again to the next instance. That is safe: what reads may be read twice, and what writes carries an
`Idempotency-Key`, by which the service knows a call that it has done already.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lean_memory_bridge.runtime import ENDING, Live, admin_token, fresh_key
from lean_memory_bridge.shim.in_flight import InFlight
from lean_memory_bridge.shim.offline import answer_without_service, failure
from lean_memory_bridge.shim.starting import NOTHING_DONE, NoServiceError, Starter
from lean_memory_bridge.shim.wire import BROKEN, Reply, Wire, error_sentence

Message = Mapping[str, object]

_ATTEMPTS = 4
_GREETING_PATIENCE = 6.0
"""Seconds a client is kept waiting for its greeting; some give up after ten. The service goes on starting meanwhile."""
_CALL_PATIENCE = 30.0
_SENTENCE_ERROR = -32000
_UNSURE = "What it asked for may have been done all the same, so look before you ask for it again; the service's log says more."
_NEXT = (401, 408, 502, 503)
"""The token was made anew, or the instance is ending: the next one will answer."""
_MODERN = "io.modelcontextprotocol/protocolVersion"


@dataclass(slots=True, kw_only=True)
class Session:
    """A client's session with one instance of the service. `number` tells sessions of one shim apart."""

    number: int
    wire: Wire
    identifier: str | None = None
    version: str | None = None
    refusal: str = ""
    """What the instance said when it refused a message as a whole."""

    def headers(self, message: Message) -> dict[str, str]:
        """What the protocol wants in the head of the request that carries `message`."""
        headers = {"Mcp-Session-Id": self.identifier} if self.identifier else {}
        method, params = message.get("method"), _object(message.get("params"))
        modern = _object(params.get("_meta")).get(_MODERN)
        if isinstance(modern, str):
            named = params.get("name") or params.get("uri")
            headers |= {"MCP-Protocol-Version": modern, "Mcp-Method": str(method)}
            headers |= {"Mcp-Name": named} if isinstance(named, str) and named.isascii() and named.isprintable() else {}
        elif self.version and method != "initialize":
            headers["MCP-Protocol-Version"] = self.version
        return headers


class Link:
    """Carries a client's messages to the service and hands every answer to `emit`, which may be called from several threads."""

    def __init__(self, *, root: Path, client: str, starter: Starter, emit: Callable[[bytes], None]) -> None:
        self._root, self._client, self._starter, self._emit = root, client, starter, emit
        self._lock = threading.Lock()
        self._in_flight = InFlight()
        self._session: Session | None = None
        self._count = 0
        self._greeting: bytes | None = None
        self._ready = False
        self._told_offline = False

    def carry(self, message: Message, line: bytes) -> None:
        """Bring one message of the client to the service, and the answers back; a request is always answered, whatever happens."""
        if "method" not in message:
            self._carry_answer(message)
            return
        if message.get("method") == "initialize":
            self._greeting, self._ready = line, False
            self._forget_session()
        elif message.get("method") == "notifications/initialized":
            self._ready = True
        try:
            with self._in_flight.travelling(message, line) as (sent, as_sent):
                answered = self._carried(sent, as_sent)
        except NoServiceError as error:
            self._told_offline = True
            if "id" in message:
                self._say(answer_without_service(message, str(error)))
            return
        if not answered and "id" in message:
            self._say(failure(message["id"], _SENTENCE_ERROR, f"The memory service ended during this call, again and again. {_UNSURE}"))

    def close(self) -> None:
        """Take leave of the service."""
        session = self._session
        if session is not None and session.identifier:
            session.wire.end_session(session.headers({}))

    def _carried(self, message: Message, line: bytes) -> bool:
        """Whether the message was delivered and, if it is a request, answered. Raises `NoServiceError`."""
        key = fresh_key()
        greeting = message.get("method") == "initialize"
        patience = _CALL_PATIENCE if "id" in message and not greeting else _GREETING_PATIENCE
        cut_off, refusal = False, ""
        for _ in range(_ATTEMPTS):
            try:
                session = self._current(replay=not greeting, patience=patience)
            except NoServiceError as error:
                raise _unsure(error) if cut_off else error from None
            try:
                delivered = self._delivered(session, message, line, key)
                if delivered:
                    if message.get("method") == "notifications/initialized":
                        self._listen(session)
                    return True
                cut_off |= delivered is False
            except ConnectionRefusedError:
                # Nothing of it was sent.
                pass
            except BROKEN:
                cut_off = True
            self._lose(session)
            refusal = session.refusal
        if refusal and not cut_off:
            raise NoServiceError(refusal)
        return False

    def _delivered(self, session: Session, message: Message, line: bytes, key: str) -> bool | None:
        """Whether it was answered; `None` where it was refused before anything was done."""
        headers = {**session.headers(message), "Idempotency-Key": key}
        with session.wire.post(line, headers) as reply:
            if (reply.status == 404 and session.identifier) or reply.status in _NEXT:
                session.refusal = error_sentence(reply.status, b"".join(reply.messages))
                return None
            if message.get("method") == "initialize" and reply.status == 200:
                session.identifier = reply.session
            if reply.status >= 400:
                return self._refused(message, reply)
            return self._passed_on(session, message, reply)

    def _passed_on(self, session: Session, message: Message, reply: Reply) -> bool | None:
        answered = "id" not in message
        for text in reply.messages:
            incoming = _parsed(text)
            if _is_answer_to(incoming, message):
                if _object(incoming.get("error")).get("code") == ENDING:
                    return None
                answered = True
                if message.get("method") == "initialize":
                    session.version = _text(_object(incoming.get("result")).get("protocolVersion"))
                own = self._in_flight.own(message["id"])
                if own != message["id"]:
                    self._say({**incoming, "id": own})
                    continue
            self._hand_over(session, incoming, text)
        return answered

    def _refused(self, message: Message, reply: Reply) -> bool:
        body = b"".join(reply.messages)
        held = _parsed(body)
        if "id" in message:
            identifier = self._in_flight.own(message["id"])
            if "jsonrpc" in held and ("error" in held or "result" in held):
                self._say({**held, "id": identifier})
            else:
                self._say(failure(identifier, _SENTENCE_ERROR, error_sentence(reply.status, body)))
        return True

    def _hand_over(self, session: Session, incoming: Message, text: bytes) -> None:
        """Give the client a message; what the service asks gets an identifier that no other instance can use."""
        if "method" in incoming and "id" in incoming:
            self._say({**incoming, "id": f"{session.number}:{json.dumps(incoming['id'])}"})
        elif incoming.get("method") == "notifications/cancelled":
            params = _object(incoming.get("params"))
            self._say({**incoming, "params": {**params, "requestId": f"{session.number}:{json.dumps(params.get('requestId'))}"}})
        elif incoming:
            self._emit(text)

    def _carry_answer(self, message: Message) -> None:
        """Bring the client's answer to a question of the service back to the instance that asked; a question of a dead one is moot."""
        number, _, identifier = str(message.get("id")).partition(":")
        session = self._session
        if session is None or number != str(session.number):
            return
        body = json.dumps({**message, "id": json.loads(identifier)}).encode()
        with contextlib.suppress(*BROKEN), session.wire.post(body, session.headers(message)):
            pass

    def _current(self, *, replay: bool, patience: float) -> Session:
        """The session with the live instance; a new one begins with the client's own greeting. Raises `NoServiceError`."""
        with self._lock:
            if self._session is not None:
                return self._session
            session = self._session = self._opened(replay=replay, patience=patience)
        if replay and self._greeting is not None and self._ready:
            self._listen(session)
            if self._told_offline:
                self._told_offline = False
                self._say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return session

    def _opened(self, *, replay: bool, patience: float) -> Session:
        refusal = "Its log says why."
        for _ in range(_ATTEMPTS):
            session = self._begun(self._starter.service(patience))
            with contextlib.suppress(*BROKEN):
                if not replay or self._greeting is None or self._greeted_again(session, self._greeting):
                    return session
            session.wire.close()
            refusal = session.refusal or refusal
        raise NoServiceError(f"The memory service ends or refuses whenever it is greeted. {refusal} {NOTHING_DONE}")

    def _begun(self, live: Live) -> Session:
        self._count += 1
        try:
            token = admin_token(self._root)
        except OSError as error:
            raise NoServiceError(f"The memory's token in {self._root} cannot be read ({error.strerror or error}).") from error
        return Session(number=self._count, wire=Wire(live=live, token=token, client=self._client))

    def _greeted_again(self, session: Session, greeting: bytes) -> bool:
        """Repeat the client's greeting where it will not see it, so that the instance knows whom it has before it."""
        message = _parsed(greeting)
        with session.wire.post(greeting, session.headers(message)) as reply:
            if reply.status != 200:
                session.refusal = error_sentence(reply.status, b"".join(reply.messages))
                return reply.status not in _NEXT
            session.identifier = reply.session
            for text in reply.messages:
                incoming = _parsed(text)
                if _is_answer_to(incoming, message):
                    session.version = _text(_object(incoming.get("result")).get("protocolVersion"))
        ready: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        with session.wire.post(json.dumps(ready).encode(), session.headers(ready)):
            pass
        return True

    def _forget_session(self) -> None:
        with self._lock:
            self._session = None

    def _lose(self, session: Session) -> None:
        with self._lock:
            if self._session is session:
                self._session = None
        session.wire.close()

    def _listen(self, session: Session) -> None:
        if session.identifier:
            threading.Thread(target=self._hear, args=(session,), daemon=True).start()

    def _hear(self, session: Session) -> None:
        """Pass on what the service says unasked, until it or the session ends; the next call begins a new session and a new thread."""
        with contextlib.suppress(*BROKEN), session.wire.listen(session.headers({})) as reply:
            if reply.status == 200:
                for text in reply.messages:
                    self._hand_over(session, _parsed(text), text)

    def _say(self, message: Message) -> None:
        try:
            line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            # Half a character, which only an escape can name.
            line = json.dumps(message, separators=(",", ":")).encode()
        self._emit(line)


def _unsure(error: NoServiceError) -> NoServiceError:
    """The reason, without the word that nothing was done."""
    return NoServiceError(f"{str(error).replace(NOTHING_DONE, '').replace('  ', ' ').strip()} {_UNSURE}")


def _is_answer_to(incoming: Message, message: Message) -> bool:
    return "method" not in incoming and "id" in message and incoming.get("id") == message["id"]


def _parsed(text: bytes) -> Message:
    try:
        return _object(json.loads(text))
    except ValueError:
        return {}


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
