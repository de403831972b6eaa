"""The commands beside a running service: it does the work, and answers what the files themselves answer."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from lean_memory_bridge.client import ServiceClient
from support.command import Command
from support.service import ServiceProcess, start_service

READINGS = [
    ("search", "where does the user work?"),
    ("search", "employer", "--history", "--known-at", "2199-01-01"),
    ("search", "employer", "--as-of", "2024-03-01", "-k", "2"),
    ("facts",),
    ("facts", "--history", "--subject", "user"),
    ("facts", "--as-of", "2024-03-01", "--limit", "1"),
    ("namespaces",),
    ("status",),
    ("status", "-n", "default"),
]


@pytest.fixture
def service(command: Command) -> Generator[ServiceProcess]:
    command.home.mkdir(exist_ok=True)
    running = start_service(command.root, command.home / "service.log").wait_until_up()
    yield running
    if running.process.poll() is None:
        running.terminate()


def tell(command: Command) -> None:
    command.done("add", "--t-ref", "2024-01-10", "I work at Acme Corp.")
    command.done("add", "--t-ref", "2024-06-10T09:00+02:00", "I now work at Globex.")
    command.done("add", "--lines", said=b"I live in Porto.\nMy cat is called Tom.\n")


def test_it_answers_what_the_files_answer(command: Command, service: ServiceProcess) -> None:
    tell(command)
    calls = {client.name: client.calls for client in service.client().clients()}
    fact = next(fact["id"] for fact in command.json("facts")["facts"] if fact["object"] == "Globex")
    readings = [*READINGS, ("history", fact), ("explain", fact)]
    served = [command.json(*words) for words in readings]
    assert sum(client.calls for client in service.client().clients()) >= sum(calls.values())
    log = ServiceClient.find(command.root)
    assert log is not None
    assert {"add", "search", "facts", "history", "explain"} <= {entry.verb for entry in log.access(limit=1000).entries}
    service.terminate()
    alone = [command.json(*words) for words in readings]
    for words, one, other in zip(readings, served, alone, strict=True):
        assert _steady(one) == _steady(other), words


def test_a_fact_is_forgotten_and_a_namespace_cleared_through_it(command: Command, service: ServiceProcess) -> None:
    tell(command)
    (fact,) = command.json("facts", "--predicate", "lives_in")["facts"]
    assert command.json("forget", fact["id"][-8:], "--yes")["erased"][0]["facts"] == 1
    assert "Porto" not in command.done("facts")
    assert command.json("clear", "default", "--yes")["cleared"]
    assert command.json("namespaces")["namespaces"] == []
    assert service.process.poll() is None


def test_what_it_refuses_is_one_sentence(command: Command, service: ServiceProcess) -> None:
    for words in [("history", "no-such-fact"), ("add", ""), ("add", "x", "--tz", "Nowhere/Land"), ("clear", "nobody", "--yes")]:
        outcome = command.run(*words)
        assert outcome.code in (1, 2), words
        assert outcome.is_one_sentence(), outcome
    assert service.process.poll() is None


def test_emptiness_is_refused_in_the_words_that_it_is_refused_in_without_it(command: Command, service: ServiceProcess) -> None:
    for words, told in [(("add", ""), "The text is empty"), (("search", ""), "The query is empty"), (("facts", "-n", ""), "needs a name")]:
        outcome = command.run(*words)
        assert (outcome.code, outcome.is_one_sentence()) == (2, True), outcome
        assert told in outcome.err


def test_a_client_that_is_named_is_whom_it_speaks_for(command: Command, service: ServiceProcess) -> None:
    command.done("add", "--client", "my-notes", "I live in Porto.")
    assert "my-notes" in {client.name for client in service.client().clients()}


def _steady(answer: object) -> object:
    """An answer without what moves by itself: sizes of files, and scores that fade with time."""
    match answer:
        case dict():
            return {k: _steady(v) for k, v in answer.items() if k not in ("bytes", "recency", "final_score")}  # pyright: ignore
        case list():
            return [_steady(v) for v in answer]  # pyright: ignore
        case _:
            return answer
