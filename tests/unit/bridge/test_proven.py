"""A token goes to nobody who has not proved on that very connection that it is the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from lean_memory_bridge.client import ServiceClient
from lean_memory_bridge.refusals import UnreachableError
from lean_memory_bridge.runtime import Live, admin_token
from lean_memory_bridge.shim.wire import BROKEN, Wire
from lean_memory_bridge.takeover import ask_to_end
from support.listening import StrangeListener

PRETENDS = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 62\r\n\r\n{"instance": "x", "version": "1", "pid": 1, "proof": "0000"}  '


def live_at(port: int) -> Live:
    return Live(port=port, pid=1, version="1", instance="x")


@pytest.mark.parametrize("answer", [PRETENDS, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"SSH-2.0-other\r\n", b""])
def test_a_stranger_on_the_port_of_the_service_hears_no_token(tmp_path: Path, answer: bytes) -> None:
    token = admin_token(tmp_path)
    with StrangeListener(answer=answer) as stranger:
        client = ServiceClient(tmp_path, live_at(stranger.port), token)
        with pytest.raises(UnreachableError):
            client.search("where does the user work?")
        with pytest.raises(UnreachableError):
            next(client.snapshots())
        wire = Wire(live=live_at(stranger.port), token=token, client="test")
        with pytest.raises(BROKEN), wire.post(b"{}", {}):
            pass
        ask_to_end(live_at(stranger.port), token)
    assert b"/healthz?challenge=" in stranger.heard
    assert token.encode() not in stranger.heard
    assert b"where does the user work" not in stranger.heard
