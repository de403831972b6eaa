"""What is offered as a near duplicate, and what never is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lean_memory.domain import Modality, Polarity, RecordKind, Span, Trust
from lean_memory.maintenance.drafts import Snapshot
from lean_memory.maintenance.near_duplicates import near_duplicates, repeated_elsewhere
from support.snapshots import fact, snapshot


def offered(*facts: object) -> list[tuple[str, ...]]:
    return [draft.fact_ids for draft in near_duplicates(snapshot(facts))]  # pyright: ignore[reportArgumentType]


def test_the_same_said_twice_in_other_words_is_offered_once_with_its_cosine() -> None:
    [draft] = near_duplicates(snapshot(["The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."]))
    assert draft.fact_ids == ("The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot.")
    assert draft.cosine is not None and draft.cosine > 0.88
    assert "The first would be kept" in draft.reason


def test_the_one_that_says_more_is_kept() -> None:
    [draft] = near_duplicates(snapshot(["The spare key is kept under the pot.", "The spare key is kept under the blue pot."]))
    assert draft.facts[0].fact_text == "The spare key is kept under the blue pot."
    assert "“blue”" in draft.reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API listens on port 8090.", "The API listens on port 8091."),
        ("My daughter Ines is allergic to nuts.", "My daughter Mila is allergic to nuts."),
        ("The pool is heated in winter.", "The pool is not heated in winter."),
        ("The standup starts before lunch.", "The standup starts after lunch."),
        ("My uncle buys old clocks.", "My uncle sells old clocks."),
        ("My neighbour keeps a dog.", "My neighbour keeps an animal."),
        ("The report may be late.", "The report is late."),
        ("服务器的端口是8090。", "服务器的端口是8091。"),
        ("Mi hija es alérgica a las nueces.", "Mi hija no es alérgica a las nueces."),
    ],
)
def test_what_differs_in_a_number_a_name_a_sign_or_a_word_is_never_offered(one: str, other: str) -> None:
    assert offered(one, other) == []


def test_an_unknown_word_is_left_to_the_person_where_the_cosine_leaves_hardly_a_doubt() -> None:
    pairs = [("The dog trots along the beach.", "The dog lopes along the beach."), ("The dog has 2 beds.", "The dog has 3 beds.")]
    close = np.array([[1.0, 0.0], [0.96, 0.28]], np.float32)
    near = [list(near_duplicates(replace(snapshot(pair), vectors=close))) for pair in pairs]
    assert [len(drafts) for drafts in near] == [1, 0]


def at_cosine(cosine: float, one: str, other: str) -> Snapshot:
    return replace(snapshot((one, other)), vectors=np.array([[1.0, 0.0], [cosine, (1.0 - cosine**2) ** 0.5]], np.float32))


def test_one_unknown_word_among_many_needs_a_higher_cosine_than_among_few() -> None:
    few = ("The dog trots along the wet beach.", "The dog lopes along the wet beach.")
    many = tuple(f"{text[:-1]} between the old harbour and the light tower where the ferry to Norderney leaves." for text in few)
    assert len(list(near_duplicates(at_cosine(0.93, *few)))) == 1
    assert list(near_duplicates(at_cosine(0.87, *few))) == []
    assert list(near_duplicates(at_cosine(0.96, *many))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The ferry to the island leaves in the morning.", "The ferry to the island leaves in the evening."),
        ("The archive is copied to tape weekly.", "The archive is copied to tape monthly."),
        ("The hut is at the left end of the meadow.", "The hut is at the right end of the meadow."),
        ("The loan is signed by the senior partner.", "The loan is signed by the junior partner."),
        ("The barn belongs to an aunt of the farmer.", "The barn belongs to a niece of the farmer."),
        ("The baker's oven needs a new door.", "The baker's shop needs a new door."),
        ("Ворота сада красные и скрипят.", "Ворота сада синие и скрипят."),
        ("予備の傘は玄関の棚の上にあります。", "予備の傘は寝室の棚の上にあります。"),
    ],
)
def test_what_only_a_small_word_tells_apart_is_not_offered_however_near_by_cosine(one: str, other: str) -> None:
    assert list(near_duplicates(at_cosine(0.99, one, other))) == []


def test_what_is_in_two_slots_or_said_in_two_ways_is_not_offered() -> None:
    text, again = "The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."
    assert offered(fact(text), fact(again, subject="Ana")) == []
    assert offered(fact(text), fact(again, polarity=Polarity.NEGATIVE)) == []
    assert offered(fact(text), fact(again, modality=Modality.PLANNED)) == []
    assert offered(fact(text), fact(again, kind=RecordKind.SUMMARY)) == []
    assert offered(fact(text), replace(fact(again), flags=("instruction-like",))) == []


def test_what_waits_for_a_decision_is_not_offered_again() -> None:
    picture = snapshot(["The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."])
    assert not list(near_duplicates(replace(picture, held=frozenset({picture.facts[1].id}))))


def test_what_is_more_trusted_is_kept_unless_it_says_less() -> None:
    text, again = "The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."
    assert offered(fact(text, trust=Trust.INFERRED), fact(again)) == [(again, text)]
    assert offered(fact(text, trust=Trust.INFERRED), fact("Spare keys are kept under a pot.")) == []


def test_values_of_one_slot_are_held_against_each_other_by_themselves() -> None:
    one = fact("I really like the strawberries from the farm.", predicate="likes", value="the strawberries from the farm")
    same = fact("I like the strawberry from a farm.", predicate="likes", value="the strawberry from a farm")
    more = fact("I like the wild strawberries from the farm.", predicate="likes", value="the wild strawberries from the farm")
    assert offered(one, same) == [(one.id, same.id)]
    assert offered(one, more) == []


def test_a_fact_without_a_vector_is_left_alone() -> None:
    picture = snapshot(["The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."])
    assert not list(near_duplicates(replace(picture, vectors=np.zeros_like(picture.vectors))))


def test_in_a_slot_of_many_values_the_duplicates_are_found_and_nothing_else() -> None:
    many = [f"Shelf {number} in the cellar holds box {number + 1000} with tools." for number in range(300)]
    picture: Snapshot = snapshot([*many, "The spare key is kept under the blue pot.", "Spare keys are kept under a blue pot."])
    [draft] = near_duplicates(picture)
    assert {each.fact_text for each in draft.facts} == {
        "The spare key is kept under the blue pot.",
        "Spare keys are kept under a blue pot.",
    }


def test_a_statement_filed_under_another_subject_is_offered_to_be_put_away_and_not_to_be_merged() -> None:
    first, again = fact("A fox lives behind the barn.", subject="fox"), fact("The fox lives behind a barn.")
    picture = snapshot([first, again])
    assert not list(near_duplicates(picture))
    [draft] = repeated_elsewhere(picture)
    assert draft.fact_ids == (again.id,)
    assert "“A fox lives behind the barn.”" in draft.reason
    assert not list(repeated_elsewhere(replace(picture, kept=frozenset({again.id}))))
    assert not list(repeated_elsewhere(picture, without=frozenset({first.id})))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("He lives behind the barn.", "He lives behind a barn."),
        ("Behind the barn he keeps a fox for Milo.", "Behind a barn he keeps a fox for Milo."),
        ("A fox lives behind the barn.", "A badger lives behind the barn."),
        ("A fox lives behind the barn.", "No fox lives behind the barn."),
        ("Two foxes live behind the barn.", "Three foxes live behind the barn."),
    ],
)
def test_under_two_subjects_only_what_says_the_same_about_somebody_named_is_one(one: str, other: str) -> None:
    assert not list(repeated_elsewhere(snapshot([fact(one, subject="fox"), fact(other)])))


def test_a_pronoun_behind_a_name_is_of_the_sentence_itself() -> None:
    one, other = "Ines Brandt keeps her foxes behind the barn.", "Ines Brandt keeps her foxes behind a barn."
    assert list(repeated_elsewhere(snapshot([fact(one, subject="Ines Brandt"), fact(other)])))


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_statements_under_two_subjects_the_one_that_says_more_stays(turned: bool) -> None:
    more, less = fact("A red fox lives behind the old barn.", subject="fox"), fact("A fox lives behind the old barn.")
    [draft] = repeated_elsewhere(snapshot([less, more] if turned else [more, less]))
    assert (draft.fact_ids, tuple(kept.id for kept in draft.rests_on)) == ((less.id,), (more.id,))


def test_a_plain_statement_that_a_better_slot_has_already_is_offered_to_be_put_away_whichever_was_said_first() -> None:
    plain = fact("The spare key is hanging behind the kitchen door.", subject="spare key")
    better = fact("A spare key hangs behind the kitchen door.", predicate="spare_key_place", value="behind the kitchen door")
    for picture in (snapshot([plain, better]), snapshot([better, plain])):
        [draft] = repeated_elsewhere(picture)
        assert (draft.fact_ids, tuple(kept.id for kept in draft.rests_on)) == ((plain.id,), (better.id,))
    assert not list(repeated_elsewhere(snapshot([replace(better, predicate="key_place"), better])))


@pytest.mark.parametrize(
    "other",
    [
        "The spare key is hanging behind the bathroom door.",
        "The spare key is not hanging behind the kitchen door.",
        "The old spare key is hanging behind the kitchen door.",
        "Two spare keys are hanging behind the kitchen door.",
    ],
)
def test_what_a_better_slot_says_otherwise_is_left_alone(other: str) -> None:
    better = fact("A spare key hangs behind the kitchen door.", predicate="spare_key_place", value="behind the kitchen door")
    assert not list(repeated_elsewhere(snapshot([fact(other), better])))
    assert not list(repeated_elsewhere(snapshot([fact(better.fact_text + " "), replace(better, modality=Modality.PAST)])))
    assert not list(repeated_elsewhere(snapshot([fact(better.fact_text + " "), replace(better, trust=Trust.INFERRED)])))


def test_what_one_sentence_gave_two_slots_is_no_repetition() -> None:
    better = replace(fact("A spare key hangs here.", predicate="spare_key_place", value="here"), span=Span(start=0, end=23))
    assert not list(repeated_elsewhere(snapshot([better, replace(fact(better.fact_text + " "), span=better.span)])))


def test_what_the_person_did_not_want_merged_is_not_offered_together_with_more() -> None:
    first, second, third = (
        "The spare key is kept under the blue pot.",
        "Spare keys are kept under a blue pot.",
        "The spare key is kept under a blue pot.",
    )
    refused = frozenset({frozenset((first, second))})
    for draft in near_duplicates(replace(snapshot([first, second, third]), refused=refused)):  # pyright: ignore[reportArgumentType]
        assert not refused & {frozenset((draft.facts[0].id, other.id)) for other in draft.facts[1:]}
    assert list(near_duplicates(replace(snapshot([first, second]), refused=refused))) == []  # pyright: ignore[reportArgumentType]
