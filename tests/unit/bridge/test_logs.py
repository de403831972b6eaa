"""What the service's log says of an error is where it happened and of what kind; what somebody told the memory is not in it."""

from __future__ import annotations

import io
import logging

from lean_memory_bridge.logs import Formatter


def test_the_log_names_the_kinds_and_places_of_an_error_and_of_its_cause_and_not_what_they_say() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Formatter())
    log = logging.Logger("tried")
    log.addHandler(handler)
    try:
        try:
            raise ValueError("I live in ZIRKON")
        except ValueError as error:
            raise RuntimeError("about ZIRKON") from error
    except RuntimeError:
        log.exception("It failed.")
    told = written.getvalue()
    assert "ZIRKON" not in told.replace('raise ValueError("I live in ZIRKON")', "").replace('raise RuntimeError("about ZIRKON")', "")
    assert told.index("ValueError\n") < told.index("RuntimeError\n")
    assert "test_logs.py" in told
    assert "It failed." in told
