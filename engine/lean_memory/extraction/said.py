"""What has been said so far, found by slot and by value at the same cost however much it is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from lean_memory.domain import STATES, Candidate

_Slot = tuple[str, str]
_MOST_LOOKED_AT = 50


@dataclass(slots=True, kw_only=True)
class _Stretch:
    """Candidates of one slot in a row that have the same value, by their numbers."""

    value: str
    numbers: list[int]


@dataclass(slots=True, kw_only=True)
class Said:
    """Candidates in the order they were said; those that are put right are taken out again."""

    _kept: dict[int, Candidate] = field(default_factory=dict[int, Candidate])
    _next: int = 0
    _slots: dict[_Slot, list[_Stretch]] = field(default_factory=dict[_Slot, list[_Stretch]])
    _values: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Numbers by the value in small letters; those taken out are dropped when they come up. Statements have no value."""
    _kinds: dict[bool, list[int]] = field(default_factory=dict[bool, list[int]])
    """The same by whether the value begins with a digit."""
    _counts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> Said:
        """What candidates say, oldest first."""
        said = cls()
        for candidate in candidates:
            said.add(candidate)
        return said

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._kept.values())

    def add(self, candidate: Candidate) -> int:
        """Keeps what was said last; the number it has here."""
        number, self._next = self._next, self._next + 1
        self._kept[number] = candidate
        self._counts[_key(candidate)] += 1
        stretches = self._slots.setdefault((candidate.subject, candidate.predicate), [])
        if stretches and stretches[-1].value == candidate.object:
            stretches[-1].numbers.append(number)
        else:
            stretches.append(_Stretch(value=candidate.object, numbers=[number]))
        if candidate.predicate == STATES:
            return number
        self._values.setdefault(candidate.object.casefold(), []).append(number)
        if candidate.object and candidate.rule != "tie":
            self._kinds.setdefault(candidate.object[:1].isdigit(), []).append(number)
        return number

    def last_other(self, candidate: Candidate) -> int | None:
        """The number of the newest candidate of the same slot with another value."""
        stretches = self._slots.get((candidate.subject, candidate.predicate), [])
        return next((one.numbers[-1] for one in reversed(stretches[-2:]) if one.value != candidate.object), None)

    def last_with(self, value: str) -> int | None:
        """The number of the newest candidate with this very value."""
        return self._newest(self._values.get(value.casefold(), []))

    def last_like(self, value: str) -> int | None:
        """The number of the newest candidate whose value is of the same sort: a number for a number, a name for a name."""
        return self._newest(self._kinds.get(value[:1].isdigit(), []))

    def newest(self) -> list[Candidate]:
        """What the newest sentence asserted: the last candidate and those before it that stand at the same place."""
        found: list[Candidate] = []
        for candidate in islice(reversed(self._kept.values()), _MOST_LOOKED_AT):
            if found and (candidate.span != found[0].span or candidate.fact_text != found[0].fact_text):
                break
            found.append(candidate)
        return [candidate for candidate in found if candidate.asserts and candidate.rule != "tie"]

    def last_that(self, fits: Callable[[Candidate], bool]) -> int | None:
        """The number of the newest candidate that fits. Looks at the last few only."""
        for number, candidate in islice(reversed(self._kept.items()), _MOST_LOOKED_AT):
            if fits(candidate):
                return number
        return None

    def has(self, slots: Iterable[_Slot], value: str) -> bool:
        """Whether one of the slots (subject, predicate) was said to have the value."""
        return any(self._counts[(*slot, value.casefold())] > 0 for slot in slots)

    def __contains__(self, number: int) -> bool:
        return number in self._kept

    def __getitem__(self, number: int) -> Candidate:
        return self._kept[number]

    def take_out(self, number: int) -> Candidate:
        """The candidate with a number from `last_other`, `last_with` or `last_like`, which is no longer kept."""
        candidate = self._kept.pop(number)
        self._counts[_key(candidate)] -= 1
        stretches = self._slots[candidate.subject, candidate.predicate]
        place = bisect_right(stretches, number, key=lambda one: one.numbers[0]) - 1
        numbers = stretches[place].numbers
        del numbers[bisect_left(numbers, number)]
        if not numbers:
            del stretches[place]
            _join(stretches, place)
        return candidate

    def _newest(self, numbers: list[int]) -> int | None:
        while numbers and numbers[-1] not in self._kept:
            numbers.pop()
        return numbers[-1] if numbers else None


def _key(candidate: Candidate) -> tuple[str, str, str]:
    return candidate.subject, candidate.predicate, candidate.object.casefold()


def _join(stretches: list[_Stretch], place: int) -> None:
    """Makes one of the two stretches that now meet, where they have the same value."""
    if 0 < place < len(stretches) and stretches[place - 1].value == stretches[place].value:
        stretches[place - 1].numbers.extend(stretches.pop(place).numbers)
