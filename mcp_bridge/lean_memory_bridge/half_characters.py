"""Characters that were cut in two: half of an emoji, as a program leaves it that cuts a text at a number of UTF-16 units.

JSON can name such a half; the library that reads what MCP clients send refuses the whole message for it, with an error that tells an assistant
nothing. So a half becomes the replacement character, of the same length, and the message is marked.
"""

from __future__ import annotations

import re
from typing import cast

from starlette.types import Message, Receive, Scope

REPLACEMENT = "\ufffd"

_MARK = "lean_memory.half_character"
_SUSPICIOUS = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]|\\\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]"
)
"""Nothing of it is in a text whose escaped characters are whole, as clients write them that send ASCII alone: those are not gone through."""
_PIECES = re.compile(
    rb"(?P<whole>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<raw>\xed[\xa0-\xbf][\x80-\xbf])|\\.",
    re.DOTALL,
)


class Mended:
    """The body of a request without half characters; `limit` is the most bytes it is looked through for."""

    def __init__(self, receive: Receive, scope: Scope, limit: int) -> None:
        self._receive, self._scope, self._limit = receive, scope, limit
        self._ready: list[Message] = []
        self._begun = False

    async def receive(self) -> Message:
        """The next message of the server's."""
        if not self._begun:
            self._begun = True
            await self._take_in()
        return self._ready.pop(0) if self._ready else await self._receive()

    async def _take_in(self) -> None:
        held = bytearray()
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                self._ready = [message]
                return
            held += message.get("body", b"")
            is_last = not message.get("more_body", False)
            if is_last or len(held) > self._limit:
                body, is_mended = mended(bytes(held)) if is_last else (bytes(held), False)
                if is_mended:
                    self._scope[_MARK] = True
                self._ready = [{"type": "http.request", "body": body, "more_body": not is_last}]
                return


def mended(body: bytes) -> tuple[bytes, bool]:
    """A JSON text in which every half character is the replacement character, and whether there was any. As long as before."""
    if _SUSPICIOUS.search(body) is None:
        return body, False
    made = _PIECES.sub(_whole, body)
    return made, made != body


def had_half_characters(scope: object) -> bool:
    """Whether the body of the request with this scope was mended."""
    return bool(cast("dict[str, object]", scope).get(_MARK))


def may_have_been_half(value: object) -> bool:
    """Whether a value, as it was read, may have held a half."""
    match value:
        case str():
            return REPLACEMENT in value
        case list() | tuple():
            return any(map(may_have_been_half, cast("list[object]", value)))
        case dict():
            return any(map(may_have_been_half, cast("dict[str, object]", value).values()))
        case _:
            return False


def _whole(found: re.Match[bytes]) -> bytes:
    if found["half"]:
        return b"\\ufffd"
    return REPLACEMENT.encode() if found["raw"] else found[0]
