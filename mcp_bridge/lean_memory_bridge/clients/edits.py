"""Changes of a text, as data: they can be applied, written down, and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """At offset `at` of a text (in characters), `removed` stands and gives way to `inserted`."""

    at: int
    removed: str = ""
    inserted: str = ""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """`text` after all the edits, whose offsets are those of `text`; raises `ValueError` where they overlap or do not fit it."""
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.at):
        end = edit.at + len(edit.removed)
        if edit.at < done or text[edit.at : end] != edit.removed:
            raise ValueError("The edits do not fit the text.")
        pieces += [text[done : edit.at], edit.inserted]
        done = end
    return "".join([*pieces, text[done:]])


def inverted(edits: Iterable[Edit]) -> Sequence[Edit]:
    """The edits that make the text before out of the text after."""
    turned: list[Edit] = []
    shift = 0
    for edit in sorted(edits, key=lambda edit: edit.at):
        turned.append(Edit(at=edit.at + shift, removed=edit.inserted, inserted=edit.removed))
        shift += len(edit.inserted) - len(edit.removed)
    return turned
