"""Of two accounts of the same thing the newer answers, and the older comes behind; whatever else it may be about stays where it was."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from support.statements import day

OTHERS = (
    "The ramen place near the harbour closes on Mondays.",
    "Ramen broth is better with kombu, I think.",
    "A colleague of mine brought ramen to the office.",
    "There is a ramen museum in Yokohama.",
    "I like my ramen with a soft egg.",
    "We watched a film about a ramen cook.",
)


UPDATES: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("updates.toml").read_text("utf-8"))["update"]


@pytest.fixture(scope="module")
def of_a_year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Everything that is told older, then everything newer."""
    with Memory(root=tmp_path_factory.mktemp("year")) as opened:
        told = [each["older"] for each in UPDATES] + [each["newer"] for each in UPDATES]
        opened.add_many("ana", [{"text": text, "t_ref": day(1 + 3 * place), "tz": "UTC"} for place, text in enumerate(told)])
        yield opened


@pytest.mark.parametrize("update", UPDATES, ids=[each["question"] for each in UPDATES])
def test_the_newer_account_answers_and_the_older_is_not_among_the_first_five(of_a_year: Memory, update: dict[str, str]) -> None:
    hits = [hit.source for hit in of_a_year.search("ana", update["question"], 5, now=day(900))]
    assert hits[0] == update["newer"]
    assert update["older"] not in hits


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory(root=root) as opened:
        yield opened


def tell(memory: Memory, *said: str, gap: int = 10) -> None:
    for place, text in enumerate((*OTHERS, *said)):
        memory.add("ana", text, t_ref=day(1 + gap * place), tz="UTC")


def found(memory: Memory, question: str, *, k: int = 5, as_of_text: int | None = None, history: bool = False) -> list[str]:
    as_of = None if as_of_text is None else day(1 + 10 * (len(OTHERS) + as_of_text) + 5)
    hits = memory.search("ana", question, k, as_of=as_of, is_latest_only=not history, now=day(900))
    return [hit.source for hit in hits]


def test_of_two_counts_of_one_thing_the_newer_comes_first_and_the_older_behind_five_others(memory: Memory) -> None:
    old, new = "In Leith I know three ramen places well.", "By the way, I went out again, and in Leith I know six ramen places well by now."
    tell(memory, old, new)
    hits = found(memory, "How many ramen places do I know in Leith?", k=8)
    assert hits[0] == new
    assert old not in hits[:5]
    assert old in hits


def test_what_a_long_message_says_beside_the_older_count_comes_behind_with_it(memory: Memory) -> None:
    aside = " Ramen is what I cook for friends when it rains, and the ramen of the north is the heartier one." * 7
    old, new = f"In Leith I know three ramen places well.{aside}", "In Leith I know six ramen places well by now."
    tell(memory, old, new)
    hits = found(memory, "How many ramen places do I know in Leith?", k=5)
    assert hits[0] == new
    assert not any(hit in old or old.startswith(hit[:40]) for hit in hits[1:])


def test_who_asks_for_history_or_for_an_earlier_day_finds_the_older_count(memory: Memory) -> None:
    old, new = "In Leith I know three ramen places well.", "In Leith I know six ramen places well."
    tell(memory, old, new)
    question = "How many ramen places do I know in Leith?"
    assert {old, new} <= set(found(memory, question, history=True)[:2])
    assert found(memory, question, as_of_text=0)[0] == old


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "I just beat my 3rd ramen recipe from the box.",
            "Done with the fifth ramen recipe from the box.",
            "How many ramen recipes from the box?",
        ),
        ("The ramen pot I want costs $140.", "The ramen pot I want costs $185 at the moment.", "What does the ramen pot I want cost?"),
        ("My ramen class is on Tuesdays.", "My ramen class is on Thursdays.", "On which day is my ramen class?"),
        ("The ramen shop opens at 11:30.", "The ramen shop opens at 10 am.", "What time does the ramen shop open?"),
        ("My ramen egg takes 7 minutes.", "My ramen egg takes 6 minutes.", "How long does my ramen egg take?"),
        (
            "I store the ramen bowls under the sink.",
            "I store the ramen bowls in the pantry.",
            "Where do I currently store the ramen bowls?",
        ),
        ("I own 40 ramen bowls.", "About my ramen bowls: I'm close to 60 now.", "How many ramen bowls do I own?"),
        ("我吃过3次拉面。", "我吃过8次拉面。", "我吃过几次拉面？"),
    ],
)
def test_numbers_prices_days_hours_and_places_are_replaced(memory: Memory, old: str, new: str, question: str) -> None:
    tell(memory, old, new)
    hits = found(memory, question)
    assert hits[0] == new
    assert old not in hits


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "I ate three bowls of ramen in Leith.",
            "I ate six bowls of ramen in Leith.",
            "How many bowls of ramen did I eat in Leith in total?",
        ),
        (
            "I have tried three ramen places in Leith.",
            "I have tried six noodle soups from Leith.",
            "How many ramen places have I tried in Leith?",
        ),
        ("We cooked ramen on a Tuesday.", "We cooked ramen on a Friday.", "On which days before June did we cook ramen?"),
        (
            "The head of the ramen guild of Kobe is Aiko.",
            "The head of the ramen guild of Osaka is Ren.",
            "Who is our current head of the ramen guild of Kobe?",
        ),
        ("I bought ramen bowls in Kyoto.", "I bought ramen bowls in Osaka.", "Where did I buy ramen bowls?"),
        ("My ramen egg takes 7 minutes.", "I make a ramen egg for 6 friends.", "How long does my ramen egg take?"),
        (
            "I store the ramen bowls under the sink.",
            "Do you know where to store ramen bowls?",
            "Where do I currently store the ramen bowls?",
        ),
        ("Rosa: My ramen class is on Tuesdays.", "Emil: My ramen class is on Thursdays.", "On which day is Rosa's ramen class?"),
    ],
)
def test_sums_other_things_other_people_and_repeated_events_are_not(memory: Memory, old: str, new: str, question: str) -> None:
    tell(memory, old, new)
    assert any(old in hit for hit in found(memory, question))


@pytest.mark.parametrize(
    ("answer", "later", "question"),
    [
        ("I live in Leeds.", "My friend Ana said: “I live in Porto.”", "Where do I live?"),
        ("I work at Globex.", "My sister works at Hooli.", "Where do I work?"),
        ("I am allergic to peanuts.", "My brother Paul is allergic to cats.", "What am I allergic to?"),
        ("I live in Leeds.", "I used to live in Bristol.", "Where do I live?"),
        ("I moved to York.", "Tom said he lives in Rome.", "Where do I live?"),
        ("I am a data engineer at Globex.", "I used to live in Bristol.", "What do I do for a living?"),
        ("My sister works at Hooli.", "I work at Globex now.", "Where does my sister work?"),
        ("My sister says she lives in Berlin.", "I live in Paris.", "Where does my sister live?"),
        ("My brother has two bikes.", "I have five bikes.", "How many bikes does my brother have?"),
        ("我住在利兹。", "我妹妹住在波尔图。", "我住在哪里？"),
    ],
)
def test_what_is_told_of_somebody_else_or_of_the_past_replaces_nothing(memory: Memory, answer: str, later: str, question: str) -> None:
    tell(memory, answer, later)
    assert found(memory, question)[0] == answer


def test_who_asks_where_it_was_before_finds_the_past(memory: Memory) -> None:
    tell(memory, "I live in Leeds.", "I used to live in Bristol.")
    assert "I used to live in Bristol." in found(memory, "Where did I live before?")[:2]


def test_asking_for_more_hits_changes_nothing_in_the_first_ones_and_scores_fall(memory: Memory) -> None:
    tell(memory, "I have tried three ramen places in Leith.", "I have tried six ramen places in Leith.")
    few = memory.search("ana", "How many ramen places have I tried in Leith?", 3)
    many = memory.search("ana", "How many ramen places have I tried in Leith?", 20)
    assert [hit.fact.id for hit in few] == [hit.fact.id for hit in many[:3]]
    assert [hit.final_score for hit in many] == sorted((hit.final_score for hit in many), reverse=True)
