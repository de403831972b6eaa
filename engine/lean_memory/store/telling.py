"""Proposals that tell of what is erased by the way: in a reason, in a search that they would change, under a name."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

import apsw

from lean_memory.store.lexical_text import is_unspaced

_FORGOTTEN = "Why this was proposed has been forgotten."
_WORD = re.compile(r"\w+")


def erase_proposals(con: apsw.Connection, texts: Iterable[str]) -> None:
    """Erase one of the texts from every proposal in which it stands, however it is written: letters, blanks and punctuation do not matter.

    A proposal of which more than the reason and the effects tells of it goes whole.
    Numbers of one or two figures are no trace: they stand everywhere.
    """
    sought = {words for text in texts if not _is_everywhere(words := _words(text))}
    whole = {words for words in sought if not is_unspaced(words[1])}
    parts = {words.strip() for words in sought - whole}
    rows = cast("list[tuple[int, str, str, str | None]]", con.execute("SELECT id, entity, evidence, decision FROM proposal").fetchall())
    for row, entity, evidence, decision in rows if sought else ():
        told, rest = json.loads(evidence), json.loads(decision or "null")
        if not _tells((entity, told, rest), whole, parts):
            continue
        # What it shows by the way is left out; a decision can then still be taken back, and what was refused does not come back.
        told = _with_less(told, whole, parts)
        if _tells((entity, told, rest), whole, parts):
            con.execute("DELETE FROM proposal WHERE id = ?", (row,))
        else:
            con.execute("UPDATE proposal SET evidence = ?, revision = revision + 1 WHERE id = ?", (json.dumps(told), row))


def _with_less(evidence: object, whole: Collection[str], parts: Collection[str]) -> object:
    if not isinstance(evidence, dict):
        return evidence
    told = dict(cast("dict[str, object]", evidence))
    told["effects"] = list[object]()
    if _tells(told.get("reason"), whole, parts):
        told["reason"] = _FORGOTTEN
    return told


def _tells(told: object, whole: Collection[str], parts: Collection[str]) -> bool:
    words = "".join(_words(text) for text in _strings(told))
    return any(each in words for each in whole) or any(each in words for each in parts)


def _words(text: str) -> str:
    """The words of a text in one way of writing, with a blank before and behind each run of them."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def _is_everywhere(words: str) -> bool:
    bare = words.strip()
    return not bare or (bare.isdigit() and len(bare) < 3)


def _strings(told: object) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, (list, tuple)):
        for each in cast("Sequence[object]", told):
            yield from _strings(each)
    elif isinstance(told, dict):
        for each in cast("dict[str, object]", told).values():
            yield from _strings(each)
