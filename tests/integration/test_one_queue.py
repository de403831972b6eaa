"""The command, the tools and HTTP show one queue, and of two who decide at once through two of them one settles it and one is told."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lean_memory import Memory
from lean_memory_bridge.maintenance_client import MaintenanceClient
from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.schemas.maintenance import DecideRequest
from support.command import Command
from support.mcp_client import call, connected
from support.proposals import tell_of_old_likes
from support.service import ServiceProcess, start_service

ROUNDS = 3


def proposals_in(root: Path, namespace: str) -> list[str]:
    """The ids of what waits in a memory that was told of old likes and tidied."""
    tell_of_old_likes(root, namespace)
    with Memory(root=root) as memory:
        memory.maintain(namespace, apply=True, force=True)
        fact = memory.facts(namespace)[0]
        memory.ask_to_forget(namespace, fact.id)
        return [proposal.id for group in memory.review_queue(namespace).groups for proposal in group.proposals]


def asked_as_tool(service: ServiceProcess, tool: str, **arguments: object) -> Any:
    async def main() -> Any:
        async with connected(service, "tester") as client:
            return (await call(client, tool, **arguments)).structured_content

    return asyncio.run(main())


def test_the_command_the_tools_and_http_show_the_same_queue(tmp_path: Path) -> None:
    command = Command(home=tmp_path)
    ids = proposals_in(command.root, "default")
    assert len(ids) == 2
    alone = command.json("review")
    service = start_service(command.root, tmp_path / "service.log").wait_until_up()
    try:
        through = command.json("review")
        over_http = MaintenanceClient(command.root, service.live, admin_token(command.root)).review().model_dump(mode="json")
        as_tool = asked_as_tool(service, "memory_review_queue")
        for one in (alone, through, over_http, as_tool):
            one.pop("as_of")
        assert alone == through == over_http == as_tool
        assert [proposal["id"] for group in alone["groups"] for proposal in group["proposals"]] == ids
        kinds = {kind: command.json("review", "--kind", kind) for kind in ("summary", "forget", "merge")}
        assert [sum(len(group["proposals"]) for group in queue["groups"]) for queue in kinds.values()] == [1, 1, 0]
        assert {queue["total"] for queue in kinds.values()} == {2}
    finally:
        service.terminate()


def at_once(*works: Callable[[], str]) -> list[str]:
    """What several pieces of work give that begin at the same moment, sorted."""
    given: list[str] = []
    together = threading.Barrier(len(works))

    def work(one: Callable[[], str]) -> None:
        together.wait()
        given.append(one())

    threads = [threading.Thread(target=work, args=(one,)) for one in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return sorted(given)


def test_of_several_who_decide_at_once_one_settles_it_and_the_others_are_told(tmp_path: Path) -> None:
    command = Command(home=tmp_path)
    waiting = {f"round-{number}": proposals_in(command.root, f"round-{number}")[0] for number in range(ROUNDS)}
    service = start_service(command.root, tmp_path / "service.log").wait_until_up()
    client = MaintenanceClient(command.root, service.live, admin_token(command.root))
    try:
        with Memory(root=command.root) as elsewhere:
            for namespace, proposal in waiting.items():
                approve = DecideRequest(namespace=namespace, decision="approve")
                arguments = {"proposal_id": proposal, "decision": "reject", "namespace": namespace}
                outcomes = at_once(
                    partial(lambda proposal, approve: client.decide(proposal, approve).outcome, proposal, approve),
                    partial(lambda arguments: asked_as_tool(service, "memory_review_decide", **arguments)["outcome"], arguments),
                    partial(lambda *which: type(elsewhere.decide(*which, "approve")).__name__.lower(), namespace, proposal),
                )
                assert outcomes == ["conflict", "conflict", "settled"]
                told = command.run("decide", proposal, "approve", "-n", namespace, "--json")
                assert (told.code, json.loads(told.out)["outcome"]) == (1, "conflict")
    finally:
        service.terminate()
