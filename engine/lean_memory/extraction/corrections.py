"""Corrections: what "scratch that", "I meant" and "X, not Y" do to what was said before, in this message or the last ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lean_memory.domain import Act, Candidate, Cardinality, Polarity
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.names import content, snake_case
from lean_memory.extraction.objects import accepts, clean, in_digits
from lean_memory.extraction.pack import Pack
from lean_memory.extraction.said import Said

_COUNT = re.compile(r"\d+|[〇一二两兩三四五六七八九十百]+")


def corrected(made: Sequence[Candidate], earlier: Said, recent: Said) -> list[Candidate]:
    """Turns the candidates of a correcting clause into corrections.

    What it puts right in this very message was never so and leaves `earlier`; what earlier messages said is corrected in place.
    """
    found: list[Candidate] = []
    for candidate in made:
        if candidate.act is not Act.ASSERT or candidate.polarity is Polarity.NEGATIVE or candidate.rule == "tie":
            found.append(candidate)
            continue
        wrong = earlier.last_other(candidate)
        if wrong is not None:
            found.append(replace(candidate, valid_at=candidate.valid_at or earlier.take_out(wrong).valid_at))
            continue
        before = recent.last_other(candidate)
        found.append(
            replace(candidate, act=Act.CORRECT, corrects=candidate.corrects or (recent[before].object if before is not None else None))
        )
    return found


def bare_value(clause: Clause, pack: Pack, earlier: Said, recent: Said, *, other: str | None = None) -> Candidate | None:
    """The correction in a clause that is only a value: "Correction: 8082", "I meant Lisbon", "It's Gerta, not Greta" (`other`)."""
    text = clause.full
    meant = pack.cues.get("meant")
    if meant and (found := meant.match(text)):
        text = text[found.end() :]
    value = clean(text, pack)
    if not (accepts("short", value, pack) and accepts("value", value, pack)) or value.split()[0] in pack.aux:
        return None  # "it's actually been helpful" puts nothing right
    here = _wrong(value, other, earlier)
    if here is not None:
        return _with_value(earlier.take_out(here), value, clause)
    before = _wrong(value, other, recent)
    if before is None:
        return None
    right = _with_value(recent[before], value, clause)
    return right if right.act is Act.RETRACT else replace(right, act=Act.CORRECT, corrects=recent[before].object)


def recounted(clause: Clause, pack: Pack, earlier: Said, recent: Said) -> Candidate | None:
    """The correction in "actually three brothers", where two brothers were told last."""
    meant = pack.cues.get("meant")
    found = meant.match(clause.full) if meant else None
    value = clean(clause.full[found.end() :] if found else clause.full, pack)
    noun = _counted(value, pack)
    if not noun or (pack.spaces and pack.verb_like.search(value)):
        return None
    for said, act in ((earlier, Act.ASSERT), (recent, Act.CORRECT)):
        here = said.last_that(lambda one: _counts(one, noun, pack))
        if here is not None:
            told = said[here]
            right = value if _counted(told.object, pack) else in_digits(value.removesuffix(noun).strip(), pack)
            if told.object.casefold() == right.casefold():
                return None
            return _put_right(told if said is recent else said.take_out(here), right, clause, act)
    return None


def _counts(told: Candidate, noun: str, pack: Pack) -> bool:
    """Whether a candidate tells how many of these there are, in its value or, as `employee_count`, in its predicate."""
    if _counted(told.object, pack):
        return _counted(told.object, pack).casefold() == noun.casefold()
    names = set(snake_case(content(noun, pack)).split("_"))
    return told.object.isdigit() and bool(names) and names <= set(told.predicate.split("_"))


def _counted(value: str, pack: Pack) -> str:
    """Of what it is a number: "two brothers", 两个弟弟; empty where it begins with none."""
    if pack.spaces:
        number, _, noun = value.partition(" ")
        return noun if accepts("number", number, pack) else ""
    count = _COUNT.match(value)
    return value[count.end() :] if count else ""


def _put_right(told: Candidate, value: str, clause: Clause, act: Act) -> Candidate:
    made = _with_value(told, value, clause)
    return replace(made, act=act, corrects=told.object if act is Act.CORRECT else None)


def taken_back(recent: Said) -> list[Candidate]:
    """What undoes the last thing that earlier messages said, "just kidding": what was before holds again, where it is known."""
    last = recent.newest()
    undone: list[Candidate] = []
    for candidate in last:
        before = recent.last_other(candidate) if candidate.cardinality is Cardinality.FUNCTIONAL else None
        if before is None or not recent[before].asserts:
            undone.append(replace(candidate, act=Act.RETRACT, valid_at=None, valid_to=None))
        else:
            undone.append(replace(recent[before], act=Act.CORRECT, corrects=candidate.object))
    return undone


def denied(made: Sequence[Candidate]) -> list[Candidate]:
    """What "I never said I like tea" takes back, where it is known: it was never so."""
    return [
        replace(candidate, act=Act.RETRACT, valid_at=None, valid_to=None)
        for candidate in made
        if candidate.asserts and candidate.polarity is Polarity.POSITIVE and candidate.rule != "tie"
    ]


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
    # "I left Globex. Sorry, I meant Initech." says of neither that it is so.
    act = Act.RETRACT if candidate.act is Act.RETRACT else Act.ASSERT
    return replace(candidate, object=value, fact_text=told, span=clause.span, act=act, rule="correction")


def _wrong(value: str, other: str | None, said: Said) -> int | None:
    """The number of what a bare value puts right: what had the value that was named, or its last words, or the newest of the same sort."""
    if not other:
        return said.last_like(value)
    named = said.last_with(other)
    ending = f" {other.casefold()}"
    return named if named is not None else said.last_that(lambda one: one.asserts and one.object.casefold().endswith(ending))
