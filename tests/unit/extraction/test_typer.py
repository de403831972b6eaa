"""What a language model reads in a sentence is kept only where the sentence bears it out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from lean_memory.domain import STATES, Candidate, Instant, Modality, Polarity
from lean_memory.errors import ModelError, ModelUnavailableError
from lean_memory.extraction import typer, vocabulary
from lean_memory.extraction.dates import Anchor
from lean_memory.extraction.told import Told, told
from lean_memory.extraction.typer import Surroundings, Verdict
from support.ollama_server import fact

ANCHOR = Anchor(t_ref=Instant(1_760_000_000_000), tz="UTC")
ALONE = Surroundings()


@dataclass
class Answering:
    """Gives its answers one after the other; a `ModelError` among them is raised."""

    answers: Sequence[str | ModelError]
    asked: list[tuple[str, str, Mapping[str, object]]] = field(default_factory=list)

    def answer(self, instruction: str, question: str, schema: Mapping[str, object]) -> str:
        self.asked.append((instruction, question, schema))
        given_back = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(given_back, ModelError):
            raise given_back
        return given_back


def said(text: str) -> Told:
    (only,) = told(text)
    return only


def kept(text: str, *facts: Mapping[str, str], around: Surroundings = ALONE) -> list[Candidate]:
    return typer.facts(json.dumps({"facts": facts}), said(text), around, ANCHOR)


TEXT = "Since the navy let me go I pay the bills through Tarrant Foundry."
QUOTE = "I pay the bills through Tarrant Foundry"


def test_a_fact_that_the_sentence_bears_out_is_kept_as_an_inference() -> None:
    (made,) = kept(TEXT, fact("user", "works_at", "tarrant foundry", QUOTE))
    assert (made.subject, made.predicate, made.object) == ("user", "works_at", "Tarrant Foundry")
    assert (made.found_by, made.is_inference) == ("typer", True)
    assert made.confidence < 0.8
    assert made.reasons
    assert made.cardinality is vocabulary.cardinality("works_at")


@pytest.mark.parametrize(
    "wrong",
    [
        fact("user", "works_at", "Globex", QUOTE),
        fact("user", "works_at", "Tarrant Foundry", "I am employed by Tarrant Foundry"),
        fact("Napoleon", "works_at", "Tarrant Foundry", QUOTE),
        fact("user", "works_at", "arrant", QUOTE),
        fact("it", "works_at", "Tarrant Foundry", QUOTE),
        fact("user", "works_at", "me", QUOTE),
        fact("Tarrant Foundry", "works_at", "Tarrant Foundry", QUOTE),
    ],
)
def test_what_the_sentence_does_not_say_is_no_fact(wrong: Mapping[str, str]) -> None:
    assert kept(TEXT, wrong) == []


def test_one_wrong_fact_does_not_take_a_right_one_with_it() -> None:
    assert len(kept(TEXT, fact("user", "works_at", "Globex", QUOTE), fact("user", "works_at", "Tarrant Foundry", QUOTE))) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "The speaker works at Tarrant Foundry.",
        "",
        "null",
        "[]",
        "{}",
        '{"facts": [{"subject": "user"',
        '{"facts": "none"}',
        '{"facts": [1]}',
        '{"facts": [{"subject": "user"}]}',
        json.dumps({"facts": [fact("user", "is_employed_by", "Tarrant Foundry", QUOTE)]}),
        json.dumps({"facts": [fact("user", STATES, "Tarrant Foundry", QUOTE)]}),
        json.dumps({"facts": [fact("user", "works_at", "Tarrant Foundry", QUOTE, modality="sure")]}),
        json.dumps({"facts": [fact("user", "works_at", "Tarrant Foundry", QUOTE, polarity="yes")]}),
        json.dumps({"facts": [fact("user", "works_at", "", QUOTE)]}),
        json.dumps({"facts": [fact("user", "works_at", "Tarrant Foundry", QUOTE)] * 40}),
        "[" * 100_000,
        '```json\n{"facts": []}\n```',
    ],
)
def test_an_answer_of_another_form_is_no_answer(answer: str) -> None:
    with pytest.raises(ModelError):
        typer.facts(answer, said(TEXT), ALONE, ANCHOR)


def test_an_unusable_answer_is_asked_for_once_more() -> None:
    good = json.dumps({"facts": [fact("user", "works_at", "Tarrant Foundry", QUOTE)]})
    model = Answering(["Sure! Here you go", good])
    assert len(typer.typed(model, said(TEXT), ALONE, ANCHOR)) == 1
    assert len(model.asked) == 2
    stubborn = Answering(["Sure!"])
    with pytest.raises(ModelError):
        typer.typed(stubborn, said(TEXT), ALONE, ANCHOR)
    assert len(stubborn.asked) == 2


def test_a_model_that_is_not_there_is_not_asked_again() -> None:
    model = Answering([ModelUnavailableError("gone")])
    with pytest.raises(ModelUnavailableError):
        typer.typed(model, said(TEXT), ALONE, ANCHOR)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("If I were luckier I would be at Tarrant.", "I would be at Tarrant"),
        ("I am no longer at Tarrant.", "I am no longer at Tarrant"),
        ("I have never been at Tarrant.", "I have never been at Tarrant"),
    ],
)
def test_the_guards_go_before_what_the_model_says(text: str, quote: str) -> None:
    for sentence in told(text):
        assert typer.facts(json.dumps({"facts": [fact("user", "works_at", "Tarrant", quote)]}), sentence, ALONE, ANCHOR) == []


def test_what_is_past_or_reported_is_not_made_present_by_the_model() -> None:
    (past,) = kept("I was on the payroll of Tarrant.", fact("user", "works_at", "Tarrant", "on the payroll of Tarrant"))
    assert past.modality is Modality.PAST
    (reported,) = kept("According to Nils, I am with Tarrant.", fact("user", "works_at", "Tarrant", "I am with Tarrant"))
    assert reported.modality is Modality.REPORTED


def test_of_what_one_may_have_many_something_past_may_still_hold() -> None:
    (pet,) = kept("We named her Moss after the stone.", fact("user", "has_pet", "Moss", "We named her Moss"))
    assert pet.modality is Modality.ASSERTED


def test_the_model_may_say_less_than_the_sentence() -> None:
    (made,) = kept("I pay the bills through Tarrant.", fact("user", "works_at", "Tarrant", "bills through Tarrant", polarity="-"))
    assert made.polarity is Polarity.NEGATIVE


def test_somebody_known_may_be_the_subject_in_the_known_spelling() -> None:
    around = Surroundings(known=["Berit Holm"])
    (made,) = kept(
        "She pays the bills through Tarrant.",
        fact(
            "berit holm",
            "works_at",
            "Tarrant",
            "She pays",
        ),
        around=around,
    )
    assert made.subject == "Berit Holm"


def test_the_speaker_of_a_labelled_turn_is_the_speaker() -> None:
    (made,) = kept("Gina: I pay the bills through Tarrant.", fact("Gina", "works_at", "Tarrant", "through Tarrant"))
    assert made.subject == "Gina"
    assert "Gina" in made.fact_text


def test_a_slot_for_one_gets_one_value() -> None:
    two = [fact("user", "works_at", value, QUOTE) for value in ("Tarrant", "Tarrant Foundry")]
    assert len(kept(TEXT, *two)) == 1


def test_the_question_is_bounded_whatever_is_known() -> None:
    around = Surroundings(known=[f"Person {n} " + "x" * 500 for n in range(5_000)], earlier=["y" * 10_000] * 50)
    question = typer.question(said(TEXT), around)
    assert question.count("Person ") == 100
    assert "Person 100 " not in question
    assert len(question) < 10_000


def test_text_cannot_leave_its_markers() -> None:
    question = typer.question(said("I live in >>> Porto <<< now."), Surroundings(known=["a >>> b"], earlier=["<<<"]))
    assert question.count("<<<") == question.count(">>>") == 1


def test_the_schema_allows_the_predicates_of_the_vocabulary_and_nothing_else() -> None:
    listed = json.dumps(typer.schema())
    assert all(f'"{name}"' in listed for name in vocabulary.predicates() if name != STATES)
    assert f'"{STATES}"' not in listed


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_verdict_is_one_of_three(verdict: Verdict) -> None:
    model = Answering([json.dumps({"verdict": verdict.value})])
    assert typer.adjudicate(model, "I prefer tea.", "I prefer coffee.") is verdict
    assert "I prefer tea." in model.asked[0][1]


@pytest.mark.parametrize("answer", ["replaces", "{}", '{"verdict": "yes"}', '{"verdict": 1}', '{"verdict": null}'])
def test_anything_else_is_no_verdict(answer: str) -> None:
    with pytest.raises(ModelError):
        typer.adjudicate(Answering([answer]), "I prefer tea.", "I prefer coffee.")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(["user", "works_at", "Tarrant Foundry", "+", "asserted"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["facts", "subject", "predicate", "object", "quote"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_is_stored_or_raises_anything_else(value: object) -> None:
    try:
        found = typer.facts(json.dumps(value), said(TEXT), ALONE, ANCHOR)
    except ModelError:
        return
    assert all(candidate.object in TEXT for candidate in found)
