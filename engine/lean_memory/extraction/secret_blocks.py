"""Private keys that stand in a text as a block of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lean_memory.extraction.secret_values import Find

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = re.compile(r"^PuTTY-User-Key-File-\d:", re.MULTILINE)
_KEY_LINE = re.compile(r"[ \t>|]*(?:[A-Za-z0-9+/=]{1,200}|[A-Za-z-]{1,40}: [^\n]{0,200}|)[ \t]*\r?(?:\n|\Z)")
_LONGEST_NAME = 80
_PUTTY_END = "Private-MAC:"


def private_keys(text: str) -> Iterator[Find]:
    """The private keys of a text; one that is cut off ends where its lines end."""
    if "-----BEGIN " in text:
        yield from _armoured(text)
    if "PuTTY-User-Key-File-" in text:
        yield from _putty(text)


def _armoured(text: str) -> Iterator[Find]:
    at, end = 0, -1
    while (begin := _BEGIN.search(text, at)) is not None:
        # Looked for once, not again from every beginning.
        if end < begin.end():
            found = text.find("-----END ", begin.end())
            end = len(text) if found == -1 else found
        other = text.find("-----BEGIN ", begin.end(), end)
        at = _after_dashes(text, end) if other == -1 and end < len(text) else _after_lines(text, begin.end())
        yield Find(start=begin.start(), end=at, kind="private key")


def _after_dashes(text: str, end: int) -> int:
    start = end + len("-----END ")
    closing, line = text.find("-----", start, start + _LONGEST_NAME), text.find("\n", start, start + _LONGEST_NAME)
    stops = [stop for stop in (closing + 5 if closing != -1 else -1, line) if stop != -1]
    return min(stops, default=min(len(text), start + _LONGEST_NAME))


def _after_lines(text: str, start: int) -> int:
    """Behind what may be lines of a key, real line breaks or written ones."""
    at = start
    if text.startswith("\\n", at):
        return _written(text, at)
    if text.startswith(("\n", "\r\n"), at):
        at = text.index("\n", at) + 1
    while at < len(text) and (line := _KEY_LINE.match(text, at)) is not None and line.end() > at:
        at = line.end()
    return at


def _written(text: str, start: int) -> int:
    body = re.compile(r"(?:\\n|[A-Za-z0-9+/=])+").match(text, start)
    return body.end() if body else start


def _putty(text: str) -> Iterator[Find]:
    at = 0
    while (head := _PUTTY.search(text, at)) is not None:
        mac = text.find(_PUTTY_END, head.end())
        line = text.find("\n", mac) if mac != -1 else -1
        at = len(text) if line == -1 else line
        yield Find(start=head.start(), end=at, kind="private key")
