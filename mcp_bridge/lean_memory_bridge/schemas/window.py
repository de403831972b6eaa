"""How a browser is let in."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lean_memory_bridge.schemas.base import Answer, Request


class WindowCode(Answer):
    """A code for one browser, to be used once and within `seconds`."""

    code: str
    seconds: float


class WindowEntry(Request):
    """A code that a browser was given."""

    code: Annotated[str, Field(min_length=1, max_length=200)]


class WindowKey(Answer):
    """What the page sends in the header `X-Lean-Memory-Window` with every request, beside the cookie."""

    key: str


class WindowLeft(Answer):
    """The cookie was taken out of the browser."""

    left: bool
