"""What the person sees and answers. stdout carries results, stderr everything else.

Text that other people or programs wrote is shown, never obeyed: control characters, which could drive the terminal, and characters
that the console's encoding lacks are written as escapes.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PIPED_WIDTH = 100_000
_FIRST_FREE = 3
"""The lowest number of a file that is no standard stream."""
_UNBROKEN = frozenset(["#", "since", "until", "learned", "score", "id"])
"""Columns whose cells are short and worthless in pieces."""


def settle_streams() -> None:
    """Let both streams write any text, whatever the encoding of the console behind them; one that was closed leads nowhere."""
    _put_something_in_closed_places()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def printable(text: str, stream: TextIO | None = None) -> str:
    """`text` on one line, with every character that must not or cannot reach the console written as an escape."""
    encoding = (stream or sys.stdout).encoding or "utf-8"
    safe = "".join(_shown(character) for character in " ".join(text.split()))
    return safe.encode(encoding, "backslashreplace").decode(encoding)


def say(text: str = "", *, indent: int = 0) -> None:
    """One line of a result on stdout, `indent` spaces from the margin."""
    print((" " * indent + printable(text)).rstrip())


def complain(text: str, *, indent: int = 0) -> None:
    """One sentence on stderr."""
    print(" " * indent + printable(text, sys.stderr), file=sys.stderr)


def counted(number: int, thing: str) -> str:
    """So many of a thing whose plural has an s: `1 fact`, `2 facts`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def write_json(value: object) -> None:
    """One JSON document on stdout, in ASCII, so that no console and no pipe can change it."""
    print(json.dumps(value, ensure_ascii=True, indent=2))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout without the columns that are empty in every row; fitted to the terminal, unbroken lines in a file or a pipe."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, highlight=False, markup=False, emoji=False)
    used = [number for number in range(len(headings)) if any(row[number] for row in rows)]
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number in used:
        drawn.add_column(headings[number], overflow="fold", no_wrap=headings[number] in _UNBROKEN)
    for row in rows:
        drawn.add_row(*(Text(printable(row[number])) for number in used))
    console.print(drawn)


def progress(total: int, what: str) -> Any:
    """A progress bar on stderr, as a context manager with `.advance(n)`; it draws nothing where stderr is no terminal."""
    return _Bar(total, what)


def can_ask() -> bool:
    """Whether a person sits in front of this process."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """What the person answers; the empty string at the end of input."""
    print(printable(question, sys.stderr), end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


class _Bar:
    def __init__(self, total: int, what: str) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
        self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, count: int) -> None:
        self._progress.advance(self._task, count)

    def reach(self, share: float) -> None:
        """Show that so much of all is done, 0 to 1."""
        self._progress.update(self._task, completed=100 * share)


def _put_something_in_closed_places() -> None:
    """A file that is opened later would get the number of a closed stream, and with it whatever is printed."""
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    while (place := os.open(os.devnull, os.O_RDWR)) < _FIRST_FREE:
        pass
    os.close(place)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _shown(character: str) -> str:
    if character in _OVERRIDES or unicodedata.category(character) in ("Cc", "Cs"):
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character
