"""A passage is found while something it says is current, or nothing was made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Act, Instant, Modality, Span, Visibility
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.past_rows import known_rows
from lean_memory.store.visibility import COLD, LATEST, OPEN_END
from support.statements import SteadyClock, day, likes, open_store, record, say, within, works_at


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def shown(store: NamespaceStore, text: str) -> tuple[bool, Instant | None]:
    """Whether the passage that begins with a text is among the latest, and its end."""
    with store.read() as snapshot:
        row = snapshot.connection.execute(
            "SELECT r.flags, r.valid_to FROM passage p JOIN episode e ON e.id = p.episode_id JOIN index_row r ON r.id = p.row_id "
            "WHERE substr(e.text, p.span_start + 1) LIKE ? || '%'",
            (text,),
        ).fetchone()
    assert row is not None
    flags, end = row
    return bool(flags & LATEST) and not flags & COLD, end


def stood(store: NamespaceStore, text: str, known_at: Instant) -> tuple[bool, Instant] | None:
    """As `shown`, as it was known at an earlier moment; `None` where it was not known."""
    with store.read() as snapshot:
        con = snapshot.connection
        row_id, valid_to, flags, recorded_at = con.execute(
            "SELECT r.id, r.valid_to, r.flags, r.recorded_at FROM passage p JOIN episode e ON e.id = p.episode_id "
            "JOIN index_row r ON r.id = p.row_id WHERE substr(e.text, p.span_start + 1) LIKE ? || '%'",
            (text,),
        ).get
        ids, then = known_rows(con, known_at)
    if row_id in ids:
        place = ids.tolist().index(row_id)
        valid_to, flags, recorded_at = int(then.valid_to[place]), int(then.flags[place]), int(then.recorded_at[place])
    end = OPEN_END if valid_to is None else valid_to
    return (bool(flags & LATEST), Instant(end)) if recorded_at <= known_at else None


def test_a_confirmation_that_a_late_statement_makes_a_fact_is_seen_at_an_earlier_moment_as_it_stood(root: Path) -> None:
    clock = SteadyClock(day(100))
    store = open_store(root, clock=clock)
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Acme", "Yes, I work at Acme."), at=day(5))
    clock.now = day(200)
    say(store, works_at("Initech"), at=day(9))
    assert stood(store, "Yes,", day(150)) == (True, OPEN_END)
    assert stood(store, "Yes,", day(250)) == (False, day(9))
    clock.now = day(300)
    say(store, works_at("Globex", "Back then I worked at Globex."), at=day(3))
    # It speaks of a fact of its own now.
    assert [f.fact_text for f in store.facts(visibility=Visibility(now=day(2000), as_of=day(6)), modalities=None)] == [
        "Yes, I work at Acme."
    ]
    assert stood(store, "Yes,", day(150)) == (True, OPEN_END)
    assert stood(store, "Yes,", day(250)) == (False, day(9))
    assert stood(store, "Yes,", day(350)) == (False, day(9))
    assert stood(store, "Yes,", day(50)) is None
    assert store.check() == []
    store.close()


def test_a_passage_of_which_nothing_was_made_stays_open(store: NamespaceStore) -> None:
    record(store, "What a day!", day(1))
    assert shown(store, "What a day!") == (True, None)


def test_a_passage_closes_with_the_last_of_its_facts(store: NamespaceStore) -> None:
    text = "So: I work at Acme. I like tea."
    say(store, within(text, works_at("Acme")), within(text, likes("tea")), at=day(1), text=text)
    say(store, works_at("Globex"), at=day(3))
    assert shown(store, "So:") == (True, None)
    say(store, likes("tea", "I no longer like tea.", act=Act.RETRACT), at=day(5))
    assert shown(store, "So:") == (False, day(5))


def test_a_passage_that_is_its_fact_closes_with_it(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex"), at=day(3))
    assert shown(store, "I work at Acme") == (False, day(3))
    assert shown(store, "I work at Globex") == (True, None)


def test_a_passage_that_only_confirms_a_fact_closes_with_it(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Acme", "Yes, I work at Acme."), at=day(2))
    assert shown(store, "Yes, I work at Acme.") == (True, None)
    say(store, works_at("Globex"), at=day(3))
    assert shown(store, "Yes, I work at Acme.") == (False, day(3))


def test_a_fact_that_is_not_asserted_keeps_its_passage_open(store: NamespaceStore) -> None:
    text = "I work at Acme and plan to like skiing."
    say(
        store,
        within(text, works_at("Acme", "I work at Acme")),
        within(text, likes("skiing", "plan to like skiing", modality=Modality.PLANNED)),
        at=day(1),
        text=text,
    )
    say(store, works_at("Globex"), at=day(3))
    assert shown(store, text) == (True, None)


def test_a_passage_ends_when_its_only_fact_says_that_it_ends(store: NamespaceStore) -> None:
    text = "Mind you, I work at Acme until the tenth."
    say(store, within(text, works_at("Acme", "I work at Acme until the tenth.", valid_to=day(10))), at=day(1), text=text)
    assert shown(store, "Mind you") == (True, day(10))


def test_a_passage_whose_only_fact_was_corrected_was_never_so(store: NamespaceStore) -> None:
    text = "By the way, I work at Porto Ltd."
    say(store, within(text, works_at("Porto Ltd")), at=day(1), text=text)
    say(store, works_at("Lisbon Ltd", "Sorry, I meant Lisbon Ltd.", act=Act.CORRECT), at=day(2))
    assert shown(store, "By the way") == (False, day(1))


def test_each_passage_of_an_episode_stands_for_itself(store: NamespaceStore) -> None:
    text = "Indeed I work at Acme. Indeed I like tea."
    passages = [Span(start=0, end=22), Span(start=23, end=len(text))]
    say(store, within(text, works_at("Acme")), within(text, likes("tea")), at=day(1), text=text, passages=passages)
    say(store, works_at("Globex"), at=day(3))
    assert shown(store, "Indeed I work") == (False, day(3))
    assert shown(store, "Indeed I like") == (True, None)


def test_a_late_statement_that_reopens_nothing_leaves_a_closed_passage_closed(store: NamespaceStore) -> None:
    say(store, works_at("Globex"), at=day(5))
    say(store, works_at("Acme", "Back then I worked at Acme."), at=day(1))
    assert shown(store, "Back then") == (False, day(5))
