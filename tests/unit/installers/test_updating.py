"""While the program is being replaced nobody starts a service out of it; a setup program that was killed is in nobody's way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from lean_memory_bridge.updating import settled
from lean_memory_setup.installing import ENVIRONMENTS, LINK
from lean_memory_setup.one_at_a_time import SWITCHING, allow_to_look, nobody_starts

INSTALLERS = Path(__file__).parents[3] / "installers"
_HOLDS = """
import sys
from pathlib import Path
from lean_memory_setup.one_at_a_time import nobody_starts
with nobody_starts(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(home: Path) -> subprocess.Popen[bytes]:
    """A setup program that has come to the moment in which it replaces the program in `home`."""
    environ = {**os.environ, "PYTHONPATH": str(INSTALLERS)}
    process = subprocess.Popen([sys.executable, "-c", _HOLDS, home], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def seen(environment: Path) -> bool:
    with settled(environment) as so:
        return so


def test_the_lock_is_seen_by_whoever_starts_out_of_the_environment_in_use_and_by_nobody_else(tmp_path: Path) -> None:
    with holding(tmp_path) as setup:
        assert not seen(tmp_path / LINK)
        assert seen(tmp_path / ENVIRONMENTS / "1.0"), "the setup program itself tries the new one before it is in use"
        assert seen(tmp_path / "elsewhere" / ".venv")
        setup.communicate()
    assert seen(tmp_path / LINK)


def test_a_setup_program_that_was_killed_is_in_nobodys_way(tmp_path: Path) -> None:
    with holding(tmp_path) as setup:
        setup.kill()
    assert (tmp_path / SWITCHING).exists()
    assert seen(tmp_path / LINK)
    with nobody_starts(tmp_path, patience=0.0):
        assert not seen(tmp_path / LINK)


def test_who_is_just_starting_something_is_waited_for(tmp_path: Path) -> None:
    allow_to_look(tmp_path)
    order: list[str] = []
    with settled(tmp_path / LINK) as so:
        assert so
        setup = in_background(tmp_path, lambda: order.append("replaced"))
        order.append("started")
    setup.join()
    assert order == ["started", "replaced"]


def test_who_holds_the_lock_for_ever_does_not_keep_the_program_from_being_replaced(tmp_path: Path) -> None:
    allow_to_look(tmp_path)
    with settled(tmp_path / LINK), nobody_starts(tmp_path, patience=0.0):
        pass


def test_every_person_may_look_whatever_rights_files_get_here(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        file = allow_to_look(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def in_background(home: Path, then: Callable[[], None]) -> threading.Thread:
    def replace() -> None:
        with nobody_starts(home, patience=60.0):
            then()

    thread = threading.Thread(target=replace)
    thread.start()
    return thread
