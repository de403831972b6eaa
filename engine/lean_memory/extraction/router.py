"""The third pass: which sentences go on to the typing model. Pure, biased to recall, and bounded by what its own counts show.

A sentence goes on when one of its facts is unsure, when it is not clear whom a fact is about, or when it gave nothing better than a
plain statement although it speaks of work, family, health, home or possessions. What an assistant says of the world never does.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import cast

from lean_memory.domain import STATES, Candidate, Trust
from lean_memory.extraction import vocabulary
from lean_memory.extraction.gliner import DISPUTED, UNRESOLVED
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.told import Told

_BRIEF = 5
"""A sentence of fewer words (or pairs of characters, where words are not set apart) says little."""


class Reason(StrEnum):
    """Why a sentence goes on."""

    LOW_CONFIDENCE = "low confidence"
    UNRESOLVED = "unresolved reference"
    INFERENCE = "inference"
    AMBIGUOUS = "ambiguous"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A sentence that goes on, why, and the candidates that it is about; none where the passes before found nothing in it."""

    said: Told
    reasons: tuple[Reason, ...]
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How much goes on: what was looked at (candidates, and sentences without one that go on), what of it escalated, and why."""

    candidates: int = 0
    escalated: int = 0
    by_reason: Mapping[Reason, int] = field(default_factory=dict[Reason, int])
    """Sentences by reason; one may have several."""

    @property
    def share(self) -> float:
        """The share that escalates, 0 to 1."""
        return self.escalated / self.candidates if self.candidates else 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            candidates=self.candidates + other.candidates,
            escalated=self.escalated + other.escalated,
            by_reason=dict(Counter(self.by_reason) + Counter(other.by_reason)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signals:
    """The words of one language, compiled; `None` where it has no list."""

    patterns: Mapping[str, re.Pattern[str]]

    def has(self, name: str, text: str) -> bool:
        return name in self.patterns and self.patterns[name].search(text) is not None

    def count(self, name: str, text: str) -> int:
        return len({found[0].casefold() for found in self.patterns[name].finditer(text)}) if name in self.patterns else 0


def route(said: Iterable[Told], *, contested: Iterable[Candidate] = ()) -> tuple[list[Escalation], Tally]:
    """The sentences that go on, in order, and the count. `contested` are candidates that may or may not replace what is known."""
    disputed = {(c.span.start, c.predicate, c.object) for c in contested}
    made: list[Escalation] = []
    looked_at = escalated = 0
    for each in said:
        looked_at += len(each.candidates)
        found = _escalation(each, disputed)
        if found:
            made.append(found)
            escalated += max(1, len(found.candidates))
            looked_at += not found.candidates
    counted = Counter(reason for each in made for reason in each.reasons)
    return made, Tally(candidates=looked_at, escalated=escalated, by_reason=dict(counted))


def weight(said: Told) -> tuple[float, bool]:
    """How much a sentence looks as if it held a fact that nobody has typed, and whether a pronoun stands for somebody in it."""
    words, weights = _signals(said.pack.code), _settings()["weights"]
    text, pack = said.text, said.pack
    life = words.count("life", text) + sum(1 for kin in _kin(pack).findall(text)[:1] if not words.has("loose_kin", kin))
    pointed = words.has("pointed", text) or words.has("several", text)
    total = (weights["life"] + weights["more"] * (life - 1)) if life else 0.0
    total += sum(
        weights[name] for name in ("likely", "holding", "ongoing", "pointed", "several", "concluded", "addressed") if words.has(name, text)
    )
    length = len(text.split()) if pack.spaces else len(text) // 2
    total += weights["brief"] if length < _BRIEF else 0.0
    total += weights["aside"] if text.startswith("[") else 0.0
    if not _speaks_of_self(text, pack):
        total += weights["others" if pointed else "nobody"]
    return total, pointed


def is_contestable(predicate: str) -> bool:
    """Whether a new value of the predicate may replace an old one although one may have many."""
    return predicate in cast("Sequence[str]", cast("Mapping[str, object]", _data()["limits"])["contestable"])


def _escalation(said: Told, disputed: set[tuple[int, str, str]]) -> Escalation | None:
    if any(candidate.trust is Trust.INFERRED for candidate in said.candidates):
        return None
    reasons: dict[Reason, None] = {}
    about: list[Candidate] = []
    for candidate in said.candidates:
        why = _doubts(candidate, said.pack)
        if (candidate.span.start, candidate.predicate, candidate.object) in disputed:
            why = [*why, Reason.CONTRADICTION]
        if why:
            about.append(candidate)
            reasons.update(dict.fromkeys(why))
    # An open slot ("number_of_project") says nothing of what else the sentence lets conclude.
    typed = [candidate for candidate in said.candidates if candidate.predicate in _relations()]
    plain = [candidate for candidate in said.candidates if candidate.predicate not in _relations()]
    total, pointed = weight(said)
    limits = _settings()["limits"]
    if total >= limits["escalate"] + (limits["typed"] if typed and not plain else 0.0) - 1e-9:
        reasons[Reason.UNRESOLVED if pointed else Reason.INFERENCE] = None
        about.extend(candidate for candidate in plain or typed[:1] if candidate not in about)
    return Escalation(said=said, reasons=tuple(reasons), candidates=tuple(about)) if reasons else None


@cache
def _relations() -> frozenset[str]:
    return frozenset(vocabulary.predicates()) - {STATES}


def _doubts(candidate: Candidate, pack: Pack) -> list[Reason]:
    """What is unsure about one candidate by itself."""
    why: list[Reason] = []
    if candidate.confidence < _settings()["limits"]["low_confidence"]:
        why.append(Reason.LOW_CONFIDENCE)
    if UNRESOLVED in candidate.reasons or (candidate.predicate != STATES and _is_pointing(candidate, pack)):
        why.append(Reason.UNRESOLVED)
    if candidate.is_inference:
        why.append(Reason.INFERENCE)
    if DISPUTED in candidate.reasons:
        why.append(Reason.AMBIGUOUS)
    return why


def _is_pointing(candidate: Candidate, pack: Pack) -> bool:
    """Whether an end of a fact only points: "there", "it", "the same place as her"."""
    third = pack.word_sets.get("third", frozenset[str]())
    return candidate.object.casefold() in third or candidate.subject.casefold() in third


def _speaks_of_self(text: str, pack: Pack) -> bool:
    selves = pack.word_sets.get("first", frozenset[str]()) | pack.word_sets.get("my", frozenset[str]())
    if not pack.spaces:
        return any(word in text for word in selves)
    return any(word.partition("'")[0].partition("’")[0] in selves for word in re.split(r"[^\w'’]+", text.casefold())) or bool(
        _first(pack).search(text)
    )


@cache
def _first(pack: Pack) -> re.Pattern[str]:
    words = sorted(pack.word_sets.get("first", frozenset[str]()), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words)) or '(?!)'})\b", re.IGNORECASE)


@cache
def _kin(pack: Pack) -> re.Pattern[str]:
    """The pack's words of kinship with the speaker's own before them: "my sister"."""
    kin = "|".join(map(re.escape, sorted(pack.kin, key=len, reverse=True))) or "(?!)"
    mine = "|".join(map(re.escape, sorted(pack.word_sets.get("my", frozenset[str]()), key=len, reverse=True))) or "(?!)"
    return re.compile(rf"\b(?:{mine}) (?:{kin})\b" if pack.spaces else rf"(?:{mine})(?:{kin})", re.IGNORECASE)


@cache
def _signals(code: str) -> _Signals:
    rows = cast("Mapping[str, Sequence[str]]", _data().get(code, {}))
    bounds = ("", "") if code in {"zh", "ja"} else (r"(?<!\w)", r"(?!\w)")
    return _Signals(
        patterns={name: re.compile(f"{bounds[0]}(?:{'|'.join(sources)}){bounds[1]}", re.IGNORECASE) for name, sources in rows.items()}
    )


def _settings() -> Mapping[str, Mapping[str, float]]:
    return cast("Mapping[str, Mapping[str, float]]", _data())


@cache
def _data() -> Mapping[str, object]:
    return tomllib.loads(files("lean_memory.extraction").joinpath("router.toml").read_text("utf-8"))
