"""Requests of one client that wait at the same time travel under identifiers that the service's library tells apart."""

from __future__ import annotations

import contextlib
import json

from lean_memory_bridge.shim.in_flight import InFlight


def request(identifier: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": identifier, "method": "ping"}


def test_a_request_alone_travels_as_it_came() -> None:
    flight, message = InFlight(), request("9")
    with flight.travelling(message, b"as it came") as (sent, line):
        assert (sent, line) == (message, b"as it came")
    with flight.travelling(request(9), b"later") as (_, line):
        assert line == b"later"


def test_of_two_that_are_one_as_text_the_second_gets_another_name_and_its_own_back() -> None:
    flight = InFlight()
    with contextlib.ExitStack() as stack:
        names = []
        for own in (9, "9", "shim-1", 9):
            sent, line = stack.enter_context(flight.travelling(request(own), json.dumps(request(own)).encode()))
            assert json.loads(line)["id"] == sent["id"]
            assert (flight.own(sent["id"]), type(flight.own(sent["id"]))) == (own, type(own))
            names.append(str(sent["id"]))
    assert len(set(names)) == 4
    assert flight.own(9) == 9


def test_what_is_called_off_is_named_as_the_service_knows_it() -> None:
    flight = InFlight()
    called_off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "9"}}
    with flight.travelling(request(9), b""), flight.travelling(request("9"), b"") as (second, _):
        with flight.travelling(called_off, b"") as (sent, line):
            assert sent["params"] == {"requestId": second["id"]}
            assert json.loads(line) == sent
        with flight.travelling({**called_off, "params": {"requestId": 9}}, b"as it came") as (_, line):
            assert line == b"as it came"
