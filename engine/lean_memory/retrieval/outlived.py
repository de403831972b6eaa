"""What a later account of the same thing has outlived, seen from a question: of two counts of one thing, the newer answers.

It is about order alone. Nothing is retired: what is set back here is still true of its own day, and is found with history on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from lean_memory.domain import STATES, USER, Cardinality, Instant
from lean_memory.extraction import vocabulary
from lean_memory.extraction.sentences import sentences
from lean_memory.retrieval.candidates import Candidates
from lean_memory.retrieval.lexical import LexicalQuery
from lean_memory.retrieval.question import Asked, Values, value_words
from lean_memory.retrieval.scope import Scope
from lean_memory.retrieval.scoring import Scored
from lean_memory.store import lexical_text
from lean_memory.store.lexical_text import is_unspaced
from lean_memory.store.search_rows import entities_named, people_among, told_beside

_SHARED, _COVERED = 0.6, 0.35
"""Least share of the question's words in either account, by weight, that stand in both; and of all the question that both speak of."""
_SHARED_VALUE, _COVERED_VALUE = 0.4, 0.25
"""The same where each gives a number of the very thing that is counted, or of one unit."""
_SPEAKS_OF = 0.4
"""Least score of an account, as a share of the best one's."""
_AS_GOOD = 0.6
"""Least score of a newer account that names no number, as a share of the older one's."""

_QUANTITY = re.compile(
    r"(?P<money>[$€£¥]\s?)?(?<![A-Za-z\d.,/:])(?<![A-Za-z]-)(?P<number>\d[\d,]*(?:[.:/]\d+)*)(?:(?P<suffix>st|nd|rd|th|k|m)(?![A-Za-z]))?"
    r"(?![A-Za-z\d])(?P<percent>\s?%)?(?P<clock>\s?[ap]\.?m\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_CLOCK, _DAY = "clock", "day of the week"
_NAME = re.compile(r"(?<=[^.!?:\s]\s)[\"“'‘]?(?!I\b)[A-Z][\w&-]+")
_REACH = 40
"""Characters after a number in which what it counts is looked for."""
_MOST_BETWEEN = 3

_SHARED_PRESENT, _COVERED_PRESENT = 0.6, 0.4
"""The same for a question that only stands in the present."""
_HEAD = 80
_WORDS = 2
"""Least number of words that accounts without numbers share with the question: by one, they need not be of the same thing."""
_MOST_ACCOUNTS = 12

Tokens = Callable[[str], Sequence[str]]


def outlived_rows(scope: Scope, candidates: Candidates, scored: Scored, words: LexicalQuery, asked: Asked) -> NDArray[np.bool_]:
    """Which of the rows are of a passage whose answer to the question a newer one replaces, or of what was said beside it in one breath.

    Shape (rows,).
    """
    rows = candidates.rows
    found = np.zeros(len(rows), dtype=np.bool_)
    if asked.of_several or not words.terms:
        return found

    @cache
    def tokens(text: str) -> Sequence[str]:
        return lexical_text.tokens(scope.tx.connection, text)

    values = value_words()
    judge = Judge(
        asked=asked,
        values=values,
        # That it is "currently" so tells nothing of what is so.
        weights=[0.0 if term.word.typed in values.now else term.weight for term in words.terms],
        stems=[term.word.token for term in words.terms],
        named=frozenset(number for number, term in enumerate(words.terms) if term.word.typed in asked.named),
        tokens=tokens,
    )
    for passage in judge.outlived(_accounts(scope, candidates, scored, words)):
        episode = rows.episode[rows.passage == passage][0]
        found |= (rows.episode == episode) & (np.abs(rows.passage - passage) <= 1)
    return found


def beside_answered(candidates: Candidates, subjects: Set[int], predicates: Set[str]) -> NDArray[np.bool_]:
    """Which of the rows are facts that are past, planned, or somebody's words, while another states what is asked for; shape (rows,).

    Not those about somebody who is asked about too, and of whom nothing is stated: they may be the answer.
    """
    rows = candidates.rows
    asked = {(subject, predicate) for subject in subjects for predicate in predicates}
    answered = {
        slot[0] for slot, stated in zip(rows.slot, rows.asserted.tolist(), strict=True) if slot is not None and slot in asked and stated
    }
    if not answered:
        return np.zeros(len(rows), dtype=np.bool_)
    open_still = np.array([slot is not None and slot[0] in subjects and slot[0] not in answered for slot in rows.slot], dtype=np.bool_)
    return rows.is_fact & ~rows.asserted & ~open_still


def beside_ended(scope: Scope, candidates: Candidates, subjects: Set[int], predicates: Set[str]) -> NDArray[np.bool_]:
    """Which of the rows are facts whose sentence gave an answer that is over, and which are none themselves; shape (rows,).

    The answer is a fact of one of the predicates that are asked for, of one of the subjects.
    """
    rows = candidates.rows
    asked = {(subject, predicate) for subject in subjects for predicate in predicates}
    others = [int(rows.row_id[place]) for place, slot in enumerate(rows.slot) if slot is not None and slot not in asked] if asked else []
    over = {row for row, beside, *slot in told_beside(scope.tx.connection, others) if tuple(slot) in asked and not scope.visible([beside])}
    return np.isin(rows.row_id, list(over))


def _accounts(scope: Scope, candidates: Candidates, scored: Scored, words: LexicalQuery) -> list[Account]:
    """The best of the passages that a person said, each with its best score; one of which facts alone are seen, as its best fact."""
    rows = candidates.rows
    scores = scored.in_context + scored.slot
    best: dict[int, float] = {}
    shown: dict[int, int] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        passage = int(rows.passage[place])
        best.setdefault(passage, float(scores[place]))
        if passage not in shown or (rows.is_fact[shown[passage]] and not rows.is_fact[place]):
            shown[passage] = place
    chosen = [shown[passage] for passage in best if not rows.by_assistant[shown[passage]]][:_MOST_ACCOUNTS]
    held = words.counts(rows.row_id) > 0
    speaker = entities_named(scope.tx.connection, [USER])
    people, stated = _people(scope, candidates, speaker), _stated(candidates, speaker)
    texts = scope.tx.texts(int(rows.row_id[place]) for place in chosen)
    return [
        Account(
            passage=int(rows.passage[place]),
            said_at=Instant(int(rows.said_at[place])),
            text=texts.get(int(rows.row_id[place]), ""),
            score=best[int(rows.passage[place])],
            own=_words(held, [place]),
            in_slot=_is_in_slot(rows.slot[place], speaker),
            people=people.get(int(rows.passage[place]), frozenset()),
            is_stated=stated.get(int(rows.passage[place]), True),
            words=_words(held, [place, int(candidates.before[place])]),
        )
        for place in chosen
    ]


def _people(scope: Scope, candidates: Candidates, speaker: Set[int]) -> Mapping[int, frozenset[int]]:
    """The people whom the facts of a passage are about, by passage; the speaker is one of them, as 0.

    A plain statement's subject may be anything that stands there, and that Paul is my brother tells of Paul.
    """
    rows = candidates.rows
    about = [
        (passage, slot[0])
        for passage, slot in zip(rows.passage.tolist(), rows.slot, strict=True)
        if slot is not None and slot[1] != STATES and vocabulary.predicate(slot[1]).object_type != "person"
    ]
    people = people_among(scope.tx.connection, {subject for _, subject in about})
    found: dict[int, frozenset[int]] = {}
    for passage, subject in about:
        if subject in speaker or subject in people:
            found[passage] = found.get(passage, frozenset()) | {0 if subject in speaker else subject}
    return found


def _stated(candidates: Candidates, speaker: Set[int]) -> Mapping[int, bool]:
    """Whether one of the facts that tell it is stated to be so, by passage; they are those in slots of the vocabulary, else of somebody else."""
    rows = candidates.rows
    known = frozenset(vocabulary.predicates()) - {STATES}
    found: dict[bool, dict[int, bool]] = {True: {}, False: {}}
    for passage, slot, asserted in zip(rows.passage.tolist(), rows.slot, rows.asserted.tolist(), strict=True):
        if slot is not None and (slot[1] in known or slot[0] not in speaker):
            told = found[slot[1] in known]
            told[passage] = told.get(passage, False) or asserted
    return {**found[False], **found[True]}


def _is_in_slot(slot: tuple[int, str] | None, speaker: Set[int]) -> bool:
    return slot is not None and slot[0] not in speaker and vocabulary.cardinality(slot[1]) is Cardinality.FUNCTIONAL


def _words(held: NDArray[np.bool_], places: Iterable[int]) -> frozenset[int]:
    return frozenset(int(word) for place in places if place >= 0 for word in np.flatnonzero(held[place]))


@dataclass(frozen=True, kw_only=True)
class Account:
    """A passage that speaks of what is asked.

    `own` are the words of the question, by number, in it, and `words` those in what was said before it as well: an older account may
    lean on that, but what merely follows one is none.
    """

    passage: int
    said_at: Instant
    text: str
    score: float
    own: frozenset[int]
    words: frozenset[int]
    in_slot: bool = False
    """It is one fact about the world in a slot for one value: that slot says when it is over. Of oneself one speaks in too many ways."""
    people: frozenset[int] = frozenset()
    """Whom its facts are about, 0 being the speaker; empty where nobody is known."""
    is_stated: bool = True
    """Of the facts that tell whether it is so one is stated: not all are past, planned, or what somebody else said."""

    @cached_property
    def parts(self) -> Sequence[str]:
        """Its sentences."""
        return [each.text for each in sentences(self.text)]

    @cached_property
    def speaker(self) -> str | None:
        """Who says it, where it begins with a name."""
        return next((each.speaker for each in sentences(self.text[:_HEAD])), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number in a sentence, and the words after it that it may count; `units` are `$`, `%` or stems."""

    value: str
    units: frozenset[str]
    before: str
    """The word before it: "page 220"."""
    is_ordinal: bool
    is_bare: bool
    """Nothing after it that it could count: "I have 1300 now"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Decides for one question which accounts are outlived; `weights` are those of its words, `tokens` stems a text."""

    asked: Asked
    values: Values
    weights: Sequence[float]
    stems: Sequence[str]
    """The words of the question as the index holds them, in the order of `weights`."""
    named: frozenset[int]
    """Those of them that are names, by number: who speaks of Italy is not outlived by who speaks of Japan."""
    tokens: Tokens

    def outlived(self, accounts: Sequence[Account]) -> frozenset[int]:
        """The passages that a newer account of the same person answers better."""
        if self.asked.of_several or not accounts:
            return frozenset()
        best = max(each.score for each in accounts)
        able = sorted((each for each in accounts if each.score >= _SPEAKS_OF * best), key=lambda each: -each.said_at)
        return frozenset(
            older.passage
            for place, older in enumerate(able)
            if any(newer.said_at > older.said_at and self._outlives(newer, older) for newer in able[:place])
        )

    def _outlives(self, newer: Account, older: Account) -> bool:
        if older.in_slot or newer.speaker != older.speaker or not older.own & self.named <= newer.own:
            return False
        if (not newer.is_stated and 0 in older.people) or (not older.own & self.named and _of_different_people(newer, older)):
            return False
        if not self._share(newer, older, _SHARED_VALUE, _COVERED_VALUE):
            return False
        if self.asked.counted:
            return _differ(self._counts(newer), self._counts(older))
        if self.asked.of_how_often and _differ(self._often(newer), self._often(older)):
            return True
        return self._measures_anew(newer, older) or (self._asks_of_now(newer, older) and self._stands_for(newer, older))

    def _share(self, newer: Account, older: Account, of_either: float, of_all: float) -> bool:
        """Whether the words of the question that both speak of are those shares of what either does, and of all."""
        shared = self._weight(newer.own & older.words)
        return shared > 0.0 and shared >= of_either * self._weight(newer.own | older.words) and shared >= of_all * sum(self.weights)

    def _asks_of_now(self, newer: Account, older: Account) -> bool:
        """Whether the question says that it asks of now; in the present alone, both must speak of more of it."""
        if self.asked.of_now:
            return self._share(newer, older, _SHARED, _COVERED)
        return self.asked.of_present and self._share(newer, older, _SHARED_PRESENT, _COVERED_PRESENT)

    def _weight(self, words: frozenset[int]) -> float:
        return sum(self.weights[word] for word in words)

    def _counts(self, account: Account) -> frozenset[str]:
        """How many of what is counted an account says there are."""
        wanted = frozenset(stem for word in self.asked.counted for stem in self.tokens(word))
        named, found = False, set[str]()
        for part in account.parts:
            named_here = bool(wanted & set(self.tokens(part)))
            for quantity in self._quantities(part):
                if (
                    quantity.units & wanted
                    or wanted & set(self.tokens(quantity.before))
                    or ((named or named_here) and (quantity.is_bare or "ones" in quantity.units))
                ):
                    found.add(quantity.value)
            named = named_here
        return frozenset(found)

    def _measures_anew(self, newer: Account, older: Account) -> bool:
        """Whether both give a number of the same unit, and not the same."""
        ours, theirs = self._measures(newer), self._measures(older)
        return any(_differ(ours[unit], theirs[unit]) for unit in ours.keys() & theirs.keys())

    def _often(self, account: Account) -> frozenset[str]:
        """How often something is done, as the account words it."""
        return frozenset(found[0].casefold() for part in account.parts for found in self.values.frequency.finditer(self._in_digits(part)))

    def _in_digits(self, part: str) -> str:
        return self.values.number.sub(lambda found: self.values.numbers[found[0].casefold()], part)

    def _measures(self, account: Account) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for quantity in self._quantities(self._fullest(account)):
            for unit in () if quantity.is_ordinal else quantity.units:
                found[unit] = found.get(unit, frozenset()) | {quantity.value}
        return found

    def _stands_for(self, newer: Account, older: Account) -> bool:
        """Whether the newer tells how it is now: a statement about the speaker, no less to the point, and by name where the older is."""
        part = self._fullest(newer)
        addressed = self.values.second & {word.casefold() for word in _WORD.findall(part)}
        if addressed or part.rstrip().endswith(("?", "？")) or newer.score < _AS_GOOD * older.score:
            return False
        if sum(self.weights[word] > 0.0 for word in newer.own & older.words) < min(_WORDS, sum(each > 0.0 for each in self.weights)):
            return False
        return self.asked.of_place or not self._names(self._fullest(older)) or bool(self._names(part))

    def _names(self, part: str) -> frozenset[str]:
        """The words of a sentence that are written as names and are not the question's."""
        named = frozenset(found[0] for found in _NAME.finditer(part))
        return frozenset(name for name in named if not set(self.tokens(name)) & set(self.stems))

    def _fullest(self, account: Account) -> str:
        """The sentence that holds most of the question's words, by weight."""
        return max(account.parts, key=self._told, default="")

    def _told(self, part: str) -> float:
        said = set(self.tokens(part))
        return sum(weight for stem, weight in zip(self.stems, self.weights, strict=True) if stem in said)

    def _quantities(self, part: str) -> list[Quantity]:
        spelled = self._in_digits(part)
        return [*(self._quantity(spelled, found) for found in _QUANTITY.finditer(spelled)), *self._days(part)]

    def _days(self, part: str) -> list[Quantity]:
        words = (word.casefold() for word in _WORD.findall(part))
        days = (day for word in words for day in (word, word.removesuffix("s")) if day in self.values.days)
        return [Quantity(value=day, units=frozenset({_DAY}), before="", is_ordinal=False, is_bare=False) for day in dict.fromkeys(days)]

    def _quantity(self, part: str, found: re.Match[str]) -> Quantity:
        units = set[str]()
        if found["money"]:
            units.add("$")
        if found["percent"]:
            units.add("%")
        if found["clock"] or ":" in found["number"]:
            units.add(_CLOCK)
        if not units:
            units.update(self._counted_after(part, found.end()))
        suffix = (found["suffix"] or "").casefold()
        is_ordinal = suffix in {"st", "nd", "rd", "th"}
        value = found["number"].replace(",", "") + ("" if is_ordinal else suffix)
        before = _WORD.findall(part[max(0, found.start() - _REACH) : found.start()])[-1:]
        return Quantity(
            value=value,
            units=frozenset(units),
            before="".join(before),
            is_ordinal=is_ordinal,
            is_bare=not units and not is_ordinal and value != "1",
        )

    def _counted_after(self, part: str, start: int) -> list[str]:
        tail = re.split(r"[.,;:!?()]", part[start : start + _REACH], maxsplit=1)[0]
        if tail[:1] and is_unspaced(tail.lstrip()[:1] or " "):
            return [tail.lstrip()[0]]
        units: list[str] = []
        for word in _WORD.findall(tail)[: _MOST_BETWEEN + 1]:
            lowered = word.casefold()
            if lowered == "ones":
                return [*units, lowered]
            if lowered in self.values.stop or lowered in self.values.now:
                break
            units.extend(self.tokens(word))
        return units


def _of_different_people(newer: Account, older: Account) -> bool:
    """Whether both are known to be about somebody, and not the same: "my sister works at Hooli" is no newer account of where I do."""
    return bool(newer.people) and bool(older.people) and newer.people.isdisjoint(older.people)


def _differ(newer: frozenset[str], older: frozenset[str]) -> bool:
    return bool(newer) and bool(older) and newer != older
