"""Several values of one slot in one text: a list or a pasted document speaks of several things, and none of them replaces another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lean_memory.domain import Candidate, Cardinality
from lean_memory.extraction import vocabulary
from lean_memory.extraction.pack import Pack


def side_by_side(found: Iterable[Candidate], pack: Pack | None) -> Sequence[Candidate]:
    """The candidates, where an open slot that gets several values with no word of a change holds them beside each other.

    "The ISO is 400 ... the ISO is 200" in one text describes two pictures; "the port is 8080 ... it is now 8081" one port.
    """
    said = list(found)
    if pack is None or "changes" not in pack.cues:
        return said
    values: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, candidate in enumerate(said):
        if _fills_open_slot(candidate):
            values[candidate.subject, candidate.predicate].append(number)
    for numbers in values.values():
        if len({said[number].object.casefold() for number in numbers}) > 1 and not any(_changes(said[n], pack) for n in numbers[1:]):
            for number in numbers:
                said[number] = replace(said[number], additive=True)
    return said


def _fills_open_slot(candidate: Candidate) -> bool:
    return candidate.asserts and candidate.cardinality is Cardinality.FUNCTIONAL and candidate.predicate not in vocabulary.predicates()


def _changes(candidate: Candidate, pack: Pack) -> bool:
    return candidate.valid_at is not None or pack.has_cue("changes", candidate.fact_text) is not None
