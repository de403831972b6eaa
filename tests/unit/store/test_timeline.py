"""What holds now, what held then, what was believed then: through the store, with the real resolution."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lean_memory.changes import ChangeSet, Slot
from lean_memory.domain import Act, Cardinality, EndReason, FactId, Instant, Modality, Polarity, Tier, Visibility
from lean_memory.errors import NotFoundError
from lean_memory.store.namespace_store import NamespaceStore
from lean_memory.store.visibility import OPEN_END, RowArrays, visible_rows
from support.statements import SteadyClock, current, day, learn, likes, objects, open_store, record, say, within, works_at

ALL = Visibility(now=day(2000), latest_only=False)


@pytest.fixture
def store(root: Path) -> Iterator[NamespaceStore]:
    opened = open_store(root)
    yield opened
    assert opened.check() == []
    opened.close()


def at(moment: Instant) -> Visibility:
    return Visibility(now=day(2000), as_of=moment)


def known(moment: Instant, as_of: Instant | None = None) -> Visibility:
    return Visibility(now=day(2000), known_at=moment, as_of=as_of)


def seen(store: NamespaceStore, visibility: Visibility) -> list[str]:
    return objects(store.facts(visibility=visibility, modalities=None))


def test_a_new_value_supersedes_the_old_one_and_the_past_can_be_asked_for(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    applied = say(store, works_at("Globex"), at=day(5))
    assert objects(current(store)) == ["Globex"]
    assert len(applied.superseded) == 1
    assert [seen(store, at(day(n))) for n in (0, 1, 4, 5, 9)] == [[], ["Acme"], ["Acme"], ["Globex"], ["Globex"]]
    acme = store.fact(applied.superseded[0])
    assert (acme.valid_to, acme.is_latest, acme.superseded_by, acme.end_reason) == (
        day(5),
        False,
        applied.fact_ids[0],
        EndReason.SUPERSEDED,
    )
    assert acme.retired_at is not None


def test_what_is_said_again_is_a_dated_confirmation_and_no_second_fact(store: NamespaceStore) -> None:
    first = say(store, works_at("Acme"), at=day(1))
    again = say(store, works_at("ACME", "I work at  ACME!"), at=day(3))
    assert (again.fact_ids, again.existing) == ((), first.fact_ids)
    [entry] = store.history(first.fact_ids[0])
    assert (entry.reason, entry.confirmed_at, entry.source_text) == (None, (day(3),), "I work at Acme.")


def test_a_history_goes_both_ways_oldest_first_with_reasons_and_sentences(store: NamespaceStore) -> None:
    ids = [say(store, works_at(c), at=day(n)).fact_ids[0] for n, c in enumerate(["Acme", "Globex", "Initech"])]
    for fact_id in ids:
        chain = store.history(fact_id)
        assert [e.fact.id for e in chain] == ids
        assert [e.reason for e in chain] == [EndReason.SUPERSEDED, EndReason.SUPERSEDED, None]
        assert [e.source_text for e in chain] == ["I work at Acme.", "I work at Globex.", "I work at Initech."]


def test_a_fact_that_is_not_there_is_said_not_to_be(store: NamespaceStore) -> None:
    for ask in (store.fact, store.history):
        with pytest.raises(NotFoundError, match="no fact nothing"):
            ask(FactId("nothing"))


def test_a_late_statement_takes_its_place_in_the_past(store: NamespaceStore) -> None:
    say(store, works_at("Globex"), at=day(5))
    say(store, works_at("Acme"), at=day(1))
    assert objects(current(store)) == ["Globex"]
    assert seen(store, at(day(2))) == ["Acme"]


def test_a_past_pair_of_moments_keeps_its_answer_whatever_is_learned_later(root: Path) -> None:
    clock = SteadyClock(day(10))
    store = open_store(root, "bi-temporal", clock=clock)
    say(store, works_at("Acme"), at=day(1))
    asked = [(day(12), day(t)) for t in (0, 2, 6, 9)]
    clock.now = day(11)
    say(store, works_at("Globex"), at=day(8))
    before = [seen(store, known(k, t)) for k, t in asked]
    assert before == [[], ["Acme"], ["Acme"], ["Globex"]]
    clock.now = day(20)
    say(store, works_at("Initech"), at=day(4))
    clock.now = day(21)
    wrong = works_at("Hooli", "Sorry, I meant Hooli, not Acme.", act=Act.CORRECT, corrects="Acme")
    say(store, wrong, at=day(13))
    assert [seen(store, known(k, t)) for k, t in asked] == before
    assert seen(store, known(day(20.5), day(6))) == ["Initech"]
    assert seen(store, known(day(10.5))) == ["Acme"]
    assert seen(store, known(day(9))) == []
    store.close()


def test_what_was_believed_shows_how_the_fact_stood_then(root: Path) -> None:
    clock = SteadyClock(day(10))
    store = open_store(root, "then", clock=clock)
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    clock.now = day(20)
    say(store, works_at("Globex"), at=day(8))
    [then] = store.facts(visibility=known(day(15)), modalities=None)
    assert (then.id, then.is_latest, then.valid_to, then.retired_at, then.superseded_by) == (acme, True, None, None, None)
    now = store.fact(acme)
    assert (now.is_latest, now.valid_to) == (False, day(8))
    assert now.retired_at is not None
    assert now.retired_at - day(20) in range(2)
    store.close()


def test_a_correction_strikes_what_was_never_so(store: NamespaceStore) -> None:
    [porto] = say(store, works_at("Porto Ltd"), at=day(1)).fact_ids
    say(store, works_at("Lisbon Ltd", "Sorry, I meant Lisbon Ltd.", act=Act.CORRECT), at=day(2))
    assert seen(store, at(day(1))) == ["Lisbon Ltd"]
    assert seen(store, ALL) == ["Lisbon Ltd", "Porto Ltd"]
    assert store.fact(porto).end_reason is EndReason.CORRECTED
    assert [e.reason for e in store.history(porto)] == [EndReason.CORRECTED, None]


def test_a_retraction_closes_without_a_successor(store: NamespaceStore) -> None:
    [acme] = say(store, works_at("Acme"), at=day(1)).fact_ids
    gone = say(store, works_at("Acme", "I no longer work at Acme.", act=Act.RETRACT), at=day(4))
    assert (gone.fact_ids, gone.superseded) == ((), (acme,))
    assert objects(current(store)) == []
    assert store.fact(acme).end_reason is EndReason.RETRACTED


def test_values_of_a_multi_valued_slot_stand_side_by_side(store: NamespaceStore) -> None:
    for n, thing in enumerate(["tea", "coffee", "jazz"]):
        say(store, likes(thing), at=day(n))
    assert objects(current(store, predicate="likes")) == ["jazz", "coffee", "tea"]
    assert objects(current(store, subject="USER ", predicate="likes")) == ["jazz", "coffee", "tea"]
    assert current(store, subject="Nobody") == []


def test_a_limit_takes_the_newest(store: NamespaceStore) -> None:
    for n in range(5):
        say(store, likes(f"thing {n}"), at=day(n))
    assert objects(store.facts(visibility=ALL, modalities=None, limit=2)) == ["thing 4", "thing 3"]


def test_only_the_modalities_asked_for_are_shown(store: NamespaceStore) -> None:
    say(store, likes("tea"), at=day(1))
    say(store, likes("skiing", modality=Modality.PLANNED), at=day(2))
    assert objects(current(store)) == ["tea"]
    assert objects(store.facts(visibility=ALL, modalities=frozenset({Modality.PLANNED}))) == ["skiing"]
    assert len(store.facts(visibility=ALL, modalities=None)) == 2


def test_an_end_that_the_statement_gives_is_exclusive(store: NamespaceStore) -> None:
    say(store, works_at("Acme", "I work at Acme until the tenth.", valid_to=day(10)), at=day(1))
    for now, shown in ((day(9), ["Acme"]), (day(10), [])):
        assert objects(store.facts(visibility=Visibility(now=now), modalities=None)) == shown
    assert seen(store, at(day(10))) == []


def test_cold_facts_are_shown_when_asked_for_and_come_back_when_said_again(store: NamespaceStore) -> None:
    [tea] = say(store, likes("tea"), at=day(1)).fact_ids
    with store.write() as tx:
        tx.connection.execute("UPDATE fact SET tier = 'cold'")
        tx.connection.execute("UPDATE index_row SET flags = flags | 4")
    assert current(store) == []
    assert objects(store.facts(visibility=Visibility(now=day(3), include_cold=True), modalities=None)) == ["tea"]
    assert seen(store, at(day(2))) == ["tea"]
    with store.write() as tx:
        row = tx.connection.execute("SELECT id FROM fact WHERE uid = ?", (tea,)).get
        episode = store.episode(store.fact(tea).episode_id)
        tx.apply(ChangeSet(existing=(row,)), episode=episode)
    assert store.fact(tea).tier is Tier.HOT
    assert objects(current(store)) == ["tea"]


def test_an_entity_is_one_whatever_the_case_and_spacing_and_keeps_its_first_spelling(store: NamespaceStore) -> None:
    for name in ("Café Rio", "CAFÉ  RIO", "café rio", "Cafe Rio"):
        say(store, works_at(name, f"{name} is where I work."), at=day(1))
    with store.read() as snapshot:
        names = [row[0] for row in snapshot.connection.execute("SELECT name FROM entity ORDER BY id")]
    assert names == ["user", "Café Rio", "Cafe Rio"]


def test_an_entity_named_with_another_type_is_the_same(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, likes("acme", object_type="band"), at=day(2))
    assert store.status().entities == 2


def test_what_is_recorded_later_is_recorded_at_a_later_moment_even_if_the_clock_stands_still_or_goes_back(root: Path) -> None:
    clock = SteadyClock(day(10))
    store = open_store(root, "clock", clock=clock)
    moments = [record(store, "one", day(1)).recorded_at, record(store, "two", day(1)).recorded_at]
    clock.now = day(5)
    with store.write() as tx:
        moments.append(tx.recorded_at)
    moments.append(record(store, "three", day(1)).recorded_at)
    assert moments == sorted(set(moments))
    store.close()


def test_a_window_reads_what_is_open_or_ended_since_and_leaves_the_rest_of_the_slot(store: NamespaceStore) -> None:
    for n in range(50):
        say(store, works_at(f"Company {n}"), at=day(n))
    slot = Slot(subject_key="user", predicate="works_at", cardinality=Cardinality.FUNCTIONAL)
    with store.write() as tx:
        window = tx.window(slot, None, day(47))
    assert [f.object for f in window.facts] == ["Company 46", "Company 47", "Company 48", "Company 49"]


def test_a_window_on_some_values_holds_their_confirmations_and_every_retraction(store: NamespaceStore) -> None:
    for thing in ("tea", "coffee"):
        say(store, likes(thing), at=day(1))
        say(store, likes(thing, f"I do like {thing}."), at=day(2))
    say(store, likes("jazz", "I no longer like jazz.", act=Act.RETRACT), at=day(3))
    slot = Slot(subject_key="user", predicate="likes", cardinality=Cardinality.MULTI)
    with store.write() as tx:
        window = tx.window(slot, frozenset({"tea"}), day(2))
    assert [f.object for f in window.facts] == ["tea"]
    assert [(c.object, c.act) for c in window.evidence] == [("tea", Act.ASSERT), ("jazz", Act.RETRACT)]


def test_a_denial_closes_the_same_value(store: NamespaceStore) -> None:
    say(store, likes("meat"), at=day(1))
    say(store, likes("meat", "I don't like meat.", polarity=Polarity.NEGATIVE), at=day(2))
    assert [(f.object, f.polarity) for f in current(store)] == [("meat", Polarity.NEGATIVE)]


def test_several_statements_of_one_episode_are_written_in_one_piece(store: NamespaceStore) -> None:
    text = "I work at Acme. I like tea. I like jazz."
    applied = say(store, *(within(text, c) for c in (works_at("Acme"), likes("tea"), likes("jazz"))), at=day(1), text=text)
    assert len(applied.fact_ids) == 3
    with store.write() as tx:
        assert tx.facts_of(store.fact(applied.fact_ids[0]).episode_id) == list(applied.fact_ids)
    assert [store.history(f)[0].source_text for f in applied.fact_ids] == ["I work at Acme.", "I like tea.", "I like jazz."]


def test_twice_changed_in_one_transaction_is_one_version(store: NamespaceStore) -> None:
    first = record(store, "I work at Acme.", day(1))
    second = record(store, "I work at Globex.", day(2))
    third = record(store, "I work at Initech.", day(1.5))
    with store.write() as tx:
        for episode, company in ((first, "Acme"), (second, "Globex"), (third, "Initech")):
            learn(tx, episode, [works_at(company)])
    assert [seen(store, at(day(n))) for n in (1, 1.7, 2)] == [["Acme"], ["Initech"], ["Globex"]]


def latest_at(store: NamespaceStore, now: Instant) -> list[str]:
    """What `facts` and the search index say holds at a moment, which must be the same."""
    visibility = Visibility(now=now)
    listed = store.facts(visibility=visibility, modalities=None)
    with store.read() as snapshot:
        rows = snapshot.connection.execute("SELECT f.uid, r.valid_at, r.valid_to, r.flags FROM fact f JOIN index_row r ON r.id = f.row_id")
        uids, valid_at, valid_to, flags = zip(*rows.fetchall(), strict=True)
    arrays = RowArrays(
        valid_at=np.array(valid_at, dtype=np.int64),
        valid_to=np.array([OPEN_END if end is None else end for end in valid_to], dtype=np.int64),
        recorded_at=np.zeros(len(uids), dtype=np.int64),
        tokens=np.zeros(len(uids), dtype=np.uint16),
        asks=np.zeros(len(uids), dtype=np.uint8),
        flags=np.array(flags, dtype=np.uint8),
    )
    assert {uid for uid, seen in zip(uids, visible_rows(arrays, visibility), strict=True) if seen} == {f.id for f in listed}
    return objects(listed)


def test_what_is_said_of_a_time_to_come_does_not_hold_yet_and_ends_nothing_yet(store: NamespaceStore) -> None:
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex"), at=day(50))
    say(store, works_at("Globex", "I left Globex.", act=Act.RETRACT), at=day(60))
    assert [latest_at(store, day(n)) for n in (2, 49, 50, 59, 60)] == [["Acme"], ["Acme"], ["Globex"], ["Globex"], []]
    assert [seen(store, at(day(n))) for n in (2, 49, 50)] == [["Acme"], ["Acme"], ["Globex"]]


def test_a_plan_is_known_before_its_time(store: NamespaceStore) -> None:
    say(store, works_at("Globex", modality=Modality.PLANNED, valid_at=day(50)), at=day(1))
    assert latest_at(store, day(2)) == ["Globex"]


def test_a_clock_that_is_minutes_ahead_hides_nothing_said_just_now(store: NamespaceStore) -> None:
    minutes = 60_000
    say(store, works_at("Acme"), at=day(1))
    say(store, works_at("Globex"), at=Instant(day(2) + 4 * minutes))
    assert latest_at(store, day(2)) == ["Globex"]
    assert latest_at(store, Instant(day(2) - 2 * minutes)) == ["Acme"]


def test_an_end_that_a_statement_gives_is_kept_to_the_minute(store: NamespaceStore) -> None:
    say(store, works_at("Acme", valid_to=day(2)), at=day(1))
    assert latest_at(store, Instant(day(2) - 1)) == ["Acme"]
    assert latest_at(store, day(2)) == []
