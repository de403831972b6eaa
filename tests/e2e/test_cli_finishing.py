"""`lean-memory finish`: what waits for a model is finished from a terminal, with the real Ollama client."""

from __future__ import annotations

from dataclasses import replace

from lean_memory import Memory
from support import ollama_server as server
from support.command import Command
from support.embedding import WordEmbedder

HARD = "Since the navy let me go I pay the bills through Tarrant."
TARRANT = server.with_facts(server.fact("user", "works_at", "Tarrant", "I pay the bills through Tarrant"))


def test_what_waits_is_finished_when_the_model_is_there(command: Command) -> None:
    with server.serving(server.lacks_model, TARRANT) as running:
        asking = replace(command, environ={**command.environ, "LM_TYPING_MODEL": "tiny", "LM_OLLAMA_HOST": running.url})
        assert asking.json("add", HARD)["queued"]
        missing = asking.run("finish")
        assert missing.code == 1
        assert "ollama pull tiny" in missing.err
        assert "Traceback" not in missing.err
        assert asking.json("finish") | {"fact_ids": []} == {
            "namespace": "default", "finished": 1, "waiting": 0, "missing": "", "fact_ids": [], "superseded": [],
            "vectors_made": 0, "vectors_missing": 0,
        }  # fmt: skip
    (fact,) = command.json("facts", "--predicate", "works_at")["facts"]
    assert (fact["object"], fact["found_by"], fact["trust"]) == ("Tarrant", "typer", "inferred")


def test_another_machine_is_refused(command: Command) -> None:
    asking = replace(command, environ={**command.environ, "LM_TYPING_MODEL": "tiny", "LM_OLLAMA_HOST": "http://192.0.2.1:1"})
    asking.done("add", HARD)
    refused = asking.run("finish")
    assert refused.code != 0
    assert "on this machine only" in refused.err


def test_the_vectors_that_another_embedder_left_missing_are_made(command: Command) -> None:
    with Memory(root=command.root, embedder=WordEmbedder()) as memory:
        memory.add_many("default", [f"My locker number {number} holds badge {number * 7}." for number in range(300)])
    assert "Answered without: vectors." in command.run("search", "locker").err
    assert "300 vectors made; 0 are missing." in command.done("finish")
    assert command.run("search", "locker").err == ""


def test_without_a_model_there_is_nothing_to_finish(command: Command) -> None:
    command.done("add", HARD)
    assert "0 wait" in command.done("finish")
