"""The app that the official conformance suite is run on stands behind the product's door, as it is now."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from support.conformance_server import own_app


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
def test_the_app_of_the_conformance_suite_is_let_in_by_its_own_name_only(tmp_path: Path) -> None:
    async def statuses() -> list[int]:
        transport = httpx2.ASGITransport(app=own_app(7, tmp_path))
        async with httpx2.AsyncClient(transport=transport) as client:
            return [(await client.get(f"http://{host}:7/nothing")).status_code for host in ("127.0.0.1", "evil.example")]

    assert asyncio.run(statuses()) == [404, 421]
