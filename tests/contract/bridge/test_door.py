"""Every route of the service, reads included, lets in only what is addressed to it, comes from no other page, and carries a good token."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Door:
    """Where the service listens, and the token it lets in."""

    port: int
    token: str

    def attempt(self, method: str, path: str, headers: dict[str, str | None], query: str = "") -> int:
        """The status of a request that would have an effect if it were let in."""
        plain = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        body = json.dumps(BODIES.get(path, {})).encode() if method not in {"GET", "DELETE"} else None
        return send(self.port, method, path + query, {**plain, **headers}, body).status

    def written(self, given: str | None) -> str | None:
        """A header with this service's port and token in it."""
        return None if given is None else given.format(port=self.port, token=self.token)


@pytest.fixture(scope="module")
def door(service: ServiceProcess) -> Door:
    return Door(port=service.live.port, token=admin_token(service.root))


@pytest.fixture(scope="module")
def token(door: Door) -> str:
    return door.token


def test_the_app_has_the_routes_that_the_matrix_is_meant_for() -> None:
    paths = {path for _, path in ROUTES}
    assert {"/mcp", "/healthz", "/api/v1/openapi.json", "/api/v1/status", "/api/v1/events", "/api/v1/add", "/api/v1/shutdown"} <= paths
    assert len(GUARDED) > 20


OTHER_NAMES = (
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
)
FOREIGN = (
    "null",
    "https://evil.example",
    "http://evil.example:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "file://",
    "",
)
NO_GOOD_TOKEN = (
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
)

# One test a route, as a test for each of two thousand requests would take longer than the requests.


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_another_name_is_refused(door: Door, token: str, method: str, path: str) -> None:
    given = {host: door.attempt(method, path, {"Host": door.written(host), "Authorization": f"Bearer {token}"}) for host in OTHER_NAMES}
    assert [host for host, status in given.items() if not 400 <= status < 500] == []


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_page_of_another_origin_is_refused(door: Door, token: str, method: str, path: str) -> None:
    given = {origin: door.attempt(method, path, {"Origin": door.written(origin), "Authorization": f"Bearer {token}"}) for origin in FOREIGN}
    assert given == dict.fromkeys(FOREIGN, 403)


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_without_a_good_token_nothing_is_let_in(door: Door, method: str, path: str) -> None:
    given = {bad: door.attempt(method, path, {"Authorization": door.written(bad)}) for bad in NO_GOOD_TOKEN}
    assert given == dict.fromkeys(NO_GOOD_TOKEN, 401)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_token_in_the_address_is_refused_even_beside_a_good_one(door: Door, token: str, method: str, path: str) -> None:
    for name in ("token", "access_token", "Authorization"):
        assert 400 <= door.attempt(method, path, {}, f"?{name}={token}") < 500
        assert door.attempt(method, path, {"Authorization": f"Bearer {token}"}, f"?{name}={token}") == 400


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_token_in_a_cookie_lets_nobody_in(door: Door, token: str, method: str, path: str) -> None:
    assert door.attempt(method, path, {"Cookie": f"token={token}; session={token}"}) == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_it_acts_for_another_site_is_refused(door: Door, token: str, site: str) -> None:
    assert door.attempt("GET", "/api/v1/status", {"Sec-Fetch-Site": site, "Authorization": f"Bearer {token}"}) == 403


def test_an_unknown_path_tells_nothing_without_a_token(door: Door, token: str) -> None:
    assert door.attempt("GET", "/api/v1/nothing", {}) == 401
    assert door.attempt("GET", "/api/v1/nothing", {"Authorization": f"Bearer {token}"}) == 404


def test_its_own_names_with_a_good_token_are_let_in(door: Door, token: str) -> None:
    good = {"Authorization": f"Bearer {token}"}
    own = f"localhost:{door.port}"
    assert door.attempt("GET", "/api/v1/status", good) == 200
    assert door.attempt("GET", "/api/v1/status", {**good, "Host": own, "Origin": f"http://{own}"}) == 200
    same = {"Origin": f"http://127.0.0.1:{door.port}", "Sec-Fetch-Site": "same-origin"}
    assert door.attempt("GET", "/api/v1/status", {**good, **same}) == 200
    assert door.attempt("GET", "/healthz", {}) == 200


def test_nothing_of_all_that_had_an_effect(service: ServiceProcess) -> None:
    found = service.client()
    assert found.namespaces().namespaces == ()
    assert found.clients() == ()
    assert {entry.client for entry in found.access(limit=2000).entries} == {"lean-memory"}
