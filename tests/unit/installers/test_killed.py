"""The setup program killed with -9 at whatever it does to the disk or starts: a program that works is in use, and the next attempt gets through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lean_memory_setup.installing import ENVIRONMENTS, Outcome, install, installed_version
from lean_memory_setup.payload import read_payload
from lean_memory_setup.removing import Person, uninstall
from unit.installers.test_setup import installation, payload_of, say_nothing

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the link of Windows has tests of its own")
_DEEDS = frozenset({"os.rename", "os.symlink", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree", "subprocess.Popen"})
"""What Python reports of itself (audit events) and what changes a disk or starts something."""
MOMENTS = 10


def deeds(verb: str, folder: Path, payload: Path, last: int) -> int | None:
    """How much was done until the end; nothing where it was killed at its `last` deed."""
    words = [sys.executable, __file__, verb, folder, payload, str(last)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGKILL:
        return None
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_an_update_that_is_killed_leaves_a_program_that_works_and_the_next_one_gets_through(tmp_path: Path) -> None:
    payloads = {version: payload_of(version, tmp_path / f"payload-{version}") for version in ("1", "2")}
    to = installation(tmp_path)
    install(payloads["1"], to, say_nothing)
    whole = deeds("install", tmp_path, payloads["2"].folder, 0)
    assert whole is not None
    assert whole > MOMENTS
    for moment in range(1, MOMENTS + 1):
        target = "1" if installed_version(to) == "2" else "2"
        deeds("install", tmp_path, payloads[target].folder, 1 + moment * (whole - 1) // MOMENTS)
        assert installed_version(to) in payloads
        subprocess.run([to.python, "status"], check=True)
    target = "1" if installed_version(to) == "2" else "2"
    assert install(payloads[target], to, say_nothing) is Outcome.UPDATED
    assert installed_version(to) == target
    left = {folder.name.partition("-")[0] for folder in (to.home / ENVIRONMENTS).iterdir()}
    assert left == set(payloads), "nothing of what was cut off is left"
    assert to.roots[0].exists()


def test_what_was_taken_off_by_half_is_taken_off_or_installed_again(tmp_path: Path) -> None:
    payload, to = payload_of("1", tmp_path / "payload-1"), installation(tmp_path)
    install(payload, to, say_nothing)
    for moment in range(1, 6):
        deeds("uninstall", tmp_path, payload.folder, moment)
        install(payload, to, say_nothing)
        assert installed_version(to) == "1"
        subprocess.run([to.python, "status"], check=True)
    deeds("uninstall", tmp_path, payload.folder, 2)
    uninstall(to, [Person(roots=to.roots)], say_nothing)
    assert {entry.name for entry in to.home.iterdir()} == {"asked"}, "what the test's programs wrote is all that is left"
    assert to.roots[0].exists()


def main(verb: str, folder: str, payload: str, last: str) -> None:
    done = 0

    def watch(event: str, given: tuple[object, ...]) -> None:
        nonlocal done
        del given
        if event in _DEEDS:
            done += 1
            if done == int(last):
                os.kill(os.getpid(), signal.SIGKILL)

    to = installation(Path(folder))
    sys.addaudithook(watch)
    if verb == "install":
        install(read_payload(Path(payload)), to, say_nothing)
    else:
        uninstall(to, [Person(roots=to.roots)], say_nothing)
    print(done)


if __name__ == "__main__":
    main(*sys.argv[1:])
