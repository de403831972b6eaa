"""The fourth pass: asks a language model for the facts of one hard sentence, and believes only what the sentence bears out. Pure.

The model answers in JSON of a schema; an answer of another form is no answer. Of a well-formed one each fact is kept only if its predicate
is in the vocabulary, its value and its quotation stand in the sentence, and its subject is the speaker, somebody known, or somebody in the
sentence. The guards of tense, negation and condition go before whatever the model says.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import TypeVar, cast

from lean_memory.domain import STATES, USER, Candidate, Cardinality, Modality, Polarity, Span, name_key, value_key
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.extraction import vocabulary
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.told import Told, clause_at, stance
from lean_memory.models.ports import TypingModel

FOUND_BY = "typer"
INFERRED = "a language model read it in the sentence; no rule says so"

_TRIES = 2
_T = TypeVar("_T")
_MODALITIES = (Modality.ASSERTED, Modality.PAST, Modality.PLANNED, Modality.REPORTED)


class Verdict(StrEnum):
    """How a new statement stands to an old one about the same matter."""

    SAME = "same"
    REPLACES = "replaces"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the model may be told beside the sentence: names that are known, nearest first, and the sentences before it, newest last."""

    known: Sequence[str] = ()
    earlier: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """One fact as the model gives it, of the right form."""

    subject: str
    predicate: str
    object: str
    quote: str
    polarity: Polarity
    modality: Modality


def typed(model: TypingModel, said: Told, around: Surroundings, anchor: Anchor) -> list[Candidate]:
    """The facts that the model reads in a sentence and the sentence bears out; asked once more where the answer has another form.

    Raises `ModelError` when both answers are unusable, and `ModelUnavailableError` at once when there is none to be had.
    """
    return _asked(model, instruction(said), question(said, around), schema(), lambda answer: facts(answer, said, around, anchor))


def adjudicate(model: TypingModel, new: str, old: str) -> Verdict:
    """Whether a new statement says the same as an old one, replaces it, or stands beside it. Raises as `typed` does."""
    words, most = _words(), int(_limits()["sentence"])
    told = words["contest_question"].format(old=_data(old, most), new=_data(new, most))
    return _asked(model, words["contest_instruction"].strip(), told.strip(), contest_schema(), verdict)


def instruction(said: Told) -> str:
    """What the model is to do; the same for every sentence of one speaker."""
    return _words()["instruction"].format(self=_data(said.self_name, int(_limits()["name"])), predicates=", ".join(_predicates())).strip()


def question(said: Told, around: Surroundings) -> str:
    """The sentence with what is around it, bounded whatever it is."""
    limits = {name: int(value) for name, value in _limits().items()}
    known = list(dict.fromkeys(_data(name, limits["name"]) for name in around.known if name != USER))[: limits["known"]]
    earlier = [f"- {_data(text, limits['sentence'])}" for text in around.earlier[-limits["context"] :]]
    told = _words()["question"].format(
        known=", ".join(known) or "nobody", earlier="\n".join(earlier) or "- nothing", sentence=_data(said.text, limits["sentence"])
    )
    return told.strip()


@cache
def schema() -> Mapping[str, object]:
    """The JSON schema of an answer: a list of facts whose predicate is one of the vocabulary."""
    text = {"type": "string", "minLength": 1, "maxLength": int(_limits()["sentence"])}
    row = {
        "subject": text,
        "predicate": {"type": "string", "enum": list(_predicates())},
        "object": text,
        "quote": text,
        "polarity": {"type": "string", "enum": [each.value for each in Polarity]},
        "modality": {"type": "string", "enum": [each.value for each in _MODALITIES]},
    }
    fact = {"type": "object", "properties": row, "required": list(row), "additionalProperties": False}
    listed = {"type": "array", "items": fact, "maxItems": int(_limits()["facts"])}
    return {"type": "object", "properties": {"facts": listed}, "required": ["facts"], "additionalProperties": False}


@cache
def contest_schema() -> Mapping[str, object]:
    """The JSON schema of a verdict."""
    answer = {"type": "string", "enum": [each.value for each in Verdict]}
    return {"type": "object", "properties": {"verdict": answer}, "required": ["verdict"], "additionalProperties": False}


def facts(answer: str, said: Told, around: Surroundings, anchor: Anchor) -> list[Candidate]:
    """The facts of an answer that the sentence bears out; empty where it bears out none. Raises `ModelError` for an answer of another form."""
    rows = _parsed(answer).get("facts")
    if not isinstance(rows, list) or len(cast("list[object]", rows)) > int(_limits()["facts"]):
        raise ModelError("The typing model's answer has no list of facts; it is not used.")
    claims = [_claim(row) for row in cast("list[object]", rows)]
    made = (_candidate(claim, said, around, anchor) for claim in claims)
    return _distinct(candidate for candidate in made if candidate is not None)


def verdict(answer: str) -> Verdict:
    """The verdict of an answer. Raises `ModelError` for an answer of another form."""
    said = _parsed(answer).get("verdict")
    if said not in set(Verdict):
        raise ModelError("The typing model gave no verdict; both statements stand.")
    return Verdict(str(said))


def _asked(model: TypingModel, told: str, asked: str, form: Mapping[str, object], read: Callable[[str], _T]) -> _T:
    for left in reversed(range(_TRIES)):
        try:
            return read(model.answer(told, asked, form))
        except ModelUnavailableError:
            raise
        except ModelError:
            if not left:
                raise
    raise AssertionError("the last try returns or raises")


def _parsed(answer: str) -> Mapping[str, object]:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        raise ModelError("The typing model did not answer in JSON; its answer is not used.") from None
    if not isinstance(found, dict):
        raise ModelError("The typing model's answer is not of the schema; it is not used.")
    return cast("Mapping[str, object]", found)


def _claim(row: object) -> _Claim:
    """One row of an answer. Raises `ModelError` where it is not of the schema."""
    fields: Mapping[str, object] = cast("Mapping[str, object]", row) if isinstance(row, dict) else {}
    texts = [fields.get(name) for name in ("subject", "predicate", "object", "quote", "polarity", "modality")]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ModelError("The typing model's answer is not of the schema; it is not used.")
    subject, predicate, value, quote, polarity, modality = (str(text).strip() for text in texts)
    if predicate not in _predicates() or polarity not in set(Polarity) or modality not in set(_MODALITIES):
        raise ModelError("The typing model's answer is not of the schema; it is not used.")
    return _Claim(subject=subject, predicate=predicate, object=value, quote=quote, polarity=Polarity(polarity), modality=Modality(modality))


def _candidate(claim: _Claim, said: Told, around: Surroundings, anchor: Anchor) -> Candidate | None:
    subject = _subject(claim.subject, said, around)
    start = _place(claim.quote, said.text)
    value = _as_said(claim.object, said.text)
    if subject is None or start is None or value is None or len(value) > int(_limits()["value"]):
        return None
    if name_key(subject) == name_key(value) or value_key(value) in _pointing(said):
        return None
    clause = clause_at(said, said.sentence.span.start + start + len(claim.quote) - 1, anchor)
    reading = _reading(claim, clause, said, anchor) if clause else None
    if clause is None or reading is None:
        return None
    entry = vocabulary.predicate(claim.predicate)
    return Candidate(
        subject=subject,
        subject_type="person" if subject == said.self_name else "thing",
        predicate=claim.predicate,
        object=value,
        object_type=entry.object_type,
        fact_text=f"{said.sentence.speaker}: {said.text}" if said.sentence.speaker else said.text,
        span=Span(start=said.sentence.span.start, end=said.sentence.span.end),
        polarity=claim.polarity,
        modality=reading,
        cardinality=entry.cardinality,
        salience=entry.salience,
        confidence=_limits()["confidence"],
        is_inference=True,
        valid_at=next((date.begins for date in clause.dates if date.begins is not None and not date.lasting), None),
        valid_to=next((date.ends for date in clause.dates if date.ends is not None), None),
        found_by=FOUND_BY,
        rule=claim.predicate,
        reasons=(INFERRED,),
    )


def _subject(given: str, said: Told, around: Surroundings) -> str | None:
    """Whom the model means: the speaker, somebody known, or somebody in the sentence; nobody else."""
    key = name_key(given)
    if key in {name_key(said.self_name), USER} or key in said.pack.word_sets.get("first", frozenset()):
        return said.self_name
    if key in said.pack.word_sets.get("third", frozenset()):
        return None
    known = next((name for name in around.known[: int(_limits()["known"])] if name_key(name) == key), None)
    return known or _as_said(given, said.text)


def _reading(claim: _Claim, clause: Clause, said: Told, anchor: Anchor) -> Modality | None:
    """The modality after the guards; `None` where the clause says nothing that holds, or the contrary of the claim."""
    found = stance(clause, said.pack, anchor.t_ref)
    if found is None or (found[0] is Polarity.NEGATIVE and claim.polarity is Polarity.POSITIVE):
        return None
    if said.is_report:
        return Modality.REPORTED
    if claim.modality is not Modality.ASSERTED or found[1] is Modality.ASSERTED:
        return claim.modality
    # "We named her Moss": of what one may have many, something past may still hold; a value that would replace another must be said to hold now.
    goes_on = found[1] is Modality.PAST and vocabulary.cardinality(claim.predicate) is Cardinality.MULTI
    return Modality.ASSERTED if goes_on else found[1]


def _as_said(words: str, text: str) -> str | None:
    """The words as they are spelled in the text, whole words only; `None` where they do not stand there."""
    start = _place(words, text)
    return None if start is None else text[start : start + len(words)]


def _place(words: str, text: str) -> int | None:
    lowered, wanted = text.casefold(), words.casefold()
    if len(lowered) != len(text) or len(wanted) != len(words):
        lowered, wanted = text, words
    start = lowered.find(wanted)
    while start >= 0:
        before, after = lowered[start - 1 : start], lowered[start + len(wanted) : start + len(wanted) + 1]
        if not (_joins(before, wanted[0]) or _joins(wanted[-1], after)):
            return start
        start = lowered.find(wanted, start + 1)
    return None


def _joins(one: str, other: str) -> bool:
    """Whether two neighbouring characters are of one word; scripts without blanks have no such bounds."""
    return bool(one and other) and one.isalnum() and other.isalnum() and one.isascii() == other.isascii() and not _is_unspaced(one + other)


def _is_unspaced(characters: str) -> bool:
    return any("\u0e00" <= character <= "\u0eff" or "\u3040" <= character <= "\u9fff" for character in characters)


def _pointing(said: Told) -> frozenset[str]:
    return said.pack.word_sets.get("third", frozenset[str]()) | said.pack.word_sets.get("first", frozenset[str]())


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Without repetitions; in a functional slot the first value alone."""
    kept: dict[tuple[str, ...], Candidate] = {}
    for candidate in candidates:
        value = "" if candidate.cardinality is Cardinality.FUNCTIONAL else value_key(candidate.object)
        kept.setdefault((name_key(candidate.subject), candidate.predicate, value), candidate)
    return list(kept.values())


def _data(text: str, most: int) -> str:
    """Text as one line that cannot end its markers."""
    return " ".join(text.split()).replace("<<<", "< <").replace(">>>", "> >")[:most]


def _predicates() -> tuple[str, ...]:
    return tuple(name for name in vocabulary.predicates() if name != STATES)


def _words() -> Mapping[str, str]:
    return cast("Mapping[str, str]", _file()["words"])


def _limits() -> Mapping[str, float]:
    return cast("Mapping[str, float]", _file()["limits"])


@cache
def _file() -> Mapping[str, object]:
    return tomllib.loads(files("lean_memory.extraction").joinpath("typer.toml").read_text("utf-8"))
