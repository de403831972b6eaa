"""What the OpenAPI document says can be sent is answered, whatever it is, without a failure of the service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from lean_memory import Memory
from lean_memory_bridge.app import Service
from lean_memory_bridge.runtime import Runtime, admin_token
from support.service import ServiceProcess, send

OURS = Runtime(port=1, pid=1, started_at=1, version="0", instance="i")


def document() -> dict[str, Any]:
    with Memory(root=Path("unused")) as memory:
        built = Service(root=Path("unused"), memory=memory, runtime=OURS, token="t", warm=lambda: None, stop=lambda: None)
        return built.api.openapi()


# The last three write outside the data folder, where they are told or where the system looks at login.
schema = schemathesis.openapi.from_dict(document()).exclude(
    path=["/api/v1/events", "/api/v1/shutdown", "/api/v1/backup", "/api/v1/export", "/api/v1/at-login"]
)


@pytest.fixture(scope="module")
def send_case(service: ServiceProcess) -> Iterator[Callable[[schemathesis.Case], Any]]:
    """Sends a case with the owner's token, all of them over one connection: looking for the service each time would double the requests."""
    address, headers = service.live.address, {"Authorization": f"Bearer {admin_token(service.root)}"}
    with requests.Session() as session:
        session.trust_env = False
        yield lambda case: case.call(base_url=address, headers=dict(headers), session=session, timeout=60)


@schema.parametrize()
@settings(
    max_examples=40, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), derandomize=True
)
def test_nothing_that_the_document_allows_makes_the_service_fail(
    case: schemathesis.Case, send_case: Callable[[schemathesis.Case], Any]
) -> None:
    answer = send_case(case)
    assert answer.status_code < 500, answer.text


def test_the_service_serves_this_document_to_those_it_lets_in(service: ServiceProcess) -> None:
    served = send(service.live.port, "GET", "/api/v1/openapi.json", {"Authorization": f"Bearer {admin_token(service.root)}"}).json()
    assert isinstance(served, dict)
    assert json.loads(json.dumps(document()))["paths"] == served["paths"]
    for path, operations in served["paths"].items():
        for operation in operations.values():
            assert operation.get("description") or operation.get("summary"), path


@pytest.mark.parametrize(
    "body", [b'{"text": "a", "text": "b"}', b'{"text": NaN}', b'{"text": "\xff"}', b"null", b'"text"', b"{}" * 3, b"\x00"]
)
def test_a_body_that_is_hardly_json_is_refused(service: ServiceProcess, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {admin_token(service.root)}", "Content-Type": "application/json"}
    for path in ("add", "search", "forget", "clear", "clients/x/token"):
        assert send(service.live.port, "POST", f"/api/v1/{path}", headers, body).status < 500
