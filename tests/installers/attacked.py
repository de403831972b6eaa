"""The setup program killed at any moment, on a full disk, on one that may only be read, and with a payload that is not what it was.

As root, in some ten minutes: python -m pytest -s tests/installers/attacked.py. Whatever happens the program that was there goes on, or the next
attempt brings what it should; nothing that was remembered is lost, and what goes wrong is said in a sentence.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from installers.versions import EPOCH, OLD, PROJECT, previous
from lean_memory_installers.linux import linux_payload
from lean_memory_setup.payload import Payload, read_payload

KEPT = "LM_PAYLOADS"
"""A folder with the payloads `old/` and `new/`, made already."""
MOMENTS = 10
ROOM = 250
"""MB beside an installation, which are too few for another one."""
INSTALLED = 420
pytestmark = [pytest.mark.timeout(3600)]


@dataclass(frozen=True, kw_only=True)
class Place:
    """An installation for one person in a folder."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def data(self) -> Path:
        return self.folder.parent / f"{self.folder.name}-memories"

    def words(self, payload: Path, verb: str) -> list[str]:
        return [sys.executable, "-I", str(payload / "setup.pyz"), verb, "--home", str(self.home), "--data", str(self.data)]

    def setup(self, payload: Path, verb: str) -> subprocess.CompletedProcess[str]:
        return self.run(*self.words(payload, verb))

    def refused(self, payload: Path, verb: str) -> str:
        """What it says where it cannot do it."""
        done = self.setup(payload, verb)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stdout + done.stderr
        return done.stderr.strip().splitlines()[-1]

    def killed(self, payload: Path, verb: str, after: float, *, alone: bool) -> bool:
        """Whether the setup program lived for so many seconds; then it is killed, with what it has started or without."""
        with subprocess.Popen(
            self.words(payload, verb), env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL) if alone else os.killpg(process.pid, signal.SIGKILL)
                return True
        return False

    def version(self) -> str:
        done = self.run(str(self.home / "env" / "bin" / "lean-memory"), "--version")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def remembers(self) -> bool:
        program = str(self.home / "env" / "bin" / "lean-memory")
        return "Globex" in self.run(program, "--root", str(self.data), "search", "Where does the user work?").stdout

    def tell(self) -> None:
        self.run(str(self.home / "env" / "bin" / "lean-memory"), "--root", str(self.data), "add", "I work at Globex.")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env=self.environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=900, check=False
        )

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": os.defpath, "LANG": "C.UTF-8", "TMPDIR": str(self.folder.parent)}


@pytest.fixture(scope="module")
def payloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Payload]:
    """The payloads by their versions."""
    kept = os.environ.get(KEPT)
    if kept:
        return {payload.version: payload for payload in (read_payload(Path(kept, which)) for which in ("old", "new"))}
    work = tmp_path_factory.mktemp("payloads")
    cache = Path(os.environ.get("LM_INSTALLERS_CACHE", work / "cache"))
    made: dict[str, Payload] = {}
    for which, source in (("old", previous(work / "source")), ("new", PROJECT)):
        payload = linux_payload(source=source, cache=cache, folder=work / which, epoch=EPOCH)
        made[payload.version] = payload
    return made


def other(payloads: dict[str, Payload], version: str) -> Path:
    return next(payload.folder for one, payload in payloads.items() if one != version)


def test_a_setup_that_is_killed_leaves_a_program_that_works_and_the_next_one_gets_through(
    tmp_path: Path, payloads: dict[str, Payload]
) -> None:
    place, old = Place(folder=tmp_path), payloads[OLD].folder
    began = time.monotonic()
    assert place.setup(old, "install").returncode == 0
    first = time.monotonic() - began
    place.tell()
    began = time.monotonic()
    assert place.setup(other(payloads, OLD), "install").returncode == 0
    update = time.monotonic() - began
    print(f"\ninstalled in {first:.0f} s, brought up to date in {update:.0f} s")
    for moment in range(1, MOMENTS + 1):
        before = place.version()
        lived = place.killed(other(payloads, before), "install", update * moment / (MOMENTS + 1), alone=moment % 2 == 0)
        assert place.remembers()
        print(f"update killed after {moment}/{MOMENTS + 1}: {before} -> {place.version()}{'' if lived else ' (done before)'}", flush=True)
    target = other(payloads, place.version())
    assert place.setup(target, "install").returncode == 0
    assert payloads[place.version()].folder == target
    assert place.remembers()
    assert len(list((place.home / "envs").iterdir())) == 2, "nothing of what was cut off is left"

    began = time.monotonic()
    for moment in range(1, MOMENTS + 1):
        lived = place.killed(target, "uninstall", 0.3 * moment, alone=moment % 2 == 0)
        works = (place.home / "env" / "bin" / "python").exists() and place.remembers()
        print(f"uninstalling killed after {0.3 * moment:.1f} s: {'works still' if works else 'half gone' if lived else 'gone'}", flush=True)
        # Each takes as long as an installation, so that only some are mended at once.
        if moment % 3 == 0:
            assert place.setup(target, "install").returncode == 0
            assert place.remembers()
    assert place.setup(target, "uninstall").returncode == 0
    assert not place.home.exists()

    for moment in range(1, MOMENTS + 1):
        place.killed(old, "install", first * moment / (MOMENTS + 1), alone=moment % 2 == 0)
    assert place.setup(old, "install").returncode == 0
    assert place.version() == OLD
    assert place.remembers()
    assert len(list((place.home / "envs").iterdir())) == 1


def test_on_a_full_disk_and_on_one_that_may_only_be_read_the_old_program_goes_on(tmp_path: Path, payloads: dict[str, Payload]) -> None:
    with disk(tmp_path / "disk", INSTALLED + ROOM) as folder:
        place, newer = Place(folder=folder), other(payloads, OLD)
        assert place.setup(payloads[OLD].folder, "install").returncode == 0
        place.tell()
        free = shutil.disk_usage(folder).free
        said = place.refused(newer, "install")
        print(f"\nfull disk: {said}")
        assert "No space left" in said
        assert shutil.disk_usage(folder).free > free - 5_000_000, "what was begun is gone"
        assert (place.version(), place.remembers()) == (OLD, True)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        for verb in ("install", "uninstall"):
            said = place.refused(newer, verb)
            print(f"read-only, {verb}: {said}")
            assert "Read-only" in said
            assert (place.version(), place.remembers()) == (OLD, True)


@pytest.mark.parametrize("name", ["uv", "requirements.txt", "setup.pyz", "payload.json", "wheels/numpy-*cp311*.whl"])
def test_a_payload_that_was_changed_by_a_byte_is_refused(tmp_path: Path, payloads: dict[str, Payload], name: str) -> None:
    damaged, place = tmp_path / "damaged", Place(folder=tmp_path)
    shutil.copytree(payloads[OLD].folder, damaged)
    [file] = damaged.glob(name)
    held = bytearray(file.read_bytes())
    held[len(held) // 2] ^= 1
    file.write_bytes(held)
    done = place.setup(damaged, "install")
    print(f"\n{name}: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 1
    assert not place.home.exists()


@contextlib.contextmanager
def disk(folder: Path, size: int) -> Generator[Path]:
    """A disk of so many MB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
