"""What tells two sentences apart: numbers, names, signs and every other word, in their order."""

from __future__ import annotations

import pytest

from lean_memory.maintenance.difference import Differs, compare
from lean_memory.maintenance.wording import wording


def differs(one: str, other: str) -> Differs | None:
    there, back = compare(wording(one), wording(other)), compare(wording(other), wording(one))
    assert there.differs == back.differs
    return there.differs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The backup runs at 3 pm.", "The backup runs at 15:00."),
        ("The budget is $2 million.", "The budget is 2,000,000 dollars."),
        ("We have three printers.", "We have 3 printers."),
        ("A cat sleeps on the sofa.", "The cat is sleeping on the sofa."),
        ("My brother purchased a bicycle.", "My brother bought a bike."),
        ("The colour of the fence is green.", "The color of the fence is green."),
        ("In spring the shop closes at noon.", "The shop closes at noon in spring."),
        ("She keeps her sunglasses in the car.", "She keeps her sun glasses in the car."),
        ("The roof was mended by two friends in May.", "Two friends mended the roof in May."),
        ("The old oven can be used to dry plums.", "The oven, which is old, can be used to dry plums."),
        ("The US office hired a cook.", "The American office hired a cook."),
        ("A herd of goats grazes on the hill.", "Goats are grazing on the hill."),
        ("My brother keeps bees on the roof of his house.", "My brother keeps bees on the roof of the house."),
        ("Milo and Ines run the bakery.", "Ines and Milo run the bakery."),
        ("The Greek office moved to Patras.", "The office in Greece moved to Patras."),
        (
            "The fair opens in Ghent on May 4 and closes in Bruges on May 9.",
            "The fair opens on May 4 in Ghent and closes on May 9 in Bruges.",
        ),
        ("Dr. Milo Brandt said the wall is dry and the roof is tight.", "The roof is tight and the wall is dry, Milo Brandt said."),
        ("The Lisbon Book Fair needs more young stewards who speak Dutch.", "The Lisbon BF needs more young stewards who speak Dutch."),
        ("我妹妹住在上海。", "我妹妹现在住在上海"),
        ("会议在三点开始。", "会议在3点开始"),
        ("Mi hermana vive en Lima.", "Mi hermana vive ahora en Lima."),
        ("Der Zug fährt um 8:30 ab.", "Der Zug fährt jetzt um 8:30 ab."),
    ],
)
def test_the_same_said_in_other_words_has_no_difference(one: str, other: str) -> None:
    assert differs(one, other) is None


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("The API listens on port 8090.", "The API listens on port 8091.", Differs.NUMBER),
        ("The parcel weighs 5 kg.", "The parcel weighs 5 lb.", Differs.NUMBER),
        ("The rent is €900.", "The rent is $900.", Differs.NUMBER),
        ("Two dogs guard the yard.", "Three dogs guard the yard.", Differs.NUMBER),
        ("The lease ends on May 4.", "The lease ends on May 14.", Differs.NUMBER),
        ("The alarm is armed at night.", "The alarm is not armed at night.", Differs.NEGATION),
        ("The old heater works.", "The old heater no longer works.", Differs.NEGATION),
        ("The office will move to Lyon.", "The office may move to Lyon.", Differs.SIGN),
        ("The train goes from Lyon to Nice.", "The train goes from Nice to Lyon.", Differs.ORDER),
        ("The ferry leaves before noon.", "The ferry leaves after noon.", Differs.SIGN),
        ("All shops close on Monday.", "Few shops close on Monday.", Differs.SIGN),
        ("The valve is open.", "The valve is closed.", Differs.OPPOSITE),
        ("Prices will rise in autumn.", "Prices will fall in autumn.", Differs.OPPOSITE),
        ("The keeper buys apples at the market.", "The keeper sells apples at the market.", Differs.OPPOSITE),
        ("The workshop is in Turin.", "The workshop is in Milan.", Differs.NAME),
        ("My daughter plays football.", "My daughter plays handball.", Differs.WORD),
        ("My cousin keeps a parrot.", "My cousin keeps an animal.", Differs.WORD),
        ("The card is in the drawer.", "The car is in the drawer.", Differs.WORD),
        ("Ben's current boss is strict.", "Ben's former boss is strict.", Differs.WORD),
        ("The plan is fully approved by the board.", "The plan is nearly approved by the board.", Differs.WORD),
        ("My sister lives in Rome.", "My sister's friend lives in Rome.", Differs.WORD),
        ("Ines taught Milo to swim.", "Milo taught Ines to swim.", Differs.ORDER),
        ("Ines said Milo mended the roof.", "Milo said Ines mended the roof.", Differs.ORDER),
        (
            "The fair opens in Ghent on May 4 and in Bruges on May 9.",
            "The fair opens in Ghent on May 9 and in Bruges on May 4.",
            Differs.ORDER,
        ),
        (
            "The Lisbon Book Fair needs more young stewards who speak Dutch.",
            "The Lisbon BC needs more young stewards who speak Dutch.",
            Differs.NAME,
        ),
        ("The archive is copied to tape weekly.", "The archive is copied to tape monthly.", Differs.OPPOSITE),
        ("Ines was hired by Milo.", "Ines hired Milo.", Differs.SIGN),
        ("The US has a new visa.", "Britain has a new visa.", Differs.NAME),
        ("The oven used to dry plums.", "The oven dries plums.", Differs.NEGATION),
        ("He keeps bees.", "She keeps bees.", Differs.SIGN),
        ("我对花生过敏。", "我对花生不过敏。", Differs.NEGATION),
        ("服务器在8090端口。", "服务器在8091端口。", Differs.NUMBER),
        ("张三教李四游泳。", "李四教张三游泳。", Differs.ORDER),
        ("Mi primo come carne.", "Mi primo no come carne.", Differs.NEGATION),
        ("Сервер работает на порту 80.", "Сервер работает на порту 81.", Differs.NUMBER),
        ("Das Büro liegt in Köln.", "Das Büro liegt in Bonn.", Differs.NAME),
    ],
)
def test_what_two_sentences_differ_in_is_told_by_its_kind(one: str, other: str, kind: Differs) -> None:
    assert differs(one, other) is kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The greenhouse alarm rings at minus 5 degrees.", "The greenhouse alarm rings at 5 degrees."),
        ("The greenhouse alarm rings at -5 degrees.", "The greenhouse alarm rings at 5 degrees."),
        ("The backup script is written in C.", "The backup script is written in C++."),
        ("The backup script is written in C#.", "The backup script is written in C++."),
        ("My blood type is A+.", "My blood type is A-."),
        ("Vitamin B helps me sleep", "Vitamin D helps me sleep"),
        ("The radio has 5 mW", "The radio has 5 MW"),
        ("The line carries 100 MB a second", "The line carries 100 Mb a second"),
        ("The shelf is 6' wide.", 'The shelf is 6" wide.'),
        ("Bob must call the landlord on Friday.", "Bob should call the landlord on Friday."),
        ("I take the bus unless it rains", "I take the bus if it rains"),
        ("I visit Rome in May", "I visit Rome until May"),
        ("Everyone but Bob came", "Everyone and Bob came"),
        ("I have few friends", "I have a few friends"),
        ("Bob muss den Vermieter anrufen.", "Bob sollte den Vermieter anrufen."),
    ],
)
def test_a_sign_a_letter_or_a_small_word_makes_another_thing_of_it(one: str, other: str) -> None:
    assert differs(one, other) in {Differs.NUMBER, Differs.SIGN}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The alarm rings at -5 degrees.", "The alarm rings at minus 5 degrees."),
        ("The disk holds 5 MB.", "The disk holds 5 megabytes."),
        ("The shelf is 6' wide.", "The shelf is 6 feet wide."),
        ("My blood type is A+.", "The blood type of me is A+."),
    ],
)
def test_a_sign_written_otherwise_is_the_same(one: str, other: str) -> None:
    assert differs(one, other) is None


def test_one_sentence_may_say_a_little_more_and_is_known_to() -> None:
    found = compare(wording("The dog sleeps in the basket."), wording("The small dog sleeps in the basket."))
    assert found.same
    assert found.says_more == 1


def test_where_values_are_compared_neither_may_say_more() -> None:
    assert compare(wording("green tea"), wording("tea"), exact=True).differs is Differs.WORD
