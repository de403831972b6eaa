"""What a person does with the memory as a whole, over HTTP: every file goes through the service, and nothing of what was forgotten stays in any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest

from lean_memory_bridge.runtime import admin_token
from support.service import Reply, ServiceProcess, send
from support.supervised import eventually

CANARY = "zirkonwalnuss"


class Page:
    """Speaks to the service as the page does."""

    def __init__(self, service: ServiceProcess) -> None:
        self.port, self.root = service.live.port, service.root
        self.headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: object = None, status: int = 200) -> Any:
        reply = self.sent(method, path, None if body is None else json.dumps(body).encode())
        assert reply.status == status, reply.body
        return reply.json()

    def sent(self, method: str, path: str, body: bytes | None) -> Reply:
        return send(self.port, method, f"/api/v1/{path}", self.headers, body if body is not None or method == "GET" else b"")

    def add(self, text: str, namespace: str, client: str | None = None, t_ref: str | None = None) -> dict[str, Any]:
        named = {} if client is None else {"X-Lean-Memory-Client": client}
        body = json.dumps({"text": text, "namespace": namespace, **({} if t_ref is None else {"t_ref": t_ref})}).encode()
        reply = send(self.port, "POST", "/api/v1/add", {**self.headers, **named}, body)
        assert reply.status == 200, reply.body
        return cast("dict[str, Any]", reply.json())

    def upload(self, files: Mapping[str, bytes], piece: int = 1_000_000) -> str:
        upload = self.ask("POST", "uploads", status=201)["id"]
        for name, content in files.items():
            for offset in range(0, len(content) or 1, piece):
                part = content[offset : offset + piece]
                assert self.sent("PUT", f"uploads/{upload}?name={quote(name)}&offset={offset}", part).status == 200
        return upload

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        eventually(lambda: self.ask("GET", f"bring-in/{job['id']}")["state"] != "running")
        return cast("dict[str, Any]", self.ask("GET", f"bring-in/{job['id']}"))

    def objects(self, namespace: str) -> set[str]:
        return {fact["object"] for fact in self.ask("GET", f"facts?namespace={quote(namespace)}")["facts"]}

    def holding(self, word: str) -> list[Path]:
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return [path for path in files if word.casefold().encode() in path.read_bytes().lower()]


@pytest.fixture(scope="module")
def page(service: ServiceProcess) -> Page:
    return Page(service)


@pytest.mark.parametrize("scope", ["fact_id", "episode_id", "entity", "sentence", "client", "dates"])
def test_what_is_forgotten_through_each_scope_is_shown_first_and_in_no_file_afterwards(page: Page, scope: str) -> None:
    name, said = f"gone {scope}", f"My friend {CANARY.title()} lives in Porto."
    page.add("I work at Globex.", name, "zed", "2024-01-10")
    added = page.add(said, name, "cursor", "2024-06-10")
    wide: dict[str, object] = {"sentence": said} if scope == "sentence" else {"client": "cursor"} if scope == "client" else {}
    wide |= {"since": "2024-06-01", "until": "2024-07-01"} if scope == "dates" else {}
    narrow = {"fact_id": added["fact_ids"][0], "episode_id": added["episode_id"], "entity": CANARY}
    verb, target = ("forget-all", wide) if wide else ("forget", {scope: narrow[scope]})
    assert page.ask("POST", f"would-{verb}", {"namespace": name, **target})["texts"] == [said]
    assert page.holding(CANARY)
    assert page.ask("POST", verb, {"namespace": name, **target})["facts"] >= 1
    assert page.holding(CANARY) == []
    assert page.objects(name) == {"Globex"}
    assert page.add(said, name)["fact_ids"] == []
    for asked in ("include_history=true&include_cold=true", "as_of=2024-06-20"):
        assert CANARY not in json.dumps(page.ask("GET", f"facts?namespace={quote(name)}&{asked}")).casefold()
    assert CANARY.encode() not in page.sent("POST", "export/download", json.dumps({"namespace": name, "form": "md"}).encode()).body.lower()
    assert page.holding(CANARY) == []


def test_a_backup_is_checked_and_looked_at_before_it_comes_back(page: Page) -> None:
    page.add("I live in Porto.", "kept")
    made = page.ask("POST", "backup", {"namespaces": ["kept"]})
    named = {"backup": Path(made["path"]).name}
    page.add("I moved to Lisbon.", "kept")
    assert page.ask("POST", "backups/verify", named)["problem"] == ""
    (would,) = page.ask("POST", "restore/preview", named)["namespaces"]
    assert (would["name"], would["facts"], would["here_facts"]) == ("kept", 1, 2)
    assert page.objects("kept") == {"Lisbon"}
    assert page.ask("POST", "restore", named, status=422)["message"]
    page.ask("POST", "restore", {**named, "confirmed": True})
    assert page.objects("kept") == {"Porto"}
    file = Path(made["path"]) / made["namespaces"][0]["file"]
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert "damaged" in page.ask("POST", "backups/verify", named)["problem"]
    assert page.ask("POST", "restore/preview", named, status=503)["message"]


def test_what_was_forgotten_is_taken_out_of_the_backups_on_request(page: Page) -> None:
    page.add("I like zirkonpears.", "scrubbed")
    page.ask("POST", "backup", {"namespaces": ["scrubbed"]})
    done = page.ask("POST", "forget-all", {"namespace": "scrubbed", "sentence": "I like zirkonpears."})
    assert len(done["backups_holding_copies"]) == 1
    assert "exports are not looked at" in done["not_looked_at"]
    assert len(page.ask("POST", "backups/scrub", {"namespace": "scrubbed"})["backups"]) == 1
    assert page.holding("zirkonpears") == []


def test_a_memory_is_taken_out_as_one_file_and_comes_in_elsewhere_once_its_plan_was_shown(page: Page) -> None:
    page.add("I work at Globex.", "out")
    asked = {"namespace": "out", "passphrase": "correct horse"}
    bundle = page.sent("POST", "export/download", json.dumps(asked).encode()).body
    assert b"Globex" not in bundle
    upload = page.upload({"mine.leanmem": bundle}, piece=100)
    given = {"upload": upload, "namespace": "copy"}
    assert page.ask("POST", "import", given, status=422)["message"]
    plan = page.ask("POST", "import", {**given, "passphrase": "correct horse"})
    assert (plan["is_applied"], [part["fate"] for part in plan["parts"]]) == (False, ["add"])
    assert page.objects("copy") == set()
    page.ask("POST", "import", {**given, "passphrase": "correct horse", "apply": True})
    assert page.objects("copy") == {"Globex"}
    page.ask("DELETE", f"uploads/{upload}", status=404)
    assert list((page.root / "uploads").iterdir()) == []


def test_notes_are_looked_at_brought_in_and_not_kept_twice(page: Page) -> None:
    upload = page.upload({"notes/one.md": b"I play the cello.\n", "notes/deep/two.md": b"I live in Oslo.\n"})
    given = {"upload": upload, "namespace": "notes"}
    looked = page.ended(page.ask("POST", "bring-in", given, status=202))
    assert (looked["state"], looked["report"]["state"], looked["report"]["added"]) == ("done", "preview", 2), looked
    assert page.objects("notes") == set()
    brought = page.ended(page.ask("POST", "bring-in", {**given, "apply": True}, status=202))
    assert (brought["state"], brought["report"]["added"]) == ("done", 2)
    assert "Oslo" in page.objects("notes")
    assert list((page.root / "uploads").iterdir()) == []
    assert page.ask("GET", "bring-in")["jobs"][0]["id"] == brought["id"]
    (teller,) = page.ask("GET", "tellers?namespace=notes")["tellers"]
    assert (teller["client"], teller["texts"]) == ("text", 2)


def test_what_is_stopped_stays_as_far_as_it_came_and_goes_on_from_there(page: Page) -> None:
    told = [{"memory": f"Locker {number} holds badge {number * 7}.", "created_at": "2024-05-01T10:00:00Z"} for number in range(150)]
    upload = page.upload({"mine.jsonl": "\n".join(map(json.dumps, told)).encode()})
    asked = {"upload": upload, "namespace": "stopped", "kind": "mem0", "apply": True}
    begun = page.ask("POST", "bring-in", asked, status=202)
    page.ask("POST", f"bring-in/{begun['id']}/cancel")
    stopped = page.ended(begun)
    assert stopped["state"] == "stopped", stopped
    assert stopped["report"]["added"] < 150
    done = page.ended(page.ask("POST", "bring-in", asked, status=202))
    assert (done["state"], done["report"]["added"] + stopped["report"]["added"]) == ("done", 150)
    assert page.ask("GET", "tellers?namespace=stopped")["tellers"][0]["texts"] == 150


def test_what_was_sent_and_is_still_there_is_named_when_something_is_forgotten(page: Page) -> None:
    said = f"My friend {CANARY.title()} lives in Porto."
    page.add(said, "sent")
    upload = page.upload({"notes.md": said.encode()})
    done = page.ask("POST", "forget-all", {"namespace": "sent", "sentence": said})
    assert done["backups_holding_copies"] == [str(page.root / "uploads" / upload)]
    page.ask("DELETE", f"uploads/{upload}")
    assert page.holding(CANARY) == []


def test_what_cannot_be_brought_in_is_refused_with_a_sentence(page: Page) -> None:
    failed = page.ended(page.ask("POST", "bring-in", {"upload": page.upload({"picture.png": b"\x89PNG\r\n\x1a\n\0\0"})}, status=202))
    assert failed["state"] == "failed"
    assert failed["sentence"]
    for body in ({}, {"path": "a"}, {"path": "/"}, {"path": "/a", "upload": "0" * 16}, {"upload": "nowhere"}):
        assert page.ask("POST", "bring-in", body, status=422)["message"]
    page.ask("POST", "bring-in", {"upload": "0" * 16}, status=404)


def test_a_piece_goes_only_where_the_file_ends_and_nowhere_else(page: Page) -> None:
    upload = page.ask("POST", "uploads", status=201)["id"]
    for name in ("../../evil.txt", "/etc/evil.txt", "..\\evil.txt", "a/../evil.txt", ".evil.txt"):
        page.sent("PUT", f"uploads/{upload}?name={quote(name)}&offset=0", b"x")
    evil = list(page.root.rglob("*evil.txt"))
    assert evil
    assert all(path.is_relative_to(page.root / "uploads" / upload) and path.stat().st_mode & 0o077 == 0 for path in evil)
    assert page.sent("PUT", f"uploads/{upload}?name=b.txt&offset=5", b"x").status == 422
    assert page.sent("PUT", f"uploads/{upload}?name=..&offset=0", b"x").status == 422
    page.ask("DELETE", f"uploads/{upload}")
    assert page.sent("PUT", f"uploads/{upload}?name=b.txt&offset=0", b"x").status == 404


def test_a_rule_is_tried_set_and_removed(page: Page) -> None:
    page.add("I collect stamps.", "ruled", "cursor")
    rule = {"namespace": "ruled", "client": "cursor", "days": 30}
    assert page.ask("GET", "retention") == {"rules": [], "problems": []}
    assert page.ask("POST", "retention/preview", rule)["total"] == 0
    made = page.ask("POST", "retention", rule)
    assert page.ask("GET", "retention")["rules"] == [made]
    assert page.ask("POST", "retention", {"days": 30}, status=422)["message"]
    assert page.ask("DELETE", f"retention/{made['id']}") == made
    page.ask("DELETE", f"retention/{made['id']}", status=404)


def test_a_client_can_do_none_of_it(service: ServiceProcess, page: Page) -> None:
    headers = {"Authorization": f"Bearer {service.client().issue_token('script')}", "Content-Type": "application/json"}
    asked = [
        ("POST", "uploads", b""),
        ("PUT", f"uploads/{'0' * 16}?name=a&offset=0", b"x"),
        ("GET", "bring-in", None),
        ("POST", "bring-in", b'{"path": "/x/y"}'),
        ("POST", "export/download", b'{"namespace": "kept"}'),
        ("POST", "restore/preview", b'{"backup": "x"}'),
        ("POST", "backups/verify", b'{"backup": "x"}'),
        ("POST", "backups/scrub", b'{"namespace": "kept"}'),
        ("GET", "retention", None),
        ("POST", "retention", b'{"namespace": "kept", "days": 3}'),
        ("GET", "tellers?namespace=kept", None),
    ]
    given = {(method, path): send(page.port, method, f"/api/v1/{path}", headers, body).status for method, path, body in asked}
    assert given == dict.fromkeys(given, 403)
