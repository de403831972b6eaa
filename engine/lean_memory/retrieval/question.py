"""What a question asks for: its words with their weights, the predicates it is worded for, and whom it names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import dropwhile, pairwise, takewhile
from typing import cast

from lean_memory.domain import USER, name_key
from lean_memory.extraction.vocabulary import object_type
from lean_memory.store.lexical_text import is_unspaced

_WORD = re.compile(r"\w+", re.UNICODE)
_YEAR = re.compile(r"(?<!\w)(?:19|20)\d\d(?!\w)")
_LONGEST_NAME = 4
_LONGEST_QUESTION = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, read once."""

    words: tuple[str, ...]
    """Its words as typed, case-folded; runs of scripts without spaces are one word."""
    names: tuple[str, ...]
    """Name keys of everything in it that may be the name of an entity."""
    predicates: frozenset[str]
    """Predicates of the vocabulary that it is worded for, and open predicates that its words spell."""
    of_user: bool
    """Whether it speaks of the person whose memory it is."""
    of_self: bool
    """Whether it asks what holds of that person and nobody else: "where do I live", but not "where does my sister live"."""
    read_share: float
    """The share of its letters that an English model reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whether a question has one answer that later words replace, and the words by which such answers are known."""

    of_several: bool
    """It asks of more than one moment: a sum, an order, a difference, what was before."""
    of_now: bool
    """It says that it asks how things are now."""
    of_present: bool
    """It stands in the present or asks for yes or no, and asks of the person."""
    of_how_often: bool
    of_place: bool
    counted: tuple[str, ...]
    """What it asks the number of: "Korean", "restaurants"."""
    named: frozenset[str]
    """Its words that are written as names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The words by which values in a text are known that later ones replace."""

    numbers: Mapping[str, str]
    """Number words in digits: three -> 3, third -> 3rd."""
    number: re.Pattern[str]
    """Any of them."""
    days: frozenset[str]
    frequency: re.Pattern[str]
    """ "every other week", where numbers are in digits."""
    second: frozenset[str]
    """Words for whom one speaks to."""
    now: frozenset[str]
    """Words for the present."""
    stop: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    stop: str
    user: frozenset[str]
    asks: Mapping[str, tuple[tuple[str, ...], ...]]
    several: frozenset[str]
    spans: frozenset[str]
    past: frozenset[str]
    present: frozenset[str]
    yes_or_no: frozenset[str]
    asking: frozenset[str]
    others: frozenset[str]
    closer: frozenset[str]
    often: frozenset[str]
    places: frozenset[str]
    counts: tuple[str, ...]
    values: Values


def read_question(text: str) -> Question:
    """Read a question; works on any string."""
    words = tuple(word.casefold() for word in _WORD.findall(text))[:_LONGEST_QUESTION]
    data = _question_words()
    predicates = _predicates(words, data)
    return Question(
        words=words,
        names=_names(words),
        predicates=frozenset(predicates),
        of_user=any(word in data.user or word.startswith(("用户", "我")) for word in words),
        of_self=_is_of_self(words, predicates, data),
        read_share=_read_share(text),
    )


def read_asked(text: str) -> Asked:
    """Read what kind of answer a question wants; works on any string."""
    words = tuple(word.casefold() for word in _WORD.findall(text))[:_LONGEST_QUESTION]
    data = _question_words()
    joined = " ".join(words)
    counted = _counted(words, joined, data)
    of_time = any(word in data.spans for word in counted) and any(word in data.past for word in words)
    return Asked(
        of_several=of_time or _YEAR.search(text) is not None or _any_of(data.several, words, joined),
        of_present=_is_present(words, data),
        of_place=_any_of(data.places, words, joined),
        of_how_often=_any_of(data.often, words, joined),
        of_now=_any_of(data.values.now, words, joined),
        counted=counted,
        named=frozenset(word.casefold() for word in _WORD.findall(text)[1:] if word[0].isupper()),
    )


def value_words() -> Values:
    """The words by which values are known."""
    return _question_words().values


def stop_words() -> str:
    """Words that carry no content, as typed, between spaces."""
    return _question_words().stop


def _names(words: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for start in range(len(words)):
        for length in range(1, _LONGEST_NAME + 1):
            found.append(name_key(" ".join(words[start : start + length])))
        if words[start] and is_unspaced(words[start][0]):
            run = words[start]
            found += [run[i : i + n] for n in (2, 3, 4) for i in range(len(run) - n + 1)]
    return tuple(dict.fromkeys(name for name in found if name != USER))


def _counted(words: Sequence[str], joined: str, data: _Words) -> tuple[str, ...]:
    """The words after "how many", up to the first that carries no content."""
    lead = next((lead for lead in data.counts if f"{lead} " in joined), None)
    if lead is None:
        return ()
    rest = joined.partition(f"{lead} ")[2].split()
    return tuple(takewhile(lambda word: word not in data.values.stop, rest))


def _is_present(words: Sequence[str], data: _Words) -> bool:
    tense = next((word in data.present for word in words if word in data.present or word in data.past), False)
    return (tense or (bool(words) and words[0] in data.yes_or_no)) and any(word in data.user for word in words)


def _any_of(cues: frozenset[str], words: Sequence[str], joined: str) -> bool:
    """Whether one of the cues stands among the words; one of several words, or of a script without spaces, as it is."""
    return any(cue in joined if " " in cue or is_unspaced(cue[0]) else cue in words for cue in cues)


def _predicates(words: Sequence[str], data: _Words) -> set[str]:
    stems = {_stem(word) for word in words}
    joined = " ".join(words)
    best: dict[str, int] = {}
    for predicate, cues in data.asks.items():
        fit = max((len(cue) for cue in cues if all(_occurs(part, stems, joined) for part in cue)), default=0)
        if fit:
            best[predicate] = fit
    longest = max(best.values(), default=0)
    content = [word for word in words if word not in data.values.stop]
    open_slots = {"_".join(content[i : i + n]) for n in range(1, _LONGEST_NAME + 1) for i in range(len(content) - n + 1)}
    return {predicate for predicate, fit in best.items() if fit == longest} | open_slots


def _is_of_self(words: Sequence[str], predicates: set[str], data: _Words) -> bool:
    """Whether one of the predicates is asked for of "I" or "my"; who is somebody's friend is not asked of oneself alone."""
    cues = [cue for predicate in predicates & data.asks.keys() if object_type(predicate) != "person" for cue in data.asks[predicate]]
    if not cues or any(word in data.others for word in words):
        return False
    joined = " ".join(words)
    if any(f"{me}{cue[0]}" in joined for me in ("我", "我的", "我们") for cue in cues if is_unspaced(cue[0][0])):
        return True
    places = [place for place, word in enumerate(words) if word in ("my", "our")]
    if places:
        return all(_begins(words[place + 1 :], cues, data) for place in places)
    return any(word in ("i", "we") and before in data.asking for before, word in pairwise(words))


def _begins(words: Sequence[str], cues: Sequence[Sequence[str]], data: _Words) -> bool:
    """Whether the words begin with one of the cues, and not with the possessive of it: "my job", "my new job"."""
    rest = [_stem(word) for word in dropwhile(lambda word: word in data.closer, words)]
    return any(rest[: len(cue)] == list(cue) and rest[len(cue) : len(cue) + 1] != ["s"] for cue in cues)


def _occurs(part: str, stems: set[str], joined: str) -> bool:
    return part in joined if is_unspaced(part[0]) else part in stems


def _stem(word: str) -> str:
    """A word without the commonest English endings; enough to bring the words of a question and of a cue together."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _read_share(text: str) -> float:
    letters = [c for c in text if c.isalpha()]
    return sum(c < "ɐ" for c in letters) / len(letters) if letters else 1.0


@cache
def _question_words() -> _Words:
    data = tomllib.loads(files("lean_memory.retrieval").joinpath("question_words.toml").read_text("utf-8"))
    asks = cast("dict[str, list[str]]", data["asks"])
    updates = cast("dict[str, list[str]]", data["updates"])
    numbers = {word: value for value, spelled in cast("dict[str, str]", data["numbers"]).items() for word in spelled.split()}
    return _Words(
        several=frozenset(updates["several"]),
        spans=frozenset(updates["spans"]),
        past=frozenset(updates["past"]),
        present=frozenset(updates["present"]),
        yes_or_no=frozenset(updates["yes_or_no"]),
        asking=frozenset(str(data["asking"]).split()),
        others=frozenset(str(data["others"]).split()),
        closer=frozenset(str(data["closer"]).split()),
        often=frozenset(updates["often"]),
        places=frozenset(updates["places"]),
        counts=tuple(updates["counts"]),
        values=Values(
            numbers=numbers,
            number=re.compile(rf"\b(?:{'|'.join(numbers)})\b", re.IGNORECASE),
            frequency=re.compile("|".join(updates["frequencies"]), re.IGNORECASE),
            days=frozenset(updates["days"]),
            second=frozenset(updates["second"]),
            now=frozenset(updates["now"]),
            stop=frozenset(str(data["stop"]).split()),
        ),
        stop=str(data["stop"]),
        user=frozenset(str(data["user"]).split()),
        asks={predicate: tuple(tuple(_stem(part) for part in cue.split()) for cue in cues) for predicate, cues in asks.items()},
    )
