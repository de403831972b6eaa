"""Corrections: what "scratch that", "I meant" and "X, not Y" do to what was said before, in this message or the last ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lean_memory.domain import Act, Candidate, Cardinality, Polarity
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.objects import accepts, clean
from lean_memory.extraction.pack import Pack


def corrected(made: Sequence[Candidate], earlier: list[Candidate], recent: Sequence[Candidate]) -> list[Candidate]:
    """Turns the candidates of a correcting clause into corrections.

    What it puts right in this very message was never so and leaves `earlier`; what earlier messages said is corrected in place.
    """
    found: list[Candidate] = []
    for candidate in made:
        if candidate.act is not Act.ASSERT or candidate.polarity is Polarity.NEGATIVE or candidate.rule == "tie":
            found.append(candidate)
            continue
        wrong = _last_in_slot(candidate, earlier)
        if wrong is not None:
            earlier.remove(wrong)
            found.append(replace(candidate, valid_at=candidate.valid_at or wrong.valid_at))
            continue
        before = _last_in_slot(candidate, recent)
        found.append(replace(candidate, act=Act.CORRECT, corrects=candidate.corrects or (before.object if before else None)))
    return found


def bare_value(
    clause: Clause, pack: Pack, earlier: list[Candidate], recent: Sequence[Candidate], *, other: str | None = None
) -> Candidate | None:
    """The correction in a clause that is only a value: "Correction: 8082", "I meant Lisbon", "It's Gerta, not Greta" (`other`)."""
    text = clause.full
    meant = pack.cues.get("meant")
    if meant and (found := meant.match(text)):
        text = text[found.end() :]
    value = clean(text, pack)
    if not accepts("short", value, pack):
        return None
    here = _said(other, earlier) if other else _alike(value, earlier)
    if here is not None:
        earlier.remove(here)
        return _with_value(here, value, clause)
    before = _said(other, recent) if other else _alike(value, recent)
    if before is None:
        return None
    return replace(_with_value(before, value, clause), act=Act.CORRECT, corrects=before.object)


def split_other(text: str, pack: Pack) -> tuple[str, str | None]:
    """ "X, not Y" as X and the Y that never was."""
    pattern = pack.cues.get("not_other")
    found = pattern.search(text) if pattern else None
    if not found or not found.start():
        return text, None
    return text[: found.start()], found["other"].strip(" .!")


def _with_value(candidate: Candidate, value: str, clause: Clause) -> Candidate:
    pattern = re.compile(re.escape(candidate.object), re.IGNORECASE)
    told = pattern.sub(lambda _: value, candidate.fact_text, count=1) if candidate.object else candidate.fact_text
    return replace(candidate, object=value, fact_text=told, span=clause.span, act=Act.ASSERT, rule="correction")


def _last_in_slot(candidate: Candidate, pool: Sequence[Candidate]) -> Candidate | None:
    for other in reversed(pool):
        if (other.subject, other.predicate) == (candidate.subject, candidate.predicate) and other.object != candidate.object:
            return other
    return None


def _said(other: str, pool: Sequence[Candidate]) -> Candidate | None:
    """The newest candidate with this very value."""
    return next((c for c in reversed(pool) if c.object.casefold() == other.casefold() and c.predicate != "states"), None)


def _alike(value: str, pool: Sequence[Candidate]) -> Candidate | None:
    """The newest candidate whose value is of the same sort: a number for a number, a name for a name."""
    digits = value[:1].isdigit()
    usable = [c for c in reversed(pool) if c.object and c.predicate != "states" and c.rule != "tie" and c.object[:1].isdigit() == digits]
    functional = [c for c in usable if c.cardinality is Cardinality.FUNCTIONAL]
    return next(iter([*usable[:1], *functional]), None)
