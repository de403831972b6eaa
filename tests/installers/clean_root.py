"""A Debian of its own in a folder: made by debootstrap, entered through namespaces, and gone with all its processes at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

SUITE = "bookworm"
READY_MADE = "LM_CLEAN_ROOT"
"""A folder that debootstrap has filled already; it is copied."""
_ENTER = """
cd "$0"
mount -t proc proc proc && mount -t tmpfs tmpfs dev && mkdir dev/shm dev/pts
for one in null zero random urandom full tty; do touch dev/$one && mount --bind /dev/$one dev/$one; done
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666 && ln -s pts/ptmx dev/ptmx
cp /etc/resolv.conf etc/resolv.conf
exec chroot . sleep infinity
"""
_TOOLS = ("debootstrap", "unshare", "nsenter", "chroot", "dpkg-deb")


def lacking() -> str:
    """Why there can be no such Debian here; empty where there can."""
    if os.geteuid() != 0:
        return "only root can make a Debian root"
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    return f"these programs are missing: {', '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A Debian that runs in `folder`; `keeper` is its first process as this system numbers it."""

    folder: Path
    keeper: int

    def run(self, words: str, *, user: str = "root", check: bool = True) -> str:
        """What a shell of `user` in it says to `words`, on both streams."""
        enter = ["nsenter", "--target", str(self.keeper), "--mount", "--pid", "--ipc", "--root", "--wd"]
        done = subprocess.run(
            [*enter, "su", "-", user, "-s", "/bin/bash", "-c", f"export LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive; {words}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=1800,
            check=False,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout[-3000:]}"
        return done.stdout

    def timed(self, words: str, *, user: str = "root") -> float:
        """The seconds that `words` take."""
        before = time.monotonic()
        self.run(words, user=user)
        return time.monotonic() - before

    def path(self, path: str) -> Path:
        """A path in it as this system sees it."""
        return self.folder / path.lstrip("/")


@contextlib.contextmanager
def running_root(folder: Path) -> Generator[Root]:
    """A clean Debian in `folder`, running while the block does."""
    ready = os.environ.get(READY_MADE)
    if ready:
        subprocess.run(["cp", "-a", ready, str(folder)], check=True)
    else:
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(folder)], check=True, stdout=subprocess.DEVNULL)
    words = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "bash", "-euc", _ENTER, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as outer:
        try:
            children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
            until(lambda: _command(children) == "sleep")
            yield Root(folder=folder, keeper=int(children.read_text().split()[0]))
        finally:
            outer.kill()


def until(holds: Callable[[], object], patience: float = 180.0) -> float:
    """Wait until something holds; the seconds that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + patience, "it did not come about in time"
        time.sleep(0.05)
    return time.monotonic() - began


def _command(children: Path) -> str:
    """The name of the first process in it; the root is ready when it waits."""
    numbers = children.read_text().split()
    return Path(f"/proc/{numbers[0]}/comm").read_text().strip() if numbers else ""
