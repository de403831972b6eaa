"""A run does by itself only what is provably safe, writes nothing when dry, and keeps out of another run's way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.domain import Instant, Modality, Tier, Trust
from lean_memory.errors import LeaseHeldError, LeaseLostError, MaintenanceError
from lean_memory.maintenance.run import Request
from lean_memory.proposals import ProposalState
from lean_memory.settings import Settings
from lean_memory.store import runs
from lean_memory.store.guard import Guard
from lean_memory.store.namespace_store import NamespaceStore
from support.maintenance import House, about, demotion, merge, same_entity, summary, verdict

FAINT = {"salience": 1.0}


@pytest.fixture
def house(root: Path) -> Iterator[House]:
    opened = House(root=root)
    yield opened
    opened.close()


def files(root: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in root.iterdir() if not f.name.endswith("-shm")}


def test_a_dry_run_tells_what_would_be_done_and_writes_nothing_at_all(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "tea"))
    house.care.decide(house.proposed(same_entity(bob, robert)).id, verdict("approve"))
    house.said(about("wall", "states", "blue", **FAINT))
    coffee, espresso = house.said(about("Eve", "likes", "coffee")), house.said(about("Eve", "likes", "espresso"))
    house.wait(200)
    before = files(house.root)
    report = house.run(merge(coffee, espresso), apply=False)
    assert (report.state, report.run_id, report.merged, report.demoted, report.proposed) == ("dry-run", None, 1, 1, (("merge", 1),))
    assert files(house.root) == before
    wet = house.run(merge(coffee, espresso))
    assert (wet.merged, wet.demoted, wet.proposed) == (report.merged, report.demoted, report.proposed)


def test_exact_duplicates_of_one_person_with_two_names_become_one(house: House) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "Tea"))
    house.care.decide(house.proposed(same_entity(bob, robert)).id, verdict("approve"))
    house.wait(1)
    was = house.as_of(house.clock.now)
    assert house.run().merged == 1
    assert house.latest() == ["Bob likes tea."]
    assert house.as_of(house.clock.now) == was
    assert house.fact(robert).superseded_by == bob.id
    assert house.run().merged == 0


@pytest.mark.parametrize("other", [{"trust": Trust.INFERRED}, {"modality": Modality.PLANNED}, {"valid_to": Instant(2**42)}])
def test_what_is_less_trusted_or_only_planned_or_ends_is_no_exact_duplicate(house: House, other: dict[str, object]) -> None:
    bob, robert = house.said(about("Bob", "likes", "tea")), house.said(about("Robert", "likes", "tea", **other))
    house.care.decide(house.proposed(same_entity(bob, robert)).id, verdict("approve"))
    assert house.run().merged == 0


VITAL = ["Eve is allergic to nuts.", "My mother likes it.", "我对花生过敏。", "Never forget the spare key.", "Der Arzt wohnt nebenan."]


@pytest.mark.parametrize("text", VITAL)
def test_the_strict_band_leaves_what_is_vital_whatever_its_salience(house: House, text: str) -> None:
    house.said(about("Eve", "states", "it", text=text, **FAINT))
    house.wait(400)
    assert house.run().demoted == 0


def test_the_strict_band_takes_what_is_faint_old_and_was_never_served(house: House) -> None:
    faint = house.said(about("wall", "states", "blue", **FAINT))
    house.said(about("wall", "colour", "blue", functional=True, **FAINT))
    kept = house.said(about("door", "states", "green", **FAINT))
    told_again = house.said(about("roof", "states", "red", **FAINT))
    house.said(about("floor", "states", "brown"))
    house.care.promote(kept.id)
    house.wait(179)
    assert house.run().demoted == 0
    house.said(about("roof", "states", "red", **FAINT))
    house.wait(2)
    was = house.as_of(house.clock.now)
    assert house.run().demoted == 1
    assert [house.fact(f).tier for f in (faint, kept, told_again)] == [Tier.COLD, Tier.HOT, Tier.HOT]
    assert house.as_of(house.clock.now) == was
    assert "wall states blue." in house.latest(include_cold=True)


def test_what_was_recorded_lately_is_not_old_whenever_it_was_said(house: House) -> None:
    house.said(about("wall", "states", "blue", **FAINT), at=Instant(house.clock.now - 400 * 86_400_000))
    assert house.run().demoted == 0


def test_saying_a_cold_fact_again_brings_it_back(house: House) -> None:
    faint = house.said(about("wall", "states", "blue", **FAINT))
    house.wait(200)
    house.run()
    assert house.fact(faint).tier is Tier.COLD
    house.said(about("wall", "states", "blue", **FAINT))
    assert house.fact(faint).tier is Tier.HOT
    house.run()
    assert house.fact(faint).tier is Tier.HOT


def test_little_to_do_is_not_done_unless_forced(house: House) -> None:
    house.said(about("Eve", "likes", "tea"))
    first = house.run(force=False)
    assert first.state == "not-due"
    assert "1 new fact so far, and there was no run yet" in first.sentence
    house.wait(8)
    assert house.run(force=False).state == "done"
    second = house.run(force=False)
    assert second.state == "not-due"
    assert "0 new facts since the last run" in second.sentence
    assert "--force" in second.sentence
    house.wait(8)
    assert house.run(force=False).state == "done"


def test_two_hundred_new_facts_make_a_run_due(house: House) -> None:
    house.run()
    for number in range(200):
        assert not house.care.status().is_due
        house.said(about("Eve", "likes", f"thing {number}"))
    assert (house.care.status().new_facts, house.care.status().is_due) == (200, True)


def test_a_run_proposes_fifty_things_at_most_and_the_next_one_the_rest(house: House) -> None:
    drafts = [demotion(house.said(about("Eve", "likes", f"thing {number}"))) for number in range(60)]
    report = house.run(*drafts)
    assert (dict(report.proposed), report.held_back, len(house.waiting())) == ({"demotion": 50}, 10, 50)
    report = house.run(*drafts)
    assert (dict(report.proposed), report.held_back, len(house.waiting())) == ({"demotion": 10}, 0, 60)


def test_what_waits_in_a_proposal_is_left_alone_by_the_safe_band(house: House) -> None:
    faint = house.said(about("wall", "states", "blue", **FAINT))
    house.wait(200)
    assert house.run(demotion(faint)).demoted == 0
    house.wait(31)
    assert (house.run().expired, house.fact(faint).tier) == (1, Tier.HOT)
    assert house.run().demoted == 1


def test_a_draft_of_what_has_changed_since_the_picture_was_taken_is_not_kept(house: House) -> None:
    tea, coffee = house.said(about("Eve", "likes", "tea")), house.said(about("Eve", "likes", "coffee"))
    house.care.decide(house.proposed(demotion(coffee)).id, verdict("approve"))
    assert house.run(merge(tea, coffee)).proposed == ()


def test_auto_only_proposes_nothing(house: House) -> None:
    report = house.run(demotion(house.said(about("Eve", "likes", "tea"))), auto_only=True)
    assert (report.state, report.proposed) == ("done", ())


def test_another_run_under_way_is_left_to_work(house: House) -> None:
    house.said(about("Eve", "likes", "tea"))
    with house.store.write() as tx:
        assert runs.claim(tx.connection, holder="another", cause="test", now=house.clock.now) is not None
    assert house.run().state == "held"
    assert house.run(apply=False).state == "dry-run"
    with pytest.raises(LeaseHeldError):
        NamespaceStore.clear(house.root, "ana", settings=Settings(root=house.root), clock=house.clock)


def test_a_run_whose_heart_has_stopped_is_taken_over_and_can_write_nothing_more(house: House) -> None:
    house.said(about("Eve", "likes", "tea"))
    with house.store.write() as tx:
        lost = runs.claim(tx.connection, holder="another", cause="test", now=house.clock.now)
    assert lost is not None
    house.wait(0.004)
    assert house.run().state == "done"
    assert [run.state for run in house.care.status().runs] == ["done", "abandoned"]
    with pytest.raises(LeaseLostError), house.store.write() as tx:
        runs.beat(tx.connection, lost, house.clock.now)


def test_a_run_that_loses_its_lease_says_so_and_stops(house: House) -> None:
    faint = house.said(about("wall", "states", "blue", **FAINT))
    house.wait(200)

    def taken_over(_: float) -> None:
        with house.store.write() as tx:
            tx.connection.execute("UPDATE run SET state = 'abandoned' WHERE state = 'running'")

    report = house.care.run(Request(apply=True, force=True, progress=taken_over))
    assert (report.state, house.fact(faint).tier) == ("failed", Tier.HOT)
    assert "taken over" in report.sentence


def test_a_run_can_be_stopped_from_anywhere(house: House) -> None:
    faint = house.said(about("wall", "states", "blue", **FAINT))
    house.wait(200)
    assert not house.care.cancel()
    report = house.care.run(Request(apply=True, force=True, progress=lambda _: house.care.cancel() and None))
    assert (report.state, house.fact(faint).tier) == ("cancelled", Tier.HOT)
    report = house.care.run(Request(apply=True, force=True, cancelled=lambda: True))
    assert (report.state, house.care.status().runs[0].state) == ("cancelled", "cancelled")
    assert house.run().demoted == 1


def test_what_waits_too_long_expires_and_may_be_asked_again(house: House) -> None:
    tea = house.said(about("Eve", "likes", "tea"))
    first = house.proposed(demotion(tea))
    house.wait(30.01)
    assert house.waiting() == []
    assert house.care.proposal(first.id).state is ProposalState.EXPIRED
    assert house.proposed(demotion(tea)).state is ProposalState.PENDING


def test_what_a_person_rejected_does_not_return_until_its_evidence_changes(house: House) -> None:
    sources = [house.said(about("Eve", "likes", thing)) for thing in ("tea", "coffee")]
    house.care.decide(house.proposed(summary("Eve likes drinks.", sources)).id, verdict("reject"))
    assert house.run(summary("Eve likes drinks.", sources)).proposed == ()
    more = [*sources, house.said(about("Eve", "likes", "milk"))]
    assert house.run(summary("Eve likes drinks.", more)).proposed == (("summary", 1),)


def test_nothing_is_committed_that_would_change_the_past(house: House) -> None:
    tea = house.said(about("Eve", "likes", "tea"))
    house.wait(1)
    with pytest.raises(MaintenanceError), house.store.write() as tx:
        guard = Guard.of(tx.connection, [1])
        tx.connection.execute("UPDATE fact SET valid_to = valid_at WHERE uid = ?", (tea.id,))
        guard.check(tx.connection, tx.recorded_at)
    assert house.fact(tea).valid_to is None
