"""A correction takes the place of what was never so: with the same beginning, and with everything that had been said for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lean_memory.domain import Act, Candidate, EndReason, Instant, Polarity, Trust, Visibility
from lean_memory.store.namespace_store import NamespaceStore
from support.statements import current, day, likes, objects, open_store, say, within, works_at


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def not_but(wrong: str, right: str, **changes: object) -> Candidate:
    return works_at(right, f"Actually, I work at {right}, not {wrong}.", act=Act.CORRECT, corrects=wrong, **changes)


def denies(company: str) -> Candidate:
    return works_at(company, f"I don't work at {company}.", polarity=Polarity.NEGATIVE)


def left(company: str) -> Candidate:
    return works_at(company, f"I left {company}.", act=Act.RETRACT)


def spans(store: NamespaceStore) -> list[tuple[str, str, Instant, Instant | None]]:
    facts = store.facts(visibility=Visibility(now=day(2000), latest_only=False), modalities=None)
    held = [f for f in facts if (f.valid_to is None or f.valid_to > f.valid_at) and f.end_reason is not EndReason.CORRECTED]
    return sorted((f.object, f.polarity.value, f.valid_at, f.valid_to) for f in held)


def test_what_was_said_not_to_hold_is_nothing_to_correct(store: NamespaceStore) -> None:
    for day_, said in ((0, denies("Acme")), (0, not_but("Globex", "Initech")), (300, left("Initech")), (900, not_but("Acme", "Hooli"))):
        say(store, said, at=day(day_))
    assert spans(store) == [
        ("Acme", "-", day(0), None),
        ("Hooli", "+", day(900), None),
        ("Initech", "+", day(0), day(300)),
    ]


def test_what_gave_way_to_what_was_never_so_goes_on_if_it_is_what_was_meant(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    say(store, works_at("Globex"), at=day(5))
    said = say(store, not_but("Globex", "Acme"), at=day(90))
    assert (said.fact_ids, said.existing) == ((), (acme,))
    assert spans(store) == [("Acme", "+", day(1), None)]


def test_what_gave_way_to_what_was_never_so_gives_way_to_what_was(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    say(store, works_at("Globex"), at=day(5))
    [hooli] = say(store, not_but("Globex", "Hooli"), at=day(90)).fact_ids
    assert spans(store) == [("Acme", "+", day(1), day(5)), ("Hooli", "+", day(5), None)]
    assert store.fact(acme).superseded_by == hooli


def test_all_that_was_said_for_it_goes_with_it(store: NamespaceStore) -> None:
    say(store, works_at("Acme", valid_to=day(5)), at=day(1))
    [again] = say(store, works_at("Acme"), at=day(10)).fact_ids
    say(store, works_at("Acme", valid_to=day(40)), at=day(3))
    assert store.fact(again).end_reason is EndReason.MERGED
    say(store, not_but("Acme", "Hooli"), at=day(30))
    assert spans(store) == [("Hooli", "+", day(1), None)]


def test_a_correction_that_gives_a_date_of_its_own_begins_there(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(10))
    say(store, not_but("Acme", "Hooli", valid_at=day(4)), at=day(30))
    assert spans(store) == [("Hooli", "+", day(4), None)]


def test_of_two_corrections_in_one_breath_the_last_counts(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    once, twice = not_but("Acme", "Hooli"), not_but("Hooli", "Globex")
    text = f"{once.fact_text} {twice.fact_text}"
    [globex] = say(store, within(text, once), within(text, twice), at=day(9), text=text).fact_ids
    assert spans(store) == [("Globex", "+", day(1), None)]
    struck = store.fact(acme)
    assert (struck.end_reason, struck.superseded_by) == (EndReason.CORRECTED, globex)


def test_the_value_that_is_named_most_surely_is_corrected(store: NamespaceStore) -> None:
    for thing in ("redis", "redis for caching"):
        say(store, likes(thing), at=day(1))
    say(store, likes("kafka", "I like kafka, not redis.", act=Act.CORRECT, corrects="redis"), at=day(5))
    assert sorted(objects(current(store))) == ["kafka", "redis for caching"]


def test_what_the_person_confirmed_nobody_less_trusted_corrects(store: NamespaceStore) -> None:
    say(store, works_at("Acme", trust=Trust.INFERRED), at=day(1))
    say(store, works_at("Acme"), at=day(5))
    say(store, replace(not_but("Acme", "Hooli"), trust=Trust.INFERRED), at=day(9))
    assert ("Acme", "+", day(1), None) in spans(store)


def test_an_old_retraction_means_what_it_meant_whatever_is_said_again(store: NamespaceStore) -> None:
    """What it had ended is no longer in view; it once ended the next best value instead."""
    say(store, likes("redis"), at=day(1))
    say(store, likes("redis for caching"), at=day(2))
    say(store, likes("redis", "I no longer like redis.", act=Act.RETRACT), at=day(5))
    said = say(store, likes("redis for caching"), at=day(9))
    assert (said.fact_ids, len(said.existing)) == ((), 1)
    assert objects(current(store)) == ["redis for caching"]


def test_a_value_that_turns_up_late_takes_a_retraction_upon_itself(store: NamespaceStore) -> None:
    say(store, likes("redis for caching"), at=day(2))
    say(store, likes("redis", "I no longer like redis.", act=Act.RETRACT), at=day(5))
    assert current(store) == []
    say(store, likes("redis"), at=day(3))
    assert objects(current(store)) == ["redis for caching"]
