"""The first transaction of an addition: what is said is stored, without the sentences that the person had erased.

What was forgotten is looked up inside the transaction that stores, so that no forgetting comes between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import tzlocal

from lean_memory.arguments import client_of, flag_of, instant_of, source_of, text_of, timezone_of
from lean_memory.domain import Episode, EpisodeId, Instant, Source
from lean_memory.extraction.sentences import passages
from lean_memory.store.cutting import cut, is_wordless
from lean_memory.store.namespace_store import NewEpisode, WriteTransaction
from lean_memory.store.tombstones import Claim
from lean_memory.store.wording import Words, words_of


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
    uid: EpisodeId | None = None
    """The id that its episode is to have, so that it is stored once however often it is added."""


def addition_of(item: Mapping[str, object], *, now: Instant, timezone: str | None) -> Addition:
    """The addition that a mapping with the arguments of `add` means: said `now` in `timezone`, else the system's, where it does not say."""
    return Addition(
        text=text_of(item.get("text")),
        t_ref=now if item.get("t_ref") is None else instant_of(item["t_ref"], "t_ref"),
        tz=timezone_of(timezone or tzlocal.get_localzone_name() if item.get("tz") in (None, "") else item["tz"]),
        source=source_of(item.get("source", "user")),
        client=client_of(item.get("client")),
        relearn=flag_of(item.get("relearn", False), "relearn"),
    )


class Said:
    """An addition and its words, which are looked at once, and only where something in it may be forgotten."""

    def __init__(self, addition: Addition) -> None:
        self.addition = addition
        self.whole = _new_episode(addition)
        self._words: Words | None = None

    def split(self) -> Words:
        """The words of the text."""
        if self._words is None:
            self._words = words_of(self.addition.text)
        return self._words


def keep(tx: WriteTransaction, said: Said) -> tuple[Episode | None, int]:
    """Store what is left of a text without the sentences that the person had erased, if anything is; and how many those are.

    Nothing is stored of what has an id by which it is there already.
    """
    uid = said.addition.uid
    if uid is not None and tx.has_episode(uid):
        return None, 0
    if not tx.has_tombstones():
        return tx.record(said.whole), 0
    text = said.addition.text
    if said.addition.relearn:
        tx.lift_tombstone(Claim(sentence=text))
    gone = tx.forgotten_stretches(text, said.split())
    if not gone:
        return tx.record(said.whole), 0
    left = cut(text, gone).text
    if is_wordless(left):
        return None, len(gone)
    return tx.record(_new_episode(replace(said.addition, text=left))), len(gone)


def _new_episode(a: Addition) -> NewEpisode:
    return NewEpisode(text=a.text, source=a.source, client=a.client, t_ref=a.t_ref, tz=a.tz, passages=passages(a.text), uid=a.uid)
