"""What happens to whoever wants a service while the setup program replaces the installed program."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from lean_memory_bridge.runtime import find
from lean_memory_bridge.shim.starting import NoServiceError, SlowServiceError, Starter
from lean_memory_bridge.updating import LOCK
from support.shim import PATIENCE, environment
from support.supervised import live


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An installation with two environments, the first of which is in use. The second leaves a mark when its interpreter starts."""
    folder, packages = tmp_path / "home", f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    for name in ("old", "new"):
        made = folder / "envs" / name
        (made / "bin").mkdir(parents=True)
        (made / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
        (made / "pyvenv.cfg").write_text(f"home = {Path(os.path.realpath(sys.executable)).parent}\n")
        (made / packages).mkdir(parents=True)
    mark = folder / "new-began"
    (folder / "envs" / "new" / packages / "mark.pth").write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n")
    (folder / "env").symlink_to("envs/old")
    return folder


@contextlib.contextmanager
def replacing(home: Path) -> Generator[None]:
    """The moment in which the setup program replaces the program in `home`; at its end the new one is in use."""
    with (home / LOCK).open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
        (home / "env").unlink()
        (home / "env").symlink_to("envs/new")


def test_a_shim_starts_nothing_while_the_program_is_replaced_says_so_and_starts_it_afterwards(root: Path, home: Path) -> None:
    mark = home / "started"
    starter = Starter(root, ("/bin/sh", "-c", f": > '{mark}'; exit 7"), home / "env")
    with replacing(home), pytest.raises(SlowServiceError, match="being updated or removed"):
        starter.service(0.0)
    assert not mark.exists()
    with pytest.raises(NoServiceError, match="code 7"):
        starter.service(PATIENCE)
    assert mark.exists()


def test_a_service_that_is_started_meanwhile_waits_and_is_the_new_program(root: Path, home: Path) -> None:
    environ = environment(root, PYTHONPATH=os.pathsep.join(sys.path))
    words = [home / "env" / "bin" / "python", "-P", "-m", "lean_memory_desktop", "serve", "--root", root]
    with replacing(home):
        process = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert b"being updated or removed" in process.stderr.readline()
        assert find(root) is None
        assert not (home / "new-began").exists()
    with process:
        assert live(root).pid != process.pid
        assert (home / "new-began").exists()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
