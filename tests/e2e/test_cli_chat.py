"""`lean-memory chat`: what is typed is remembered, and a local language model answers where there is one."""

from __future__ import annotations

from dataclasses import replace

from support import ollama_server as server
from support.command import Command

NOWHERE = {"LM_OLLAMA_HOST": "http://127.0.0.1:9"}


def test_without_a_model_it_shows_the_memory_it_would_have_used(command: Command) -> None:
    alone = replace(command, environ=NOWHERE)
    shown = alone.done("chat", said=b"I work at Globex.\nWhere do I work?\n\nNot read any more.\n")
    assert "remembered: I work at Globex." in shown
    assert "memory: I work at Globex." in shown
    assert "Not read" not in alone.done("facts")


def test_a_model_answers_from_what_is_known(command: Command) -> None:
    command.done("add", "My cat is called Tom.")
    with server.serving(server.says("Your cat is Tom.")) as running:
        asking = replace(command, environ={"LM_OLLAMA_HOST": running.url})
        told = asking.json("chat", said=b"What is my cat called?\nIs she old?\n")
    first, second = told["turns"]
    assert told["model"] == "tiny:latest"
    assert first["answer"] == "Your cat is Tom."
    assert "My cat is called Tom." in running.requests[0]["messages"][0]["content"]
    assert [message["role"] for message in running.requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert second["trouble"] == ""


def test_a_model_that_fails_costs_no_memory(command: Command) -> None:
    with server.serving(server.refuses(500, "broken")) as running:
        asking = replace(command, environ={"LM_OLLAMA_HOST": running.url})
        (turn,) = asking.json("chat", "--model", "other", said=b"I live in Porto.\n")["turns"]
    assert turn["answer"] is None
    assert "500" in turn["trouble"]
    assert "Porto" in command.done("facts")


def test_another_machine_is_not_asked(command: Command) -> None:
    refused = replace(command, environ={"LM_OLLAMA_HOST": "http://192.0.2.1:1"}).run("chat", said=b"I live in Porto.\n")
    assert refused.code == 2
    assert refused.is_one_sentence()
