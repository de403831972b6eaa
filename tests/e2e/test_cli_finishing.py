"""`lean-memory finish`: what waits for a model is finished from a terminal, with the real Ollama client."""

from __future__ import annotations

from dataclasses import replace

from support import ollama_server as server
from support.command import Command

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
            "namespace": "default", "finished": 1, "waiting": 0, "missing": "", "fact_ids": [], "superseded": []
        }  # fmt: skip
    (fact,) = command.json("facts", "--predicate", "works_at")["facts"]
    assert (fact["object"], fact["found_by"], fact["trust"]) == ("Tarrant", "typer", "inferred")


def test_another_machine_is_refused(command: Command) -> None:
    asking = replace(command, environ={**command.environ, "LM_TYPING_MODEL": "tiny", "LM_OLLAMA_HOST": "http://192.0.2.1:1"})
    asking.done("add", HARD)
    refused = asking.run("finish")
    assert refused.code != 0
    assert "on this machine only" in refused.err


def test_without_a_model_there_is_nothing_to_finish(command: Command) -> None:
    command.done("add", HARD)
    assert "0 wait" in command.done("finish")
