"""Says in full what a sentence leaves out because it was named just before: "three different ones", "five sessions".

A pack's `[[antecedent]]` rows say where something is missing (`at`), what names it in the words before (`named`, whose group N
is the name; the last one counts), and what is told instead (`told`, a replacement in which {} stands for the name).
"""

from __future__ import annotations

from collections.abc import Iterable
from re import Pattern

from lean_memory.extraction.pack import Pack

_FARTHEST = 500
"""How many characters before a sentence are looked through for the name."""


def completed(text: str, before: str, pack: Pack) -> str:
    """The sentence with what it leaves out, where its own words before that place or those `before` it name it."""
    for at, named, told in pack.antecedents:
        place = at.search(text)
        if place is None:
            continue
        name = _last_named(named, (text[: place.start()], before[-_FARTHEST:]))
        if name:
            text = text[: place.start()] + place.expand(told).replace("{}", name) + text[place.end() :]
    return text


def _last_named(named: Pattern[str], texts: Iterable[str]) -> str | None:
    """The nearest name: the last of the nearest text that has any."""
    for said in texts:
        found = [match["N"] for match in named.finditer(said)]
        if found:
            return found[-1]
    return None
