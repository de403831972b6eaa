"""Every route of the service, reads included, lets in only what is addressed to it, comes from no other page, and carries a good token."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from lean_memory import Memory
from lean_memory_bridge.app import Service
from lean_memory_bridge.guard import is_open
from lean_memory_bridge.runtime import Runtime, admin_token
from support.service import ServiceProcess, send

NAMESPACE = "door"
BODIES: dict[str, object] = {
    "/api/v1/add": {"text": "I live in Porto.", "namespace": NAMESPACE},
    "/api/v1/add-many": {"items": [{"text": "I live in Porto."}], "namespace": NAMESPACE},
    "/api/v1/search": {"query": "Porto", "namespace": NAMESPACE},
    "/api/v1/would-forget": {"entity": "user", "namespace": NAMESPACE},
    "/api/v1/forget": {"entity": "user", "namespace": NAMESPACE},
    "/api/v1/clear": {"namespace": NAMESPACE},
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memory_add", "arguments": {"text": "I live in Porto."}},
    },
}


def own_routes() -> list[tuple[str, str]]:
    """Method and path of every route the app has."""
    with tempfile.TemporaryDirectory() as folder, Memory(root=folder) as memory:
        runtime = Runtime(port=1, pid=1, started_at=1, version="0", instance="i")
        built = Service(root=Path(folder), memory=memory, runtime=runtime, token="t", warm=lambda: None, stop=lambda: None)
        routes = list(_flat(built.api.routes))
    return sorted(
        (method, route.path.replace("{name}", "someone").replace("{file:path}", "style.css"))
        for route in routes
        for method in (route.methods or {"GET"}) - {"HEAD"}
    )


def _flat(routes: Iterable[object]) -> Iterator[Route | APIRoute]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from _flat(included.routes)
            continue
        assert isinstance(route, Route | APIRoute), f"{route} is of a kind this test does not know"
        yield route


ROUTES = own_routes()
GUARDED = [(method, path) for method, path in ROUTES if not is_open(path, method)]


@pytest.fixture(scope="module")
def token(service: ServiceProcess) -> str:
    return admin_token(service.root)


def attempt(service: ServiceProcess, method: str, path: str, headers: dict[str, str | None], query: str = "") -> int:
    """The status of a request that would have an effect if it were let in."""
    plain = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    body = json.dumps(BODIES.get(path, {})).encode() if method not in {"GET", "DELETE"} else None
    return send(service.live.port, method, path + query, {**plain, **headers}, body).status


def test_the_app_has_the_routes_that_the_matrix_is_meant_for() -> None:
    paths = {path for _, path in ROUTES}
    assert {"/mcp", "/healthz", "/api/v1/openapi.json", "/api/v1/status", "/api/v1/events", "/api/v1/add", "/api/v1/shutdown"} <= paths
    assert len(GUARDED) > 20


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "localhost.evil.example:{port}",
        "0.0.0.0:{port}",
        "[::1]:{port}",
        "127.0.0.1:{port}@evil.example",
        "2130706433:{port}",
    ],
)
def test_another_name_is_refused(service: ServiceProcess, token: str, method: str, path: str, host: str | None) -> None:
    wrong = None if host is None else host.format(port=service.live.port)
    assert 400 <= attempt(service, method, path, {"Host": wrong, "Authorization": f"Bearer {token}"}) < 500


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://evil.example:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "file://",
        "",
    ],
)
def test_a_page_of_another_origin_is_refused(service: ServiceProcess, token: str, method: str, path: str, origin: str) -> None:
    foreign = origin.format(port=service.live.port)
    assert attempt(service, method, path, {"Origin": foreign, "Authorization": f"Bearer {token}"}) == 403


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer null",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer x{token}",
        "Token {token}",
    ],
)
def test_without_a_good_token_nothing_is_let_in(
    service: ServiceProcess, token: str, method: str, path: str, authorization: str | None
) -> None:
    given = None if authorization is None else authorization.format(token=token)
    assert attempt(service, method, path, {"Authorization": given}) == 401


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("name", ["token", "access_token", "Authorization"])
def test_a_token_in_the_address_is_refused_even_beside_a_good_one(
    service: ServiceProcess, token: str, method: str, path: str, name: str
) -> None:
    assert 400 <= attempt(service, method, path, {}, f"?{name}={token}") < 500
    assert attempt(service, method, path, {"Authorization": f"Bearer {token}"}, f"?{name}={token}") == 400


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_token_in_a_cookie_lets_nobody_in(service: ServiceProcess, token: str, method: str, path: str) -> None:
    assert attempt(service, method, path, {"Cookie": f"token={token}; session={token}"}) == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_it_acts_for_another_site_is_refused(service: ServiceProcess, token: str, site: str) -> None:
    assert attempt(service, "GET", "/api/v1/status", {"Sec-Fetch-Site": site, "Authorization": f"Bearer {token}"}) == 403


def test_an_unknown_path_tells_nothing_without_a_token(service: ServiceProcess, token: str) -> None:
    assert attempt(service, "GET", "/api/v1/nothing", {}) == 401
    assert attempt(service, "GET", "/api/v1/nothing", {"Authorization": f"Bearer {token}"}) == 404


def test_its_own_names_with_a_good_token_are_let_in(service: ServiceProcess, token: str) -> None:
    port = service.live.port
    good = {"Authorization": f"Bearer {token}"}
    assert attempt(service, "GET", "/api/v1/status", good) == 200
    assert attempt(service, "GET", "/api/v1/status", {**good, "Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}) == 200
    assert attempt(service, "GET", "/api/v1/status", {**good, "Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}) == 200
    assert attempt(service, "GET", "/healthz", {}) == 200


def test_nothing_of_all_that_had_an_effect(service: ServiceProcess) -> None:
    found = service.client()
    assert found.namespaces().namespaces == ()
    assert found.clients() == ()
    assert {entry.client for entry in found.access(limit=2000).entries} == {"lean-memory"}
