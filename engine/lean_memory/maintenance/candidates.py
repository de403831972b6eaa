"""Which facts may say the same or contradict each other: pairs that are near by cosine and share a rare word. Linear in the facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lean_memory.domain import Fact
from lean_memory.maintenance.difference import marks
from lean_memory.maintenance.drafts import Snapshot
from lean_memory.maintenance.wording import Wording, wording

_SMALL = 48
"""Up to so many facts are held against each other all; of more, those that share one of their rarest words."""
_OVERLAP = 8
_RAREST = 3
_NEAREST = 3
"""Of each fact, so many of its neighbours are looked at in a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Two facts of a snapshot by place, the one recorded first first, and the cosine of their texts."""

    first: int
    second: int
    cosine: float


@dataclass(frozen=True, slots=True)
class Wordings:
    """The texts of facts, read on first use."""

    facts: Sequence[Fact]
    _read: dict[int, Wording] = field(default_factory=dict[int, Wording])
    _near: dict[tuple[tuple[int, ...], float], list[Near]] = field(default_factory=dict[tuple[tuple[int, ...], float], list[Near]])
    _marks: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    def __getitem__(self, place: int) -> Wording:
        if place not in self._read:
            self._read[place] = wording(self.facts[place].fact_text)
        return self._read[place]

    def found(self, block: Sequence[int], floor: float, find: Callable[[], list[Near]]) -> list[Near]:
        """What `find` finds in a block, found once: several finders look at the same ones."""
        key = (tuple(block), floor)
        if key not in self._near:
            self._near[key] = find()
        return self._near[key]

    def marks(self, place: int) -> frozenset[str]:
        """The keys of which two facts that say the same have some in common."""
        if place not in self._marks:
            self._marks[place] = marks(self[place])
        return self._marks[place]


def near_pairs(snapshot: Snapshot, block: Sequence[int], texts: Wordings, floor: float) -> Sequence[Near]:
    """The pairs of a block whose cosine reaches `floor`, nearest first: a few for each fact at most."""
    if len(block) < 2:
        return ()
    return texts.found(block, floor, lambda: _near_pairs(snapshot, block, texts, floor))


def _near_pairs(snapshot: Snapshot, block: Sequence[int], texts: Wordings, floor: float) -> list[Near]:
    best: dict[tuple[int, int], float] = {}
    for group in _groups(block, texts):
        vectors = snapshot.vectors[group]
        cosines = vectors @ vectors.T
        np.fill_diagonal(cosines, -1.0)
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :_NEAREST]
        near = np.take_along_axis(cosines, nearest, axis=1)
        rows, columns = np.nonzero(near >= floor)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            one, other = sorted((group[row], group[int(nearest[row, column])]))
            best[one, other] = float(near[row, column])
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return [Near(first=one, second=other, cosine=cosine) for (one, other), cosine in ordered]


def groups_of_a_matter(
    snapshot: Snapshot, block: Sequence[int], texts: Wordings, floor: float, *, least: int, most: int
) -> Iterator[list[int]]:
    """Facts of a block that are about one matter: they share a word and lie near their middle. No fact is in two of the groups."""
    taken: set[int] = set()
    for sharing in sorted(_sharing(block, texts, least), key=len):
        group = [place for place in sharing if place not in taken][:most]
        if len(group) < least:
            continue
        vectors = snapshot.vectors[group]
        middle = vectors.mean(axis=0)
        near = vectors @ middle >= floor * np.linalg.norm(middle)
        group = [place for place, is_near in zip(group, near, strict=True) if is_near]
        if len(group) >= least:
            taken.update(group)
            yield group


def blocks(facts: Iterable[tuple[int, Hashable]]) -> Iterator[list[int]]:
    """The places of facts that have the same key, where there are at least two."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, key in facts:
        found[key].append(place)
    yield from (places for places in found.values() if len(places) > 1)


def _groups(block: Sequence[int], texts: Wordings) -> Iterator[list[int]]:
    if len(block) <= _SMALL:
        yield list(block)
        return
    keys = _marks(block, texts)
    counted = Counter(key for each in keys.values() for key in each)
    sharing: dict[str, list[int]] = defaultdict(list)
    for place, each in keys.items():
        # What only one fact says is its value; what several say is what they are about.
        for key in sorted((key for key in each if counted[key] > 1), key=lambda key: (counted[key], key))[:_RAREST]:
            sharing[key].append(place)
    for places in sharing.values():
        yield from _windows(places, keys)


def _sharing(block: Sequence[int], texts: Wordings, least: int) -> list[list[int]]:
    """The places that share a word, for each word that enough of them have."""
    sharing: dict[str, list[int]] = defaultdict(list)
    for place, keys in _marks(block, texts).items():
        for key in keys:
            sharing[key].append(place)
    return [places for places in sharing.values() if len(places) >= least]


def _marks(block: Sequence[int], texts: Wordings) -> dict[int, frozenset[str]]:
    return {place: texts.marks(place) for place in block}


def _windows(places: list[int], keys: Mapping[int, frozenset[str]]) -> Iterator[list[int]]:
    """Places in groups of bounded size that overlap; those with like words stand together."""
    if len(places) > _SMALL:
        places = sorted(places, key=lambda place: sorted(keys[place]))
    for start in range(0, len(places), _SMALL - _OVERLAP):
        group = places[start : start + _SMALL]
        if len(group) > 1:
            yield group
        if start + _SMALL >= len(places):
            return
