"""The people and the steps of the demo. A step makes one real call, shows what came back, and keeps it for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from lean_memory.errors import InvalidTextError
from lean_memory_desktop.cli.asking import note_on
from lean_memory_desktop.cli.console import say
from lean_memory_desktop.cli.json_form import Json, added_form, fact_form, forgotten_form, history_form, hit_form
from lean_memory_desktop.cli.moments import show_moment
from lean_memory_desktop.cli.opening import fact_by_id
from lean_memory_desktop.cli.options import BadUseError

if TYPE_CHECKING:
    from lean_memory import Fact, Memory

_EMPLOYERS = ("Acme Corp", "Initech")
_CITIES = ("Berlin", "Oslo", "Lisbon", "Madrid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who the demo is about; every name differs from the others of its kind."""

    person: str
    old_employer: str
    employer: str
    old_city: str
    mistaken_city: str
    city: str

    @classmethod
    def named(cls, names: Sequence[str]) -> Cast:
        """A cast with the names given, in the order person, employer, city; raises `BadUseError` for more than three."""
        if len(names) > 3:
            raise BadUseError(
                "The demo takes at most three names: a person, an employer, a city. Put quotes around a name of several words."
            )
        person, employer, city = (*names, *("Maya", "Globex", "Lisbon")[len(names) :])
        old_city, mistaken_city = _others(_CITIES, city, 2)
        (old_employer,) = _others(_EMPLOYERS, employer, 1)
        return cls(person=person, old_employer=old_employer, employer=employer, old_city=old_city, mistaken_city=mistaken_city, city=city)


class Story:
    """Makes calls on one namespace of `memory` and shows each with its answer."""

    def __init__(self, *, memory: Memory, namespace: str, zone: tzinfo | None, silent: bool) -> None:
        self._memory = memory
        self._namespace = namespace
        self._zone = zone
        self._silent = silent
        self.steps: list[Json] = []
        self.calls = 0

    def chapter(self, title: str) -> None:
        """A heading over the steps that follow."""
        self._show("", indent=0)
        self._show(title, indent=0)

    def tell(self, sentence: str, moment: int | None = None) -> None:
        """Add a sentence, said at `moment` (epoch ms; now when `None`)."""
        when = f"  ({show_moment(moment, self._zone)[:10]})" if moment is not None else ""
        self._show(f'told: "{sentence}"{when}')
        result = self._memory.add(self._namespace, sentence, t_ref=moment)
        for verb, ids in (("learned", result), ("known already", result.existing), ("no longer current", result.superseded)):
            for fact_id in ids:
                self._answer(f"{verb}: {_brief(fact_by_id(self._memory, self._namespace, fact_id))}")
        if result.redacted:
            self._answer(f"taken out before anything was written: {', '.join(result.redacted)}")
        if not (result.fact_ids or result.existing or result.superseded):
            self._answer("kept as said; nothing durable was found in it")
        self._step("add", {"text": sentence, "t_ref": moment}, added_form(result))

    def ask(self, question: str, *, as_of: int | None = None, known_at: int | None = None) -> None:
        """Search, and show the best answer with its date and score."""
        asked = [f"as of {show_moment(as_of, self._zone)[:10]}"] if as_of is not None else []
        asked += ["with what was known before the correction"] if known_at is not None else []
        self._show(f'asked: "{question}"' + (f"  ({', '.join(asked)})" if asked else ""))
        hits = self._memory.search(self._namespace, question, k=3, as_of=as_of, known_at=known_at)
        if hits:
            best = hits[0]
            self._answer(f"{best.fact.fact_text}  (since {show_moment(best.fact.valid_at, self._zone)[:10]}, score {best.final_score:.2f})")
        else:
            self._answer("nothing is known about this")
        self._step("search", {"query": question, "as_of": as_of, "known_at": known_at}, [hit_form(hit) for hit in hits])

    def list(self, predicate: str) -> None:
        """Show the current facts of one kind about the user."""
        self._show(f"listed: {predicate}")
        found = self._memory.facts(self._namespace, subject="user", predicate=predicate)
        for fact in found:
            self._answer(f"{_brief(fact)}  (since {show_moment(fact.valid_at, self._zone)[:10]})")
        if not found:
            self._answer("nothing")
        self._step("facts", {"predicate": predicate}, [fact_form(fact) for fact in found])

    def current(self, predicate: str) -> Fact | None:
        """The newest current fact of one kind about the user."""
        found = self._memory.facts(self._namespace, subject="user", predicate=predicate)
        return max(found, key=lambda fact: fact.recorded_at, default=None)

    def trace(self, predicate: str) -> None:
        """Show the chain behind the current fact of one kind."""
        fact = self.current(predicate)
        if fact is None:
            return
        self._show(f"history of: {_brief(fact)}")
        entries = self._memory.history(self._namespace, fact.id)
        for entry in entries:
            end = "still so" if entry.fact.valid_to is None else f"until {show_moment(entry.fact.valid_to, self._zone)[:10]}"
            why = f", {entry.reason.value}" if entry.reason else ""
            self._answer(f"{entry.fact.fact_text}  (since {show_moment(entry.fact.valid_at, self._zone)[:10]}, {end}{why})")
        self._step("history", {"fact_id": fact.id}, history_form(entries))

    def tidy(self) -> None:
        """Do what a night does, and approve the first thing that it proposes."""
        self._show("tidied, as every night")
        [report] = self._memory.maintain(self._namespace, apply=True, force=True)
        self._answer(report.sentence)
        self._step("maintain", {"apply": True}, {"state": report.state, "proposed": dict(report.proposed)})
        for proposal in (proposal for group in self._memory.review_queue(self._namespace, limit=1).groups for proposal in group.proposals):
            self._answer(f"{proposal.kind.value}? {' | '.join(fact.fact_text for fact in proposal.facts)}")
            self._answer(proposal.reason)
            self._show("decided: approve")
            outcome = self._memory.decide(self._namespace, proposal.id, "approve")
            self._answer(outcome.proposal.state.value)
            self._step("decide", {"verdict": "approve"}, {"kind": proposal.kind.value, "state": outcome.proposal.state.value})

    def forget(self, predicate: str) -> None:
        """Erase the current fact of one kind about the user."""
        fact = self.current(predicate)
        if fact is None:
            return
        self._show(f"forgotten: {fact.fact_text}")
        result = self._memory.forget(self._namespace, fact_id=fact.id)
        self._answer(f"{result.facts} fact and {result.passages} passage erased")
        self._step("forget", {"fact_id": fact.id}, forgotten_form(result))

    def count_bytes(self, word: str, folder: Path) -> None:
        """Count how often `word` stands in the files of the data folder."""
        count = sum(path.read_bytes().lower().count(word.encode()) for path in folder.rglob("*") if path.is_file())
        self._show(f'looked for "{word}" in the files')
        self._answer(f"found {count} times")
        self._step("scan", {"word": word}, count)

    def hear(self, line: str) -> None:
        """A question when it ends with a question mark, else something to remember."""
        try:
            if line.endswith(("?", "？")):
                self.ask(line)
            else:
                self.tell(line)
        except InvalidTextError as error:
            self._answer(str(error))

    def _step(self, call: str, given: Json, answer: object) -> None:
        self.calls += 1
        self.steps.append({"call": call, "given": given, "answer": answer})

    def _answer(self, text: str) -> None:
        self._show(f"-> {text}", indent=4)

    def _show(self, text: str, *, indent: int = 2) -> None:
        if not self._silent:
            say(text, indent=indent)


def _others(names: Sequence[str], taken: str, count: int) -> list[str]:
    return [name for name in names if name.casefold() != taken.casefold()][:count]


def _brief(fact: Fact) -> str:
    note = note_on(fact)
    return fact.fact_text + (f" [{note}]" if note else "")
