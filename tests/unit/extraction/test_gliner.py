"""What an entity and relation model marked becomes facts of the vocabulary, under the same guards as the rules."""

from __future__ import annotations

from typing import Any

import pytest

from lean_memory.domain import Candidate, Instant, Modality, Polarity, Source
from lean_memory.extraction import gliner, vocabulary
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.pipeline import extract
from lean_memory.extraction.told import told
from lean_memory.models.local import markup_of

T_REF = Instant(1_760_000_000_000)
ANCHOR = Anchor(t_ref=T_REF, tz="UTC")

Triple = tuple[str, str, str]


def recorded(text: str, *triples: Triple, score: float = 0.9, entities: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """A result in the form in which the library gives it, with confidence and spans."""

    def span(words: str) -> dict[str, Any]:
        start = text.index(words)
        return {"text": words, "confidence": score, "start": start, "end": start + len(words)}

    relations: dict[str, list[dict[str, Any]]] = {name: [] for name in gliner.questions().relations}
    for head, name, tail in triples:
        relations[name].append({"head": span(head), "tail": span(tail)})
    found = {label: [span(words) for words in words_of] for label, words_of in (entities or {}).items()}
    return {"entities": found, "relation_extraction": relations}


def found(text: str, *triples: Triple, **more: Any) -> list[Candidate]:
    rules = extract(text, t_ref=T_REF, tz="UTC", source=Source.USER).candidates
    made: list[Candidate] = []
    for said in told(text, rules):
        inside = [t for t in triples if t[0] in said.text and t[2] in said.text]
        made += gliner.found(said, markup_of(recorded(said.text, *inside, **more)), ANCHOR)
    return made


def told_of(candidates: list[Candidate]) -> list[Triple]:
    return [(c.subject, c.predicate, c.object) for c in candidates]


def test_every_relation_that_is_asked_for_is_one_of_the_vocabulary() -> None:
    asked = gliner.questions()
    known = set(vocabulary.predicates())
    assert {r.predicate for r in asked.relations.values()} | {r.inverse for r in asked.relations.values() if r.inverse} <= known
    assert all((r.head | r.tail) <= set(asked.labels) for r in asked.relations.values())


def test_the_first_person_is_the_user_and_articles_go() -> None:
    (made,) = found("These days I pay the bills through the Tarrant Foundry.", ("I", "works at", "the Tarrant Foundry"))
    assert (made.subject, made.predicate, made.object) == ("user", "works_at", "Tarrant Foundry")
    assert made.found_by == "gliner"
    assert made.rule == "works at"


def test_the_first_person_of_a_named_speaker_is_that_speaker() -> None:
    made = found("Gina: I pay the bills through Tarrant.", ("I", "works at", "Tarrant"))
    assert told_of(made) == [("Gina", "works_at", "Tarrant")]
    assert made[0].fact_text.startswith("Gina")


def test_confidence_comes_from_the_less_sure_end_and_stays_below_that_of_a_rule() -> None:
    text = "Berit pays the bills through Tarrant."
    (sure,) = found(text, ("Berit", "works at", "Tarrant"), entities={"person": ["Berit"], "organization": ["Tarrant"]}, score=0.99)
    (less,) = found(text, ("Berit", "works at", "Tarrant"), entities={"person": ["Berit"], "organization": ["Tarrant"]}, score=0.7)
    (untyped,) = found(text, ("Berit", "works at", "Tarrant"), score=0.7)
    assert (sure.confidence, less.confidence) == (0.85, 0.7)
    assert untyped.confidence < less.confidence


def test_what_scores_too_little_or_has_an_end_of_another_kind_gives_nothing() -> None:
    text = "Berit pays the bills through Tarrant."
    assert found(text, ("Berit", "works at", "Tarrant"), score=0.3) == []
    assert found(text, ("Berit", "works at", "Tarrant"), entities={"animal": ["Tarrant"]}) == []
    assert found(text, ("Berit", "has pet", "Tarrant"), entities={"organization": ["Tarrant"]}) == []


@pytest.mark.parametrize(
    ("text", "polarity", "modality"),
    [
        ("Back then I was on the payroll of Tarrant.", Polarity.POSITIVE, Modality.PAST),
        ("I am going to be on the payroll of Tarrant.", Polarity.POSITIVE, Modality.PLANNED),
        ("I am not on the payroll of Tarrant.", Polarity.NEGATIVE, Modality.ASSERTED),
        ("According to Nils, I am on the payroll of Tarrant.", Polarity.POSITIVE, Modality.REPORTED),
    ],
)
def test_the_clause_decides_polarity_and_modality(text: str, polarity: Polarity, modality: Modality) -> None:
    (made,) = found(text, ("I", "works at", "Tarrant"))
    assert (made.polarity, made.modality) == (polarity, modality)


@pytest.mark.parametrize(
    "text",
    [
        "If I were luckier I would be on the payroll of Tarrant.",
        "Maybe I end up on the payroll of Tarrant.",
        "I am no longer on the payroll of Tarrant.",
        "Am I on the payroll of Tarrant?",
        "```\nI am on the payroll of Tarrant\n```",
    ],
)
def test_conditions_guesses_ends_questions_and_code_give_nothing(text: str) -> None:
    assert found(text, ("I", "works at", "Tarrant")) == []


def test_an_event_in_the_past_tense_holds_now_but_not_one_with_an_end() -> None:
    (adopted,) = found("Last spring we took in a beagle named Moss.", ("we", "adopted pet", "Moss"))
    assert adopted.modality is Modality.ASSERTED


def test_a_relation_that_ends_at_the_speaker_is_told_from_the_speakers_side() -> None:
    assert told_of(found("Torvald brought me up, being the parent of me.", ("Torvald", "parent of", "me"))) == [
        ("user", "has_parent", "Torvald")
    ]
    assert told_of(found("Sunniva is the one I tied the knot with.", ("Sunniva", "married to", "I"))) == [("user", "partner", "Sunniva")]


def test_an_end_that_only_points_is_marked_unresolved() -> None:
    (made,) = found("She pays the bills through Tarrant.", ("She", "works at", "Tarrant"))
    assert gliner.UNRESOLVED in made.reasons
    (place,) = found("I pay the bills through that.", ("I", "works at", "that"))
    assert gliner.UNRESOLVED in place.reasons


def test_a_rule_stands_and_grows_surer_where_the_model_found_the_same() -> None:
    text = "I work at Tarrant."
    rules = extract(text, t_ref=T_REF, tz="UTC", source=Source.USER).candidates
    stood, fresh = gliner.merged(rules, found(text, ("I", "works at", "Tarrant")))
    assert fresh == []
    assert [(c.object, c.found_by) for c in stood] == [("Tarrant", "rules")]
    assert stood[0].confidence > rules[0].confidence


def test_another_value_for_a_slot_that_a_rule_has_read_is_disputed() -> None:
    text = "I work at Tarrant."
    rules = extract(text, t_ref=T_REF, tz="UTC", source=Source.USER).candidates
    stood, fresh = gliner.merged(rules, found(f"{text[:-1]}, as Kestrel.", ("I", "works at", "Kestrel")))
    assert [c.object for c in stood] == ["Tarrant"]
    assert [(c.object, gliner.DISPUTED in c.reasons) for c in fresh] == [("Kestrel", True)]


def test_of_several_values_in_a_slot_for_one_the_surest_stays() -> None:
    text = "I pay the bills through Tarrant near Kestrel."
    said = told(text)[0]
    low, high = recorded(text, ("I", "works at", "Kestrel"), score=0.6), recorded(text, ("I", "works at", "Tarrant"), score=0.8)
    low["relation_extraction"]["works at"] += high["relation_extraction"]["works at"]
    assert [c.object for c in gliner.found(said, markup_of(low), ANCHOR)] == ["Tarrant"]


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"entities": None, "relation_extraction": None},
        {"entities": {"person": [None, {"start": 4, "end": 2, "confidence": 1.0}, {"start": "0", "end": 3}]}},
        {"relation_extraction": {"works at": [None, {"head": None, "tail": None}, {"head": {"start": 0, "end": 3}, "tail": {}}]}},
    ],
)
def test_what_has_another_form_than_the_librarys_is_left_out(result: dict[str, Any]) -> None:
    markup = markup_of(result)
    assert (markup.entities, markup.relations) == ((), ())


def test_both_architectures_of_the_library_are_read() -> None:
    end = {"text": "Ada", "start": 0, "end": 3, "confidence": 0.6}
    other = {"text": "Rome", "start": 9, "end": 13, "confidence": 0.4}
    span = {"relation_extraction": {"lives in: somebody lives somewhere": [{"head": end, "tail": other}], "lives in": []}}
    boundary = {"relation_extraction": {"lives in": [{"head": end, "tail": other, "confidence": 0.5}]}}
    assert [(r.name, r.score) for r in markup_of(span).relations] == [("lives in", 0.4)]
    assert [(r.name, r.score) for r in markup_of(boundary).relations] == [("lives in", 0.5)]
