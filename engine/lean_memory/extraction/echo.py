"""What the memory has served lately, so that it is not taken for new evidence when it comes back.

A ledger in memory, bounded in number and time. Nothing that ranks reads it, and a text is an echo only where it says the very same.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

from lean_memory.domain import STATES, Act, Candidate, Fact, FactId, Instant, Modality, Polarity, RecordKind, Source, name_key, value_key
from lean_memory.forking import Mutex

WINDOW_MS = 24 * 60 * 60 * 1000
"""For how long what was served may come back as an echo."""

_MOST = 1_000
_LONGEST = 400
_EDGES = ".,;:!?…\"'“”‘’«»()[]—–-。，、！？；：「」『』"
_SHORTEST_STEM = 3
_VERB_AMONG = 2
"""Among how many of the first words a verb may have another ending for another person."""

_Words = tuple[str, ...]
_Value = tuple[str, str]
_Slot = tuple[str, str, str, Polarity, Modality]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A fact that was given in answer, and when it was given last."""

    fact_id: FactId
    subject: str
    predicate: str
    object: str
    at: Instant


class Ledger:
    """The facts that were served lately, by what they say. Safe to use from several threads.

    They are only put on a list when they are served; what they say is worked out when something comes in.
    """

    def __init__(self) -> None:
        self._noted: deque[tuple[Fact, Instant]] = deque(maxlen=_MOST)
        self._by_words: OrderedDict[_Words, dict[_Value, Served]] = OrderedDict()
        self._by_slot: OrderedDict[_Slot, Served] = OrderedDict()
        self._lock = Mutex()

    def note(self, facts: Iterable[Fact], at: Instant) -> None:
        """Facts are served at a moment."""
        with self._lock.held:
            self._noted.extend((fact, at) for fact in facts if fact.record_kind is not RecordKind.PASSAGE)

    def echoed(self, candidate: Candidate, *, source: Source, t_ref: Instant) -> Served | None:
        """What a statement said at `t_ref` only gives back, if it was served in the time before.

        A person's words are an echo where they are those of the fact but for who is spoken to; others' also where the value is the
        same. What says since when, until when, or that something is over, is none.
        """
        if candidate.act is not Act.ASSERT or candidate.valid_at is not None or candidate.valid_to is not None:
            return None
        with self._lock.held:
            self._take_in()
            served = _same(self._by_words.get(content(candidate.fact_text), {}), candidate)
            if served is None and source is not Source.USER:
                served = self._by_slot.get(_slot(candidate))
        return served if served is not None and 0 <= t_ref - served.at <= WINDOW_MS else None

    def clear(self) -> None:
        """Forget what was served."""
        with self._lock.held:
            self._noted.clear()
            self._by_words.clear()
            self._by_slot.clear()

    def _take_in(self) -> None:
        newest = {fact.id: (fact, at) for fact, at in self._noted}
        self._noted.clear()
        for fact, at in newest.values():
            served = Served(fact_id=fact.id, subject=fact.subject, predicate=fact.predicate, object=fact.object, at=at)
            words = content(fact.fact_text)
            if words:
                self._by_words.setdefault(words, {})[_value(fact)] = served
                self._by_words.move_to_end(words)
            self._by_slot[_slot(fact)] = served
            self._by_slot.move_to_end(_slot(fact))
        for kept in (self._by_words, self._by_slot):
            while len(kept) > _MOST:
                kept.popitem(last=False)


def _same(served: Mapping[_Value, Served], candidate: Candidate) -> Served | None:
    """Of the facts with a sentence, the one that a candidate of the same sentence gives back; one kept whole gives back any of them."""
    predicate, key = _value(candidate)
    alike = next((one for (_, other), one in served.items() if other == key), None)
    either = next(iter(served.values()), None) if predicate == STATES else None
    return served.get((predicate, key)) or alike or either


def _value(said: Candidate | Fact) -> _Value:
    return said.predicate, value_key(said.object or said.fact_text)


def content(text: str) -> _Words:
    """What a sentence says without who is spoken to and where it is known from; in order, so that who does what to whom still counts."""
    if len(text) > _LONGEST:
        return (value_key(text),)
    return tuple(_words(_led(unicodedata.normalize("NFC", text).strip())))


def _slot(said: Candidate | Fact) -> _Slot:
    return (name_key(said.subject), said.predicate, value_key(said.object or said.fact_text), said.polarity, said.modality)


def _led(text: str) -> str:
    lead = _lead().match(text)
    while lead is not None and lead.end() < len(text):
        text = text[lead.end() :]
        lead = _lead().match(text)
    return text


def _words(text: str) -> Iterator[str]:
    number = 0
    for piece in (_stretches().sub(" ", text) if not text.isascii() else text).split():
        word = piece.strip(_EDGES).replace("’", "'")
        for part in _opened().get(word.casefold(), word).split():
            if part.casefold() not in _dropped():
                is_verb = number < _VERB_AMONG and (part.islower() or number == 0)
                yield _stem(part.casefold()) if is_verb else part.casefold()
                number += 1


def _stem(word: str) -> str:
    ending = next((e for e in _endings() if word.endswith(e) and len(word) - len(e) >= _SHORTEST_STEM), "")
    return _stem(word[: -len(ending)]) if ending and word.isalpha() else word


@cache
def _data() -> Mapping[str, object]:
    return tomllib.loads(files("lean_memory.extraction").joinpath("echo.toml").read_text("utf-8"))


@cache
def _lead() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{lead})" for lead in cast("list[str]", _data()["leads"])), re.IGNORECASE)


@cache
def _dropped() -> frozenset[str]:
    return frozenset(cast("list[str]", _data()["dropped"]))


@cache
def _stretches() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, cast("list[str]", _data()["dropped_stretches"]))))


@cache
def _endings() -> tuple[str, ...]:
    return tuple(cast("list[str]", _data()["endings"]))


@cache
def _opened() -> Mapping[str, str]:
    return cast("Mapping[str, str]", _data()["opened"])
