"""Tidying and deciding through the service: over HTTP for the person's programs, as tools for assistants."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent

from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.refusals import NotAllowedError, RefusedError
from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.schemas.maintenance import (
    DecideItem,
    DecideManyRequest,
    DecideRequest,
    MaintainRequest,
    ProposalView,
    ScheduleChange,
)
from support.mcp_client import call, connected, text_of
from support.proposals import tell_of_old_likes
from support.service import ServiceProcess
from support.supervised import eventually

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def person(service: ServiceProcess) -> MaintenanceClient:
    client = caller(service, None)
    # While it warms it finishes what it finds unfinished, also what a test is telling just now, and with its own clock.
    eventually(lambda: client.snapshot().model.state == "ready")
    return client


@pytest.fixture
def agents_off(person: MaintenanceClient) -> Generator[None]:
    person.change_schedule(ScheduleChange(agents_decide=False))
    yield
    person.change_schedule(ScheduleChange(agents_decide=True))


def caller(service: ServiceProcess, name: str | None) -> MaintenanceClient:
    return MaintenanceClient(service.root, service.live, admin_token(service.root), client=name)


def talk(service: ServiceProcess, say: Callable[[Client], Awaitable[None]], *, mode: str = "auto", answers: str | None = None) -> None:
    async def main() -> None:
        async with connected(service, "tester", mode=mode, answers=answers) as client:
            await say(client)

    asyncio.run(main())


def summary_in(service: ServiceProcess, person: MaintenanceClient, where: str) -> ProposalView:
    """A summary that was proposed in a namespace of its own."""
    tell_of_old_likes(service.root, where)
    job = person.run_maintenance(MaintainRequest(namespace=where, apply=True, force=True))
    assert [report.proposed for report in job.reports] == [{"summary": 1}], job
    (group,) = person.review(where).groups
    (proposal,) = group.proposals
    return proposal


def forgetting_in(service: ServiceProcess, person: MaintenanceClient, where: str) -> str:
    """A forgetting that an assistant asked for and could not have confirmed, in a namespace of its own."""
    fact_id = person.add("I am allergic to peanuts.", namespace=where).fact_ids[0]

    async def say(client: Client) -> None:
        result = await call(client, "memory_forget", fact_id=fact_id, namespace=where)
        assert result.structured_content is not None
        assert result.structured_content["forgotten"] is False

    talk(service, say)
    (group,) = person.review(where).groups
    return group.proposals[0].id


def test_a_dry_run_says_what_it_would_do_and_one_that_applies_proposes_it(service: ServiceProcess, person: MaintenanceClient) -> None:
    tell_of_old_likes(service.root, "dry")
    dry = person.run_maintenance(MaintainRequest(namespace="dry"))
    assert (dry.state, dry.dry_run, dry.reports[0].proposed) == ("done", True, {"summary": 1})
    assert person.review("dry").total == 0
    done = person.run_maintenance(MaintainRequest(namespace="dry", apply=True, force=True))
    assert (done.state, done.reports[0].state, done.reports[0].proposed) == ("done", "done", {"summary": 1})
    queue = person.review("dry")
    assert (queue.total, queue.by_kind) == (1, {"summary": 1})
    state = person.maintenance_state("dry")
    assert state.last is not None
    assert (state.last.id, state.pending) == (done.reports[0].run_id, {"summary": 1})


def test_a_long_run_goes_on_in_the_background_and_tells_how_it_ended(person: MaintenanceClient) -> None:
    person.add("I like tea.", namespace="background")
    begun = person.run_maintenance(MaintainRequest(every=True, apply=True, trigger="nightly", wait=0))
    eventually(lambda: person.job(begun.id).state != "running")
    ended = person.job(begun.id)
    assert (ended.state, ended.trigger) == ("done", "nightly")
    assert "background" in {report.namespace for report in ended.reports}
    with pytest.raises(NotFoundError):
        person.job("0123")


def test_only_the_person_tidies_everything_or_sets_the_schedule(service: ServiceProcess) -> None:
    assistant = caller(service, "tester")
    with pytest.raises(NotAllowedError):
        assistant.run_maintenance(MaintainRequest(every=True))
    with pytest.raises(NotAllowedError):
        assistant.change_schedule(ScheduleChange(paused=True))
    assert assistant.schedule().at == "03:30"


def test_nothing_waits_where_nothing_was_ever_told(person: MaintenanceClient) -> None:
    assert person.review("never-used").total == 0
    assert person.decided("never-used") == ()
    assert person.maintenance_state("never-used").last is None
    with pytest.raises(NotFoundError):
        person.proposal("nope", namespace="never-used")


def test_a_verdict_is_carried_out_once_and_taken_back_once(service: ServiceProcess, person: MaintenanceClient) -> None:
    proposal = summary_in(service, person, "once")
    approve = DecideRequest(namespace="once", decision="approve", revision=proposal.revision)
    settled = person.decide(proposal.id, approve)
    assert settled.outcome == "settled"
    assert settled.changed
    again = person.decide(proposal.id, DecideRequest(namespace="once", decision="reject"))
    assert again.outcome == "conflict"
    assert again.sentence
    assert [one.state for one in person.decided("once")] == ["approved"]
    with pytest.raises(NotAllowedError, match="only the person"):
        caller(service, "tester").revert(proposal.id, namespace="once")
    back = person.revert(proposal.id, namespace="once")
    assert back.changed > 0
    assert [one.state for one in person.decided("once")] == ["reverted"]


def test_a_proposal_whose_facts_changed_is_stale_and_touches_nothing(service: ServiceProcess, person: MaintenanceClient) -> None:
    proposal = summary_in(service, person, "stale")
    person.add("I don't like chess any more.", namespace="stale")
    before = person.facts(namespace="stale", include_cold=True).facts
    decided = person.decide(proposal.id, DecideRequest(namespace="stale", decision="approve"))
    assert (decided.outcome, decided.changed) == ("stale", ())
    assert person.facts(namespace="stale", include_cold=True).facts == before


def test_several_verdicts_are_each_carried_out_or_told_of(service: ServiceProcess, person: MaintenanceClient) -> None:
    proposal = summary_in(service, person, "several")
    items = (
        DecideItem(id="nope", decision="approve"),
        DecideItem(id=proposal.id, decision="promote"),
        DecideItem(id=proposal.id, decision="reject", revision=proposal.revision),
        DecideItem(id=proposal.id, decision="approve", revision=proposal.revision),
    )
    results = person.decide_many(DecideManyRequest(namespace="several", items=items))
    assert [result.outcome for result in results] == ["refused", "refused", "settled", "conflict"]


@MODES
@pytest.mark.parametrize(
    ("answers", "outcome"),
    [("accept", "settled"), ("refuse", "declined"), ("decline", "declined"), ("cancel", "declined"), (None, "settled")],
)
def test_an_assistant_records_what_the_person_says(
    *, service: ServiceProcess, person: MaintenanceClient, mode: str, answers: str | None, outcome: str
) -> None:
    where = f"verdict-{mode}-{answers}"
    proposal = summary_in(service, person, where)

    async def say(client: Client) -> None:
        queue = await call(client, "memory_review_queue", namespace=where)
        assert proposal.id in text_of(queue)
        decided = await call(client, "memory_review_decide", proposal_id=proposal.id, decision="approve", namespace=where)
        assert decided.structured_content is not None
        assert decided.structured_content["outcome"] == outcome
        status = await call(client, "memory_maintenance_status", namespace=where)
        assert ("nothing waits" in text_of(status)) == (outcome == "settled")

    talk(service, say, mode=mode, answers=answers)


@pytest.mark.usefixtures("agents_off")
def test_where_the_person_wants_it_no_assistant_decides_without_asking(service: ServiceProcess, person: MaintenanceClient) -> None:
    proposal = summary_in(service, person, "off")
    with pytest.raises(NotAllowedError, match="lean-memory decide"):
        caller(service, "tester").decide(proposal.id, DecideRequest(namespace="off", decision="reject"))

    async def say(client: Client) -> None:
        decided = await call(client, "memory_review_decide", proposal_id=proposal.id, decision="reject", namespace="off")
        assert decided.is_error
        assert "lean-memory decide" in text_of(decided)

    talk(service, say)

    async def say_asked(client: Client) -> None:
        decided = await call(client, "memory_review_decide", proposal_id=proposal.id, decision="reject", namespace="off")
        assert not decided.is_error

    talk(service, say_asked, answers="accept")
    assert person.proposal(proposal.id, namespace="off").state == "rejected"
    late = caller(service, "tester").decide(proposal.id, DecideRequest(namespace="off", decision="approve"))
    assert late.outcome == "conflict"


def test_an_erasure_waits_for_the_persons_own_word(service: ServiceProcess, person: MaintenanceClient) -> None:
    waiting = forgetting_in(service, person, "erase")

    async def say(client: Client) -> None:
        decided = await call(client, "memory_review_decide", proposal_id=waiting, decision="approve", namespace="erase")
        assert decided.is_error
        assert "only the person's own word" in text_of(decided)

    talk(service, say)
    with pytest.raises(NotAllowedError):
        caller(service, "tester").decide(waiting, DecideRequest(namespace="erase", decision="approve"))
    assert person.facts(namespace="erase").facts
    done = person.decide(waiting, DecideRequest(namespace="erase", decision="approve"))
    assert done.outcome == "settled"
    assert "peanuts" not in done.model_dump_json()
    assert not person.facts(namespace="erase", include_history=True).facts


def test_the_person_may_confirm_an_erasure_through_the_assistant_or_keep_the_fact(
    service: ServiceProcess, person: MaintenanceClient
) -> None:
    for where, decision, left in (("confirmed", "approve", 0), ("kept", "reject", 1)):
        waiting = forgetting_in(service, person, where)

        async def say(client: Client, waiting: str = waiting, decision: str = decision, where: str = where) -> None:
            decided = await call(client, "memory_review_decide", proposal_id=waiting, decision=decision, namespace=where)
            assert not decided.is_error, text_of(decided)

        talk(service, say, answers="accept")
        assert len(person.facts(namespace=where).facts) == left


@MODES
def test_an_assistant_tidies_as_a_dry_run_unless_told_otherwise(service: ServiceProcess, person: MaintenanceClient, mode: str) -> None:
    where = f"tidy-{mode}"
    person.add("I like tea.", namespace=where)

    async def say(client: Client) -> None:
        for arguments, dry in (({}, True), ({"apply": True}, False)):
            done = await call(client, "memory_maintenance_run", namespace=where, **arguments)
            assert done.structured_content is not None
            assert (done.structured_content["state"], done.structured_content["dry_run"]) == ("done", dry)
        assert "memory_maintenance_run" in {tool.name for tool in (await client.list_tools()).tools}

    talk(service, say, mode=mode)


@MODES
def test_the_prompt_tells_how_to_go_through_the_queue(service: ServiceProcess, mode: str) -> None:
    async def say(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == "review-memory-maintenance"
        given = await client.get_prompt(prompt.name, {"namespace": "work"})
        content: Any = given.messages[0].content
        assert isinstance(content, TextContent)
        assert 'namespace="work"' in content.text
        assert "memory_review_decide" in content.text

    talk(service, say, mode=mode)


def test_what_waits_and_what_is_next_is_part_of_every_snapshot(service: ServiceProcess, person: MaintenanceClient) -> None:
    proposal = summary_in(service, person, "shown")
    snapshots = person.snapshots()
    try:
        first = next(snapshots)
        upkeep = {one.namespace: one for one in first.upkeep}["shown"]
        assert (upkeep.pending, upkeep.by_kind, upkeep.running) == (1, {"summary": 1}, False)
        assert upkeep.last_run_at is not None
        assert first.schedule is not None
        assert (first.schedule.at, first.schedule.next_at) == ("03:30", None)
        person.decide(proposal.id, DecideRequest(namespace="shown", decision="reject"))
        pending = ({one.namespace: one.pending for one in snapshot.upkeep}["shown"] for snapshot in snapshots)
        assert next(pending) == 0
    finally:
        snapshots.close()


def test_what_an_assistant_read_of_the_queue_stands_in_the_log(service: ServiceProcess, person: MaintenanceClient) -> None:
    summary_in(service, person, "logged")
    caller(service, "reader").review("logged")
    (entry,) = person.access(client="reader").entries
    assert (entry.verb, entry.facts, entry.tokens > 0) == ("review", 6, True)
    assert entry.sentence.startswith("reader read 6 facts")


@pytest.mark.parametrize("at", ["25:00", "3:30", "now"])
def test_a_time_that_is_none_is_refused(service: ServiceProcess, person: MaintenanceClient, at: str) -> None:
    with pytest.raises((InvalidInputError, RefusedError, ValueError)):
        person.change_schedule(ScheduleChange(at=at))
    assert person.schedule().at == "03:30"
