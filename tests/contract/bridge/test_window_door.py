"""A browser gets in with a one-time code, and stays in with a cookie and a key that are worth nothing without each other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from lean_memory_bridge.runtime import admin_token
from lean_memory_bridge.window import CODE_LIFE, PASS_LIFE, WindowDoor, cookie_name
from support.service import Reply, ServiceProcess, send

FAR = 10**10


def ask(service: ServiceProcess, method: str, path: str, headers: Mapping[str, str | None], body: object = None) -> Reply:
    sent = None if body is None else json.dumps(body).encode()
    return send(service.live.port, method, path, {"Content-Type": "application/json", **headers}, sent)


def code_for(service: ServiceProcess) -> str:
    answer = ask(service, "POST", "/api/v1/window/code", {"Authorization": f"Bearer {admin_token(service.root)}"}, {})
    found = answer.json()
    assert isinstance(found, dict)
    return str(found["code"])


def entered(service: ServiceProcess) -> tuple[str, str]:
    """The cookie and the key of a browser that was let in."""
    answer = ask(service, "POST", "/api/v1/window/session", {}, {"code": code_for(service)})
    assert answer.status == 200
    found = answer.json()
    assert isinstance(found, dict)
    return answer.headers["set-cookie"].split(";")[0], str(found["key"])


def test_the_page_and_its_files_are_for_anybody_and_hold_nothing(service: ServiceProcess) -> None:
    page = send(service.live.port, "GET", "/", {})
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    script = send(service.live.port, "GET", "/static/app/main.js", {})
    assert (script.status, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")


def test_the_policy_lets_nothing_in_but_the_services_own_files(service: ServiceProcess) -> None:
    policy = send(service.live.port, "GET", "/", {}).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'self' 'sha256-[\w+/]{43}='(;|$)", policy)
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "path",
    ["/static/../__init__.py", "/static/..%2f__init__.py", "/static/%2e%2e/__init__.py", "/static/app", "/static/", "/static//etc/passwd"],
)
def test_no_other_file_is_served(service: ServiceProcess, path: str) -> None:
    assert send(service.live.port, "GET", path, {}).status in {401, 404}


def test_a_link_on_another_site_may_lead_to_the_page_and_to_nothing_else(service: ServiceProcess) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert send(service.live.port, "GET", "/", link).status == 200
    assert send(service.live.port, "GET", "/", {**link, "Sec-Fetch-Dest": "iframe"}).status == 403
    assert send(service.live.port, "GET", "/", {**link, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty"}).status == 403
    assert send(service.live.port, "GET", "/static/app/main.js", link).status == 403


def test_a_code_lets_in_one_browser_once(service: ServiceProcess) -> None:
    code = code_for(service)
    first = ask(service, "POST", "/api/v1/window/session", {}, {"code": code})
    assert first.status == 200
    cookie = first.headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/api/"} <= {part.strip().lower() for part in cookie.split(";")}
    assert cookie.startswith(cookie_name(service.live.port))
    again = ask(service, "POST", "/api/v1/window/session", {}, {"code": code})
    assert again.status == 403
    assert "set-cookie" not in again.headers
    assert b"lean-memory open" in again.body


def test_cookie_and_key_let_in_together_and_not_alone(service: ServiceProcess) -> None:
    cookie, key = entered(service)
    other_cookie, other_key = entered(service)
    assert ask(service, "GET", "/api/v1/clients", {"Cookie": cookie, "X-Lean-Memory-Window": key}).status == 200
    assert ask(service, "GET", "/api/v1/clients", {"Cookie": f"a=b; {cookie}; c=d", "X-Lean-Memory-Window": key}).status == 200
    for wrong in (
        {"Cookie": cookie},
        {"X-Lean-Memory-Window": key},
        {"Cookie": cookie, "X-Lean-Memory-Window": other_key},
        {"Cookie": other_cookie, "X-Lean-Memory-Window": key},
        {"Cookie": cookie + "0", "X-Lean-Memory-Window": key},
        {"Cookie": cookie.replace("lean_memory_window", "window"), "X-Lean-Memory-Window": key},
        {"Cookie": f"{cookie}; {cookie}", "X-Lean-Memory-Window": key},
        {"Cookie": cookie, "X-Lean-Memory-Window": key, "X-Lean-Memory-Client": "cursor"},
        {"Cookie": cookie, "X-Lean-Memory-Window": key, "Authorization": "Bearer wrong"},
    ):
        assert ask(service, "GET", "/api/v1/clients", wrong).status == 401, wrong


def test_another_origin_gets_nowhere_with_a_good_pass(service: ServiceProcess) -> None:
    cookie, key = entered(service)
    good = {"Cookie": cookie, "X-Lean-Memory-Window": key}
    assert ask(service, "GET", "/api/v1/clients", {**good, "Origin": "http://127.0.0.1:1"}).status == 403
    assert ask(service, "GET", "/api/v1/clients", {**good, "Sec-Fetch-Site": "same-site"}).status == 403
    assert ask(service, "POST", "/mcp", good, {}).status == 401


def test_an_assistants_token_makes_no_code(service: ServiceProcess) -> None:
    token = service.client().issue_token("script")
    assert ask(service, "POST", "/api/v1/window/code", {"Authorization": f"Bearer {token}"}, {}).status == 403


def test_leaving_takes_the_cookie_away(service: ServiceProcess) -> None:
    cookie, key = entered(service)
    answer = ask(service, "DELETE", "/api/v1/window/session", {"Cookie": cookie, "X-Lean-Memory-Window": key})
    assert answer.status == 200
    assert "max-age=0" in answer.headers["set-cookie"].lower()


def test_codes_and_passes_run_out() -> None:
    now = [1000.0]
    door = WindowDoor("secret", clock=lambda: now[0])
    late, used = door.invite(), door.admit(door.invite())
    assert used is not None
    now[0] += CODE_LIFE
    assert door.admit(late) is None
    assert door.knows(used.cookie, used.key)
    now[0] += PASS_LIFE
    assert not door.knows(used.cookie, used.key)


def test_a_pass_outlives_the_service_but_not_its_secret() -> None:
    door = WindowDoor("secret")
    made = door.admit(door.invite())
    assert made is not None
    assert WindowDoor("secret").knows(made.cookie, made.key)
    assert not WindowDoor("another").knows(made.cookie, made.key)


@pytest.mark.parametrize("cookie", ["", ".", "..", f"{FAR}.x.y", "x" * 10_000, "\udcff.x.y", "ü.x.y"])
def test_what_is_no_cookie_of_ours_lets_nobody_in(cookie: str) -> None:
    assert not WindowDoor("secret").knows(cookie, "key")


def test_an_open_window_does_not_crowd_assistants_out_of_the_log(service: ServiceProcess) -> None:
    client = service.client()
    client.add("I live in Porto.", namespace="window")
    before = client.access(limit=2000).entries
    cookie, key = entered(service)
    for path in ("browse?namespace=window", "compare?namespace=window&at=2025-01-01", "moments?namespace=window"):
        assert ask(service, "GET", f"/api/v1/{path}", {"Cookie": cookie, "X-Lean-Memory-Window": key}).status == 200
    assert client.access(limit=2000).entries == before
