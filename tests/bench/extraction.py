"""What extraction gives on real dialogue: facts a turn, share of turns with a fact, share that the router sends on, and of hard items how many.

A turn's recent episodes are those of its own conversation, as ingest gives them. Nothing is stored.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import locomo, longmemeval
from bench.report import Figure, Row, SuiteResult
from bench.suites import Setting
from bench.values import Turn
from lean_memory.domain import STATES, Candidate, Source
from lean_memory.extraction.pipeline import Recent, extract
from lean_memory.extraction.router import Tally, route
from lean_memory.extraction.told import told
from lean_memory.ingest import RECENT_EPISODES

HARD_ITEMS = Path(__file__).parent / "samples" / "hard_items.jsonl"
"""Read before the router was made, and looked at while it was tuned."""

UNSEEN_ITEMS = HARD_ITEMS.with_name("hard_items_unseen.jsonl")
"""Read afterwards, and not tuned on."""


@dataclass(slots=True, kw_only=True)
class Measured:
    """What one body of dialogue gave."""

    turns: int = 0
    with_fact: int = 0
    facts: int = 0
    typed: int = 0
    tally: Tally = field(default_factory=Tally)
    """Over everything, also what assistants said, which never goes on."""
    users: Tally = field(default_factory=Tally)
    """Over what people said."""
    sent_on: dict[str, list[tuple[int, bool]]] = field(default_factory=dict[str, list[tuple[int, bool]]])
    """Of each turn, by its id (corpus/conversation/turn), where its sentences end and whether they go on."""

    def sends_on(self, item: str) -> bool:
        """Whether the sentence of an item, an id of a turn with the offset of one of its characters, goes on."""
        turn, _, offset = item.rpartition("@")
        return next((goes_on for end, goes_on in self.sent_on.get(turn, []) if end > int(offset)), False)

    def details(self) -> dict[str, Any]:
        """The figures, for the JSON file."""
        return {
            "turns": self.turns,
            "facts a turn": round(self.facts / max(1, self.turns), 3),
            "share of turns with a fact": round(self.with_fact / max(1, self.turns), 3),
            "share of facts that are typed": round(self.typed / max(1, self.facts), 3),
            "share escalated": round(self.tally.share, 3),
            "share escalated of what people said": round(self.users.share, 3),
            "sentences escalated by reason": {reason.value: count for reason, count in self.tally.by_reason.items()},
        }


def run_extraction(setting: Setting) -> SuiteResult:
    bodies = {"locomo": _measured("locomo", _locomo(setting.data)), "longmemeval": _measured("longmemeval", _longmemeval(setting.data))}
    labels = hard_items()
    found = Counter(label for item, label in labels.items() if _sends_on(bodies, item))
    together = bodies["locomo"].tally + bodies["longmemeval"].tally
    share = Figure(name="share escalated", measured=together.share, must=0.2, more_is_better=False)
    recall = Figure(name="hard items escalated", measured=sum(found.values()) / len(labels), must=0.9)
    details = {name: body.details() for name, body in bodies.items()}
    details["hard items escalated by label"] = {label: f"{found[label]} of {count}" for label, count in Counter(labels.values()).items()}
    unseen = hard_items(UNSEEN_ITEMS)
    details["unseen hard items escalated"] = f"{sum(1 for item in unseen if _sends_on(bodies, item))} of {len(unseen)}"
    return SuiteResult(suite="extraction", rows=[Row(number="-", measure="Router on dialogue", figures=(share, recall))], details=details)


def hard_items(path: Path = HARD_ITEMS) -> Mapping[str, str]:
    """The labels of the sentences that were read by hand and found hard, by id."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row["label"] for row in rows}


def _sends_on(bodies: Mapping[str, Measured], item: str) -> bool:
    return any(body.sends_on(item) for body in bodies.values())


def _locomo(data: Path) -> Iterator[tuple[str, Iterable[Turn]]]:
    return ((corpus.name, corpus.turns) for corpus in locomo.read_corpora(data))


def _longmemeval(data: Path) -> Iterator[tuple[str, Iterable[Turn]]]:
    """The evidence sessions of each question, and every distractor session once."""
    for corpus in longmemeval.read_corpora(data):
        yield corpus.name, [turn for turn in corpus.turns if turn.session.startswith("own")]
    yield from longmemeval.read_distractors(data)


def _measured(body: str, conversations: Iterable[tuple[str, Iterable[Turn]]]) -> Measured:
    measured = Measured()
    for name, turns in conversations:
        recent: deque[Sequence[Candidate]] = deque(maxlen=RECENT_EPISODES)
        for turn in turns:
            before = Recent(candidates=tuple(candidate for given in recent for candidate in given))
            found = extract(turn.text, t_ref=turn.said_at, tz="UTC", source=turn.source, recent=before).candidates
            recent.append(found)
            _count(measured, f"{body}/{name}/{turn.id}", turn, found)
    return measured


def _count(measured: Measured, name: str, turn: Turn, found: Sequence[Candidate]) -> None:
    measured.turns += 1
    measured.with_fact += bool(found)
    measured.facts += len(found)
    measured.typed += sum(1 for candidate in found if candidate.predicate != STATES)
    if turn.source is Source.ASSISTANT:
        measured.tally += Tally(candidates=len(found))
        return
    said = told(turn.text, found)
    escalations, tally = route(said)
    measured.tally += tally
    measured.users += tally
    going = {each.said.sentence.span.start for each in escalations}
    measured.sent_on[name] = [(each.sentence.span.end, each.sentence.span.start in going) for each in said]
