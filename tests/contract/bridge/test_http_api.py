"""The HTTP interface does what the library does, and says what is wrong in a sentence."""

from __future__ import annotations

import contextlib
import json
import socket

import pytest

from lean_memory.errors import InvalidInputError, NotFoundError
from lean_memory_bridge.refusals import NotAllowedError, PausedError
from lean_memory_bridge.runtime import admin_token, find
from lean_memory_bridge.schemas import AddItem, ClientChange, ForgetRequest
from support.service import ServiceProcess, send
from support.supervised import eventually


def post(service: ServiceProcess, path: str, body: bytes) -> tuple[int, dict[str, str]]:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json"}
    reply = send(service.live.port, "POST", f"/api/v1/{path}", headers, body)
    answer = reply.json()
    assert isinstance(answer, dict)
    return reply.status, answer


def test_what_the_operating_system_refuses_is_told_in_a_sentence(service: ServiceProcess) -> None:
    book = service.root / "clients.json"
    kept = book.rename(book.with_name("kept.json")) if book.exists() else None
    book.mkdir()
    status, told = post(service, "clients/me/token", b"")
    book.rmdir()
    if kept is not None:
        kept.rename(book)
    assert (status, told["message"].startswith("The operating system refused this (")) == (500, True)


def test_a_changed_fact_is_found_now_and_as_of_then(service: ServiceProcess) -> None:
    memory = service.client()
    memory.add("I work at Acme Corp.", namespace="work", t_ref="2024-01-10")
    changed = memory.add("I now work at Globex.", namespace="work", t_ref="2024-06-10")
    assert len(changed.superseded) == 1
    assert memory.search("where do I work?", namespace="work").hits[0].fact.object == "Globex"
    assert memory.search("where do I work?", namespace="work", as_of="2024-03-01").hits[0].fact.object == "Acme Corp"
    assert [fact.object for fact in memory.facts(namespace="work", predicate="works_at").facts] == ["Globex"]
    assert [link.reason for link in memory.history(changed.fact_ids[0], namespace="work").history] == ["superseded", None]


def test_the_answer_to_an_add_shows_the_facts_it_names(service: ServiceProcess) -> None:
    added = service.client().add("I live in Porto. I like tea.", namespace="shown")
    assert {fact.id for fact in added.facts} == set(added.fact_ids)
    assert any(fact.object == "Porto" for fact in added.facts)


def test_the_same_call_sent_again_is_done_once(service: ServiceProcess) -> None:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json", "Idempotency-Key": "k-1"}
    body = json.dumps({"text": "I moved to Oslo.", "namespace": "once"}).encode()
    replies = [send(service.live.port, "POST", "/api/v1/add", headers, body) for _ in range(3)]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert len({reply.body for reply in replies}) == 1
    assert [status.episodes for status in service.client().status("once").namespaces] == [1]


def test_an_answer_that_holds_what_was_erased_is_not_given_again(service: ServiceProcess) -> None:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json", "Idempotency-Key": "k-2"}
    body = json.dumps({"text": "I am allergic to walnuts.", "namespace": "erased"}).encode()
    first = send(service.live.port, "POST", "/api/v1/add", headers, body)
    assert b"walnuts" in first.body
    service.client().forget(ForgetRequest(namespace="erased", entity="user"))
    assert b"walnuts" not in send(service.live.port, "POST", "/api/v1/add", headers, body).body


def test_many_texts_are_added_in_their_order(service: ServiceProcess) -> None:
    memory = service.client()
    memory.add_many([AddItem(text="I live in Porto."), AddItem(text="I live in Lisbon now.")], namespace="many")
    assert [fact.object for fact in memory.facts(namespace="many", predicate="lives_in").facts] == ["Lisbon"]


def test_what_would_be_erased_is_shown_and_then_erased(service: ServiceProcess) -> None:
    memory = service.client()
    fact = memory.add("I am allergic to peanuts.", namespace="forget").facts[0]
    asked = ForgetRequest(namespace="forget", fact_id=fact.id)
    assert memory.would_forget(asked) == ("I am allergic to peanuts.",)
    assert memory.forget(asked).facts == 1
    assert memory.search("allergic to what?", namespace="forget").hits == ()
    with pytest.raises(NotFoundError):
        memory.history(fact.id, namespace="forget")


def test_clearing_removes_the_namespace_and_its_name_from_the_log(service: ServiceProcess) -> None:
    memory = service.client()
    memory.add("I like jazz.", namespace="cleared-one")
    assert memory.clear("cleared-one").cleared
    assert not memory.clear("cleared-one").cleared
    assert "cleared-one" not in memory.namespaces().namespaces
    assert "cleared-one" not in (service.root / "access.jsonl").read_text(encoding="utf-8")


def test_a_namespace_may_have_any_name(service: ServiceProcess) -> None:
    memory = service.client()
    for name in ("client/a", "client_a", "仕事", "..", "a b&c=d?#"):
        memory.add("I like tea.", namespace=name)
        assert memory.facts(namespace=name).facts
    assert {"client/a", "client_a", "仕事", "..", "a b&c=d?#"} <= set(memory.namespaces().namespaces)


@pytest.mark.parametrize(
    ("path", "body", "part"),
    [
        ("add", b'{"text": ""}', "text"),
        ("add", b'{"text": "   "}', "empty"),
        ("add", b"{}", "text"),
        ("add", b"[" * 100_000, "body"),
        ("add", b"not json", "body"),
        ("add", b'{"text": "a", "colour": "red"}', "colour"),
        ("add", b'{"text": "half \\ud800 a character"}', "text"),
        ("add", b'{"text": "I like tea.", "namespace": "\\ud800"}', "namespace"),
        ("add", b'{"text": "I like tea.", "t_ref": "soon"}', "t_ref"),
        ("add", b'{"text": "I like tea.", "t_ref": 99999999999999999999}', "t_ref"),
        ("add", b'{"text": "I like tea.", "tz": "Mars/Olympus"}', "time zone"),
        ("search", b'{"query": "x", "k": 0}', "`k` must be at least 1. Nothing was done."),
        ("search", b"{}", "`query` is missing. Nothing was done."),
        ("search", b'{"query": "x", "nmspace": "y"}', "`nmspace` is not known here. Nothing was done."),
        ("search", b"[", "The body is not valid JSON. Nothing was done."),
        ("import", b"{}", "The body needs either `path` or `upload`, and not both. Nothing was done."),
        ("search", b'{"query": "x", "as_of": "2024-13-45"}', "as_of"),
        ("forget", b"{}", "exactly one"),
        ("forget", b'{"fact_id": "a", "entity": "b"}', "exactly one"),
    ],
)
def test_what_cannot_be_used_is_answered_with_a_sentence_that_says_why(service: ServiceProcess, path: str, body: bytes, part: str) -> None:
    status, answer = post(service, path, body)
    assert 400 <= status < 500, answer
    assert part in answer["message"]


def test_many_that_connect_and_say_nothing_keep_nobody_out(service: ServiceProcess) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(contextlib.closing(socket.create_connection(("127.0.0.1", service.runtime.port), timeout=30)))
        eventually(lambda: find(service.root) is not None)
        assert service.client().search("tea", namespace="crowded").hits == ()


def test_a_body_beyond_all_measure_is_refused(service: ServiceProcess) -> None:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json", "Accept": "*/*"}
    for path in ("/api/v1/add", "/mcp"):
        assert send(service.live.port, "POST", path, {**headers, "Content-Length": "21000000"}).status == 413


def test_the_client_raises_what_the_library_raises(service: ServiceProcess) -> None:
    memory = service.client()
    with pytest.raises(InvalidInputError, match="as_of"):
        memory.search("x", as_of="whenever")
    with pytest.raises(NotFoundError):
        memory.history("nope", namespace="nowhere")
    assert memory.search("x", namespace="nowhere").hits == ()


def test_a_client_with_a_token_uses_the_memory_but_manages_nobody(service: ServiceProcess) -> None:
    owner = service.client()
    token = owner.issue_token("Script 1")
    assert token not in (service.root / "clients.json").read_text(encoding="utf-8")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    added = send(service.live.port, "POST", "/api/v1/add", headers, b'{"text": "I play chess.", "namespace": "script"}')
    assert added.status == 200
    for method, path in (("GET", "clients"), ("POST", "clients/Script%201/token"), ("POST", "shutdown"), ("GET", "access")):
        refused = send(service.live.port, method, f"/api/v1/{path}", headers, b"" if method == "POST" else None)
        assert refused.status == 403, path
    seen = send(service.live.port, "GET", "/api/v1/snapshot", headers).json()
    assert isinstance(seen, dict)
    assert [client["name"] for client in seen["clients"]] == ["Script 1"]


def test_a_client_is_paused_and_resumed(service: ServiceProcess) -> None:
    owner, cursor = service.client(), service.client("cursor")
    cursor.add("I use vim.", namespace="pause")
    owner.change_client("cursor", ClientChange(paused=True))
    with pytest.raises(PausedError, match="paused for cursor"):
        cursor.search("editor", namespace="pause")
    with pytest.raises(PausedError):
        cursor.add("I use emacs.", namespace="pause")
    owner.change_client("cursor", ClientChange(paused=False))
    assert [hit.fact.object for hit in cursor.search("which editor do I use?", namespace="pause").hits] == ["vim"]


def test_a_revoked_token_and_the_one_before_a_new_one_work_no_longer(service: ServiceProcess) -> None:
    owner = service.client()
    first, second = owner.issue_token("revoked"), owner.issue_token("revoked")

    def status(token: str) -> int:
        return send(service.live.port, "GET", "/api/v1/namespaces", {"Authorization": f"Bearer {token}"}).status

    assert (status(first), status(second)) == (401, 200)
    assert not owner.revoke_token("revoked").has_token
    assert status(second) == 401
    third = owner.issue_token("revoked")
    assert status(third) == 200
    owner.remove_client("revoked")
    assert status(third) == 401
    assert "revoked" not in {client.name for client in owner.clients()}


def test_calls_that_name_no_namespace_go_to_the_clients_own(service: ServiceProcess) -> None:
    owner, codex = service.client(), service.client("codex")
    codex.namespaces()
    owner.change_client("codex", ClientChange(default_namespace="project-x"))
    codex.add("Our deadline is Friday.")
    assert codex.namespaces().default == "project-x"
    assert owner.facts(namespace="project-x").facts
    owner.change_client("codex", ClientChange(reset_namespace=True))
    assert codex.namespaces().default == "default"


def test_the_log_says_who_read_and_wrote_how_much_and_never_what(service: ServiceProcess) -> None:
    owner, gemini = service.client(), service.client("gemini")
    gemini.add("My sister is called Xanthippe.", namespace="logged")
    gemini.search("what is my sister called?", namespace="logged")
    entries = owner.access(client="gemini").entries
    assert [(entry.verb, entry.facts) for entry in entries] == [("search", 1), ("add", 1)]
    assert entries[0].tokens > 0
    assert entries[0].sentence.startswith("gemini read 1 fact, ")
    assert "Xanthippe" not in (service.root / "access.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["", "lean-memory", "Lean-Memory", "a/b", "x" * 65, "é", "a\tb"])
def test_a_name_that_no_client_can_have_is_refused(service: ServiceProcess, name: str) -> None:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "X-Lean-Memory-Client": name}
    assert send(service.live.port, "GET", "/api/v1/namespaces", headers).status == 400


def test_only_the_owner_may_name_a_client(service: ServiceProcess) -> None:
    owner = service.client()
    token = owner.issue_token("honest")
    send(service.live.port, "GET", "/api/v1/namespaces", {"Authorization": f"Bearer {token}", "X-Lean-Memory-Client": "pretended"})
    assert "pretended" not in {client.name for client in owner.clients()}
    assert owner.access(limit=1, client="honest").entries
    with pytest.raises(NotAllowedError):
        service.client("cursor").stop()


def test_files_of_the_service_are_for_their_owner_alone(service: ServiceProcess) -> None:
    service.client().issue_token("private")
    for name in ("admin.token", "runtime.json", "clients.json", "access.jsonl", "service.lock"):
        assert (service.root / name).stat().st_mode & 0o077 == 0, name
    assert service.root.stat().st_mode & 0o077 == 0
