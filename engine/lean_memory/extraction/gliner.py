"""The second pass: turns what an entity and relation model marked in a sentence into candidates of the vocabulary. Pure.

The model over-generates. What it says is kept only where its ends are of the right kind and can be told who they are, under the same
guards of tense, negation, condition and report as the rules; and where a rule has read the same slot, the rule stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import cast

from lean_memory.domain import Candidate, Cardinality, Instant, Modality, name_key, value_key
from lean_memory.extraction import vocabulary
from lean_memory.extraction.clauses import Clause
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.objects import clean
from lean_memory.extraction.rewriting import standalone
from lean_memory.extraction.scene import Scene, Subject
from lean_memory.extraction.told import Told, clause_at, stance
from lean_memory.models.ports import EntityRelationModel, FoundRelation, Markup

FOUND_BY = "gliner"
UNRESOLVED = "it is not clear whom or what it is about"
DISPUTED = "two passes read different values"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How one relation that the model is asked for becomes a fact; empty `head` or `tail` takes any label."""

    predicate: str
    threshold: float
    head: frozenset[str] = frozenset()
    tail: frozenset[str] = frozenset()
    is_event: bool = False
    inverse: str = ""
    """The predicate that says the same from the other end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What the model is asked for, and how far its answers go."""

    threshold: float
    most_confidence: float
    untyped: float
    longest_value: int
    labels: Mapping[str, str]
    """Label -> the kind of entity."""
    relations: Mapping[str, Relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """One end of a relation: the name to store (empty where nobody can be told), the words, and the kind where something tells it."""

    name: str
    said: str
    kind: str | None
    certainty: float = 1.0


def marked(model: EntityRelationModel, said: Sequence[Told]) -> list[Markup]:
    """The model's reading of each sentence, in order. Raises `ModelError`."""
    asked = questions()
    return model.read([each.text for each in said], labels=tuple(asked.labels), relations=tuple(asked.relations), threshold=asked.threshold)


def found(said: Told, markup: Markup, anchor: Anchor) -> list[Candidate]:
    """The candidates in one marked sentence, surest first; those about nobody known carry the reason `UNRESOLVED`."""
    kept: dict[tuple[str, ...], Candidate] = {}
    for relation in sorted(markup.relations, key=lambda each: -each.score):
        candidate = _candidate(said, relation, markup, anchor)
        if candidate:
            kept.setdefault((name_key(candidate.subject), candidate.predicate, value_key(candidate.object), candidate.polarity), candidate)
    return _one_value(kept.values())


def merged(rules: Iterable[Candidate], models: Iterable[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The rules' candidates, surer where the model found the same; and those of the model's that no rule has read.

    A rule's candidate always stands: where the model gives the same slot another value, that one is `DISPUTED`.
    """
    stood = list(rules)
    fresh: list[Candidate] = []
    for candidate in models:
        same = [number for number, other in enumerate(stood) if _says_the_same(other, candidate)]
        for number in same:
            sure = 1 - (1 - stood[number].confidence) * (1 - candidate.confidence)
            stood[number] = replace(stood[number], confidence=max(stood[number].confidence, round(min(sure, 0.99), 3)))
        if not same:
            disputed = any(_slot(other) == _slot(candidate) for other in stood) and candidate.cardinality is Cardinality.FUNCTIONAL
            fresh.append(replace(candidate, reasons=(*candidate.reasons, DISPUTED)) if disputed else candidate)
    return stood, fresh


@cache
def questions() -> Questions:
    """The data file, read."""
    data = tomllib.loads(files("lean_memory.extraction").joinpath("gliner.toml").read_text("utf-8"))
    asked = cast("dict[str, float]", data["pass"])
    rows = cast("dict[str, dict[str, object]]", data["relation"])
    return Questions(
        threshold=asked["threshold"],
        most_confidence=asked["most_confidence"],
        untyped=asked["untyped"],
        longest_value=int(asked["longest_value"]),
        labels=cast("dict[str, str]", data["entity"]),
        relations={name: _relation(row, asked["threshold"]) for name, row in rows.items()},
    )


def _relation(row: Mapping[str, object], threshold: float) -> Relation:
    return Relation(
        predicate=str(row["predicate"]),
        threshold=float(str(row.get("threshold", threshold))),
        head=frozenset(cast("list[str]", row.get("head", []))),
        tail=frozenset(cast("list[str]", row.get("tail", []))),
        is_event=bool(row.get("event", False)),
        inverse=str(row.get("inverse", "")),
    )


def _candidate(said: Told, relation: FoundRelation, markup: Markup, anchor: Anchor) -> Candidate | None:
    rule = questions().relations.get(relation.name)
    far = max(relation.head[0], relation.tail[0])
    if rule is None or relation.score < rule.threshold or _overlap(relation.head, relation.tail) or far >= len(said.text):
        return None
    head, tail = _end(said, relation.head, markup, rule.head), _end(said, relation.tail, markup, rule.tail)
    clause = clause_at(said, said.sentence.span.start + far, anchor)
    if head is None or tail is None or clause is None or len(tail.name) > questions().longest_value:
        return None
    predicate = rule.predicate
    if rule.inverse and tail.name == said.self_name:
        head, tail, predicate = tail, head, rule.inverse
    made = _read(said, clause, predicate, (head, tail), anchor.t_ref, is_event=rule.is_event)
    sure = round(min(relation.score, questions().most_confidence) * head.certainty * tail.certainty, 3)
    return replace(made, confidence=sure, rule=relation.name) if made else None


def _read(said: Told, clause: Clause, predicate: str, ends: tuple[_End, _End], t_ref: Instant, *, is_event: bool) -> Candidate | None:
    """The candidate under the guards of its clause."""
    read = stance(clause, said.pack, t_ref)
    if read is None:
        return None
    (head, tail), (polarity, modality) = ends, read
    if is_event and modality is Modality.PAST and not any(date.ends is not None for date in clause.dates):
        modality = Modality.ASSERTED
    entry = vocabulary.predicate(predicate)
    subject = Subject(
        name=head.name, kind=head.kind or "thing", said=head.said, stands_alone=head.name == head.said or _is_self(head, said)
    )
    is_open = not head.name or not tail.name or _is_self(tail, said) or name_key(head.name) == name_key(tail.name)
    return Candidate(
        subject=head.name,
        subject_type=subject.kind,
        predicate=predicate,
        object=tail.name,
        object_type=entry.object_type,
        fact_text=standalone(said.sentence, clause, subject, said.pack, Scene(speaker=said.sentence.speaker)),
        span=clause.span if not clause.is_alone else said.sentence.span,
        polarity=polarity,
        modality=Modality.REPORTED if said.is_report else modality,
        cardinality=entry.cardinality,
        salience=entry.salience,
        valid_at=next((date.begins for date in clause.dates if date.begins is not None and not date.lasting), None),
        valid_to=next((date.ends for date in clause.dates if date.ends is not None), None),
        found_by=FOUND_BY,
        reasons=(UNRESOLVED,) if is_open else (),
    )


def _end(said: Told, span: tuple[int, int], markup: Markup, wanted: frozenset[str]) -> _End | None:
    """One end of a relation; `None` where the model sees another kind of thing there."""
    words = said.text[span[0] : span[1]].strip()
    key = words.casefold()
    if key in said.pack.word_sets.get("first", frozenset()) or key in said.pack.word_sets.get("my", frozenset()):
        return _End(name=said.self_name, said=words, kind="person") if not wanted or "person" in wanted else None
    labels = [entity.label for entity in markup.entities if _overlap((entity.start, entity.end), span)]
    if wanted and labels and not wanted & set(labels):
        return None
    fitting = next((label for label in labels if not wanted or label in wanted), None)
    name = _meant(said) if _points(words, said) else clean(words, said.pack)
    kind = questions().labels.get(fitting) if fitting else None
    return _End(name=name, said=words, kind=kind, certainty=1.0 if fitting or not wanted else questions().untyped)


def _meant(said: Told) -> str:
    """Whom a pronoun means, where the rules have told it and there is but one; else nobody."""
    others = {candidate.subject for candidate in said.candidates if candidate.subject != said.self_name}
    return others.pop() if len(others) == 1 else ""


def _points(words: str, said: Told) -> bool:
    """Whether the words only point at somebody or something: "she", "his boss", "my company"."""
    third, mine = said.pack.word_sets.get("third", frozenset[str]()), said.pack.word_sets.get("my", frozenset[str]())
    parts = words.split()
    if not parts or words.casefold() in third:
        return True
    return said.pack.spaces and parts[0].casefold() in third | mine and not parts[-1][:1].isupper()


def _is_self(end: _End, said: Told) -> bool:
    return end.name == said.self_name


def _one_value(candidates: Iterable[Candidate]) -> list[Candidate]:
    """In a functional slot the surest value alone; the model likes to give several."""
    kept: list[Candidate] = []
    slots: set[tuple[str, str]] = set()
    for candidate in candidates:
        if candidate.cardinality is Cardinality.FUNCTIONAL:
            if _slot(candidate) in slots:
                continue
            slots.add(_slot(candidate))
        kept.append(candidate)
    return kept


def _slot(candidate: Candidate) -> tuple[str, str]:
    return name_key(candidate.subject), candidate.predicate


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    return _slot(one) == _slot(other) and value_key(one.object) == value_key(other.object)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])
