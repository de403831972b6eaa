"""The first transaction of an addition: what is said is stored, without the sentences that the person had erased.

What was forgotten is looked up inside the transaction that stores, so that no forgetting comes between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lean_memory.domain import Episode, Instant, Source
from lean_memory.extraction.sentences import Sentence, passages, sentences
from lean_memory.store.namespace_store import NewEpisode, WriteTransaction
from lean_memory.store.tombstones import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One thing to add: a text, when it was said (`t_ref`), in which time zone, by whom."""

    text: str
    t_ref: Instant
    tz: str
    source: Source = Source.USER
    client: str | None = None
    relearn: bool = False
    """Learn it even where the person had it erased before."""


class Said:
    """An addition and its sentences, which are looked for once, and only where one of them may be forgotten."""

    def __init__(self, addition: Addition) -> None:
        self.addition = addition
        self.whole = _new_episode(addition)
        self._sentences: list[Sentence] | None = None

    def split(self) -> list[Sentence]:
        """The sentences, in order."""
        if self._sentences is None:
            self._sentences = list(sentences(self.addition.text))
        return self._sentences


def keep(tx: WriteTransaction, said: Said) -> tuple[Episode | None, int]:
    """Store what is left of a text without the sentences that the person had erased, if anything is; and how many those are."""
    if not tx.has_tombstones():
        return tx.record(said.whole), 0
    if said.addition.relearn:
        for sentence in said.split():
            tx.lift_tombstone(Claim(sentence=sentence.text))
    gone = [sentence.span for sentence in said.split() if tx.is_tombstoned(Claim(sentence=sentence.text))]
    text = said.addition.text
    for span in reversed(gone):
        text = text[: span.start] + text[span.end :]
    if not text.strip():
        return None, len(gone)
    return tx.record(_new_episode(replace(said.addition, text=text)) if gone else said.whole), len(gone)


def _new_episode(a: Addition) -> NewEpisode:
    return NewEpisode(text=a.text, source=a.source, client=a.client, t_ref=a.t_ref, tz=a.tz, passages=passages(a.text))
