"""What a summary may say, how long it may be, and what it must admit to leave out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from lean_memory.errors import ModelError
from lean_memory.maintenance.drafts import Draft
from lean_memory.maintenance.summaries import summaries
from lean_memory.maintenance.traceability import says_still, untraceable
from support.snapshots import fact, likes, snapshot

GARDEN = [
    "The garden shed needs a new roof before winter.",
    "The garden gate squeaks and wants oil on its hinges.",
    "The garden pond has 12 goldfish and two old frogs.",
    "The garden wall is covered with ivy from Rosa.",
    "The garden tap is not to be used in frost.",
    "The garden chairs are stored in the cellar until May.",
]
LONG = [
    "walking along the river in the evening",
    "the sound of rain on a tin roof",
    "bread that is still warm from the oven",
    "old maps of the harbour",
    "letters written by hand",
    "the smell of cut grass",
]


@dataclass
class Model:
    """A typing model that gives one answer and remembers what it was asked."""

    says: str | None
    asked: list[str] = field(default_factory=list[str])

    def answer(self, instruction: str, question: str, schema: Mapping[str, object]) -> str:
        self.asked.append(question)
        if self.says is None:
            raise ModelError("No answer in time.")
        return self.says


def by(model: Model | None, *texts: str) -> list[Draft]:
    return list(summaries(snapshot([*texts]), model))


def size(*texts: str) -> int:
    return sum(map(len, texts))


def test_five_old_facts_of_one_matter_make_an_extract_of_half_their_length() -> None:
    [draft] = by(None, *GARDEN)
    assert len(draft.text) <= size(*GARDEN) / 2
    assert draft.facts and set(draft.fact_ids) == set(GARDEN)
    assert all(part.removeprefix("The garden ").rstrip(".") in draft.text for part in draft.demotes)
    assert set(draft.lost) == set(GARDEN) - set(draft.demotes)
    assert "word for word" in draft.reason


def test_values_with_one_beginning_are_listed_behind_it() -> None:
    beginning = "In my spare time, whenever the weather allows it, I enjoy "
    facts = [fact(f"{beginning}{each}.", predicate="likes", value=each) for each in ("rowing", "chess", "jazz", "tea", "maps")]
    [draft] = summaries(snapshot(facts))
    assert draft.text == f"{beginning}rowing; chess; jazz; tea; maps."
    assert draft.lost == ()
    assert draft.demotes == draft.fact_ids


def test_fewer_than_five_or_younger_facts_make_none() -> None:
    assert not by(None, *GARDEN[:4])
    assert not list(summaries(snapshot([fact(text, days=80) for text in GARDEN])))


def test_what_is_vital_is_never_summarised() -> None:
    facts = [
        fact(f"I am allergic to {each}.", predicate="allergic_to", value=each)
        for each in ("nuts", "eggs", "wheat", "milk", "wasps", "cats")
    ]
    assert not list(summaries(snapshot(facts)))


def test_facts_about_different_matters_are_not_thrown_together() -> None:
    assert not by(
        None, GARDEN[0], "My bank closes at noon.", "Milo plays the flute.", "The car is red.", "Ines studies law.", "Tea is in the tin."
    )


def test_a_typing_model_writes_it_where_everything_can_be_traced() -> None:
    text = "The garden shed needs a new roof before winter, and the garden tap is not to be used in frost."
    model = Model(json.dumps({"summary": text}))
    [draft] = by(model, *GARDEN)
    assert draft.text == text
    assert set(draft.demotes) == {GARDEN[0], GARDEN[4]}
    assert set(draft.lost) == set(GARDEN) - {GARDEN[0], GARDEN[4]}
    assert "language model" in draft.reason


@pytest.mark.parametrize(
    "says",
    [
        "The garden pond has 21 goldfish.",
        "The garden wall is covered with ivy from Emma.",
        "The garden tap is to be used in frost.",
        "The garden shed does not need a new roof.",
        "The garden may need a new gate.",
        "The garden burned down.",
        "x" * 500,
        "",
    ],
)
def test_what_cannot_be_traced_or_is_too_long_is_replaced_by_the_extract(says: str) -> None:
    [draft] = by(Model(json.dumps({"summary": says})), *GARDEN)
    assert "word for word" in draft.reason


@pytest.mark.parametrize("raw", [None, "prose", "[]", '{"summary": 3}', '{"text": "The garden."}'])
def test_a_model_that_fails_or_answers_anything_costs_nothing_but_its_words(raw: str | None) -> None:
    [draft] = by(Model(raw), *GARDEN)
    assert "word for word" in draft.reason


def test_a_source_counts_as_told_only_with_all_that_it_says() -> None:
    assert says_still("The pond has 12 goldfish.", "The pond has 12 goldfish")
    assert not says_still("The pond has goldfish.", "The pond has 12 goldfish.")
    assert not says_still("The tap is used in frost.", "The tap is not used in frost.")
    assert not says_still("猫住在上海。", "猫住在上海，有三只小猫。")


def test_numbers_and_names_are_traced_to_the_source_that_speaks_of_the_same() -> None:
    sources = ["Ines was born in 1990 in Turin.", "Milo was born in 1985 in Oslo.", "Milo does not eat fish."]
    assert untraceable("Ines was born in 1990.", sources) == ""
    assert untraceable("Milo was born in 1990.", sources) == "Milo was born in 1990."
    assert untraceable("Ines was born in Oslo.", sources) == "Ines was born in Oslo."
    assert untraceable("Milo eats fish.", sources) == "Milo eats fish."
    assert untraceable("小李有三只猫。", ["小李有两只猫。"]) != ""
    runs = ["我星期一跑了5公里。", "我星期五和小王跑了10公里。"]
    assert untraceable("我星期五跑了五公里。", runs) != ""
    assert untraceable("我星期五和小王跑了十公里。", runs) == ""


def test_facts_that_wait_or_are_kept_are_no_sources() -> None:
    picture = snapshot(GARDEN)
    assert not list(summaries(replace(picture, held=frozenset(each.id for each in picture.facts[:2]))))
    assert not list(summaries(replace(picture, kept=frozenset(each.id for each in picture.facts[:2]))))
    assert not list(summaries(picture, without=frozenset(each.id for each in picture.facts[:2])))


def test_values_longer_than_their_frame_are_taken_as_far_as_there_is_room() -> None:
    [draft] = summaries(snapshot(likes(*LONG)))
    assert len(draft.text) <= size(*(each.fact_text for each in draft.facts)) / 2
    assert draft.lost
    assert all(each in draft.facts[0].fact_text or each for each in draft.lost)
