"""As-of questions over timelines (Time-Sensitive-QA, Chen et al., 2021; BSD-3).

Every statement of every timeline goes into one namespace: in order of its date, in reverse, and shuffled. Then

* at the midpoint of each interval the value valid then must be the first hit;
* at a date in a gap between two intervals, and a year before the first and after the last, *nothing* is known of the slot: none of the
  first five hits, and none of `facts(as_of=...)`, came from a statement that gives the slot a value;
* a question asked with `known_at` set to a moment half-way through the adds is answered as it was answered at that moment: it sees no
  episode added later, and its first hit is the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from bench.dates import read_iso
from lean_memory.clock import system_clock
from lean_memory.domain import EpisodeId, Instant

if TYPE_CHECKING:
    from lean_memory import Memory

FILE = "timeqa_timelines_dev.jsonl"
SEED = 13
CUT = 5
YEAR = 365 * 86_400_000
NAMESPACE = "timelines"
KNOWN_QUESTIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A dated sentence of a timeline; `value` is what it gives the slot, or `None` where it only ends something."""

    timeline: str
    text: str
    said_at: Instant
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question at a moment, with the value valid then; `None` where there is none."""

    timeline: str
    question: str
    at: Instant
    value: str | None
    kind: str
    """`midpoint`, `gap` (between two intervals) or `outside` (before the first or after the last)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timelines:
    statements: Sequence[Statement]
    probes: Sequence[Probe]


Order = Callable[[Sequence[Statement]], list[Statement]]

ORDERS: dict[str, Order] = {
    "in order": lambda statements: sorted(statements, key=lambda each: each.said_at),
    "reversed": lambda statements: sorted(statements, key=lambda each: each.said_at, reverse=True),
    "shuffled": lambda statements: Random(SEED).sample(statements, len(statements)),
}


def read_timelines(data: Path) -> Timelines:
    """Every statement and probe of the file. Raises OSError where it is missing."""
    lines = (data / FILE).read_text(encoding="utf-8").split("\n")
    entries = [json.loads(line) for line in lines if line]
    return Timelines(
        statements=[each for entry in entries for each in _statements(entry)],
        probes=[each for entry in entries for each in read_probes(entry)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A memory that was told statements, and which episode each became."""

    memory: Memory
    recipe: str | None = None
    episodes: dict[EpisodeId, Statement] = field(default_factory=dict[EpisodeId, Statement])

    def tell(self, statements: Sequence[Statement]) -> None:
        for each in statements:
            result = self.memory.add(NAMESPACE, each.text, t_ref=each.said_at, tz="UTC")
            self.episodes[result.episode_id] = each

    def found(self, probe: Probe, known_at: Instant | None = None) -> list[EpisodeId]:
        """The episodes of the first hits at the probe's moment, best first."""
        hits = self.memory.search(NAMESPACE, probe.question, CUT, as_of=probe.at, known_at=known_at, recipe=self.recipe)
        return [hit.fact.episode_id for hit in hits]

    def held(self, at: Instant) -> list[EpisodeId]:
        """The episodes of every fact that holds at a moment."""
        return [fact.episode_id for fact in self.memory.facts(NAMESPACE, as_of=at)]


def measure(told: Told, probes: Sequence[Probe]) -> dict[str, float]:
    """The share of probes of each kind that are answered rightly, with their numbers."""
    midpoints = [probe for probe in probes if probe.kind == "midpoint"]
    result = {"midpoints": float(len(midpoints)), "value@1": _share(_first_is_right(told, probe) for probe in midpoints)}
    for kind in ("gap", "outside"):
        chosen = [probe for probe in probes if probe.kind == kind]
        result |= {
            f"{kind} dates": float(len(chosen)),
            f"{kind}: search silent": _share(_silent(told, probe, told.found(probe)) for probe in chosen),
            f"{kind}: facts silent": _share(_silent(told, probe, told.held(probe.at)) for probe in chosen),
        }
    return result


def measure_known_at(told: Told, timelines: Timelines) -> dict[str, float]:
    """Tells the first half (shuffled), asks, tells the rest, and asks again as of what was known in between."""
    statements = ORDERS["shuffled"](timelines.statements)
    half = len(statements) // 2
    told.tell(statements[:half])
    midpoints = [probe for probe in timelines.probes if probe.kind == "midpoint"]
    asked = Random(SEED).sample(midpoints, min(KNOWN_QUESTIONS, len(midpoints)))
    before = [told.found(probe) for probe in asked]
    known, moment = frozenset(told.episodes), _next_moment()
    told.tell(statements[half:])
    after = [told.found(probe, known_at=moment) for probe in asked]
    return {
        "questions": float(len(asked)),
        "sees nothing later": _share(known.issuperset(episodes) for episodes in after),
        "same first hit": _share(old[:1] == new[:1] for old, new in zip(before, after, strict=True)),
    }


def _next_moment() -> Instant:
    """A moment after everything recorded so far and before anything recorded from now on."""
    moment = Instant(system_clock() + 1)
    while system_clock() <= moment:
        pass
    return moment


def _first_is_right(told: Told, probe: Probe) -> bool:
    first = [told.episodes.get(episode) for episode in told.found(probe)[:1]]
    return any(said is not None and (said.timeline, said.value) == (probe.timeline, probe.value) for said in first)


def _silent(told: Told, probe: Probe, episodes: Sequence[EpisodeId]) -> bool:
    said = (told.episodes.get(episode) for episode in episodes)
    return not any(each is not None and each.timeline == probe.timeline and each.value is not None for each in said)


def _share(outcomes: Iterator[bool]) -> float:
    counted = list(outcomes)
    return sum(counted) / len(counted) if counted else 1.0


def _statements(entry: Mapping[str, Any]) -> Iterator[Statement]:
    for each in entry["statements"]:
        yield Statement(timeline=entry["id"], text=each["text"], said_at=read_iso(each["t_ref"]), value=each.get("value"))


def read_probes(entry: Mapping[str, Any]) -> Iterator[Probe]:
    spans = sorted((read_iso(each["start"]), read_iso(each["end"]), each["value"]) for each in entry["intervals"])

    def probe(at: int, kind: str, value: str | None = None) -> Probe:
        return Probe(timeline=entry["id"], question=entry["question"], at=Instant(at), value=value, kind=kind)

    for start, end, value in spans:
        yield probe((start + end) // 2, "midpoint", value)
    for (_, end, _), (start, _, _) in pairwise(spans):
        if end < start:
            yield probe((end + start) // 2, "gap")
    yield probe(spans[0][0] - YEAR, "outside")
    yield probe(spans[-1][1] + YEAR, "outside")
