"""Ollama's own client against a server that answers as its API is documented, and in every way in which it can fail."""

from __future__ import annotations

from time import monotonic

import pytest

from lean_memory.errors import InvalidInputError, ModelError, ModelUnavailableError
from lean_memory.models.ollama import OllamaTyping
from support import ollama_server as server

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}


def asked(*replies: server.Reply, timeout: float = 5.0) -> str:
    with server.serving(*replies) as running:
        return OllamaTyping("tiny", host=running.url, timeout=timeout).answer("Do it.", "This one.", SCHEMA)


def test_the_streamed_pieces_are_put_together() -> None:
    assert asked(server.says('{"facts": []} 猫', piece=3)) == '{"facts": []} 猫'


def test_the_question_goes_out_with_the_schema_at_temperature_zero_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://192.0.2.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:2")
    with server.serving(server.says("{}")) as running:
        OllamaTyping("tiny", host=running.url).answer("Do it.", "This one.", SCHEMA)
    (sent,) = running.requests
    assert sent["path"] == "/api/chat"
    assert (sent["model"], sent["format"], sent["stream"]) == ("tiny", SCHEMA, True)
    assert sent["options"]["temperature"] == 0
    assert 0 < sent["options"]["num_predict"] <= 1024
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    "reply",
    [
        server.lacks_model,
        server.refuses(500, "out of memory"),
        server.refuses(503, "server busy"),
        server.fails_midway,
        server.redirects,
    ],
)
def test_a_refusal_says_that_there_is_no_model_to_be_had_now(reply: server.Reply) -> None:
    with pytest.raises(ModelUnavailableError):
        asked(reply)


def test_a_missing_model_is_named_with_what_to_do() -> None:
    with pytest.raises(ModelUnavailableError, match="ollama pull tiny"):
        asked(server.lacks_model)


def test_nobody_listening_is_unavailable() -> None:
    with server.serving(server.says("{}")) as gone:
        pass
    with pytest.raises(ModelUnavailableError):
        OllamaTyping("tiny", host=gone.url, timeout=2.0).answer("Do it.", "This one.", SCHEMA)


@pytest.mark.parametrize("reply", [server.hangs, server.drips])
def test_a_server_that_hangs_or_drips_is_left_in_time(reply: server.Reply) -> None:
    before = monotonic()
    with pytest.raises(ModelUnavailableError):
        asked(reply, timeout=0.5)
    assert monotonic() - before < 10


@pytest.mark.parametrize(
    "reply",
    [
        server.babbles,
        server.breaks_off,
        server.says('{"facts": [{"subj', done_reason="length"),
        server.streams("this is no JSON"),
        server.streams("[1, 2]"),
        server.streams('"text"'),
        server.streams('{"done": true}'),
        server.streams('{"message": {"role": "assistant", "content": 5}, "done": true}'),
        server.streams(""),
        server.streams(),
    ],
)
def test_an_answer_that_is_cut_off_endless_or_of_no_protocol_is_not_used(reply: server.Reply) -> None:
    with pytest.raises(ModelError):
        asked(reply)


def test_after_a_failure_the_next_answer_is_read() -> None:
    with server.serving(server.fails_midway, server.says("{}")) as running:
        model = OllamaTyping("tiny", host=running.url)
        with pytest.raises(ModelUnavailableError):
            model.answer("Do it.", "This one.", SCHEMA)
        assert model.answer("Do it.", "This one.", SCHEMA) == "{}"


@pytest.mark.parametrize("host", ["http://192.0.2.1:11434", "example.org", "http://10.0.0.2", "", "http://[::2]:1"])
def test_another_machine_is_refused(host: str) -> None:
    with pytest.raises(InvalidInputError, match="on this machine only"):
        OllamaTyping("tiny", host=host)


@pytest.mark.parametrize("host", ["127.0.0.1:11434", "http://localhost:11434", "http://[::1]:11434"])
def test_this_machine_may_be_named_in_each_way(host: str) -> None:
    OllamaTyping("tiny", host=host)
