"""`lean-memory open`: an address that lets one browser in, once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.command import Command
from support.service import running_service, send


def test_the_address_that_is_printed_lets_one_browser_in(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        said = Command(home=tmp_path).run("open", "--print", "--root", str(service.root))
        assert said.code == 0
        address = urlsplit(said.out.strip())
        assert (address.netloc, address.path, address.query) == (f"127.0.0.1:{service.live.port}", "/", "")
        body = json.dumps({"code": address.fragment.removeprefix("code=")}).encode()
        answers = [send(service.live.port, "POST", "/api/v1/window/session", {"Content-Type": "application/json"}, body) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 403]


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="this system always has a screen")
def test_where_no_browser_can_be_shown_the_address_is_printed(tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        command = Command(home=tmp_path, environ={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
        assert "/#code=" in command.run("open", "--root", str(service.root)).out
        held = command.json("open", "--root", str(service.root))
        assert "/#code=" in held["address"]
        assert held["seconds"] == 120
