"""A process that carries out one deed again and again, each time in a fork that is killed with SIGKILL at another change to the disk.

A change is one write, sync, truncation or deletion of SQLite's, or one file that is made, renamed or removed by us. So a deed is killed between
every two of them, whatever the machine's speed; a moment drawn by chance hardly ever falls into what takes a millisecond.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw

from lean_memory import Memory
from support.embedding import WordEmbedder

PROGRAM = "from support.killed_at import serve; serve()"
"""What the process runs; `support.children.start` starts it."""
_MAKES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.truncate", "shutil.copyfile"})

DEEDS: Mapping[str, Callable[[Memory, Path], object]] = {
    "backup": lambda memory, _: memory.backup(),
    "restore": lambda memory, other: memory.restore(other),
    "import": lambda memory, other: memory.import_(other, apply=True),
    # The file is brought to the newest version when it is first opened.
    "migrate": lambda memory, _: memory.status("ana"),
}


class _Points:
    """Counts changes to the disk below a folder, and kills this process at one of them; at none where that is 0."""

    def __init__(self, root: Path, last: int) -> None:
        self.count, self._root, self._last = 0, str(root), last

    def step(self) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, event: str, given: tuple[object, ...]) -> None:
        """An audit hook."""
        is_change = event in _CHANGES or (event == "open" and isinstance(given[2], int) and bool(given[2] & _MAKES))
        if is_change and isinstance(given[0], (str, os.PathLike)) and os.fspath(given[0]).startswith(self._root):
            self.step()


def serve() -> None:
    """For each line of a deed, a root, another path and a number, parted by tabs: `killed`, or `ended` and how many changes there were."""
    for line in sys.stdin:
        deed, root, other, last = line.rstrip("\n").split("\t")
        print(_done(deed, Path(root), Path(other), int(last)), flush=True)


def _done(deed: str, root: Path, other: Path, last: int) -> str:
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        _carry_out(deed, root, other, last, told)
    os.close(told)
    with os.fdopen(heard) as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    return f"ended {answer}" if os.WIFEXITED(status) and answer else "killed" if os.WIFSIGNALED(status) else "failed"


def _carry_out(deed: str, root: Path, other: Path, last: int, told: int) -> None:
    """Never returns."""
    try:
        points = _Points(root, last)
        _watch(points)
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            DEEDS[deed](memory, other)
        os.write(told, str(points.count).encode())
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the process's top level
        traceback.print_exc()
        os._exit(1)


def _watch(points: _Points) -> None:
    usual = apsw.vfs_names()[0]

    class Watched(apsw.VFSFile):
        def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
            points.step()
            super().xWrite(data, offset)

        def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
            points.step()
            super().xSync(flags)

        def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
            points.step()
            super().xTruncate(newsize)

    class Watching(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("watching", usual, makedefault=True)

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
            return Watched(usual, name, flags)

        def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
            points.step()
            super().xDelete(filename, syncdir)

    # SQLite keeps no hold of it.
    points.vfs = Watching()  # type: ignore[attr-defined]
    sys.addaudithook(points.heard)
