"""A backup every second while four processes write for half a minute: `python -m bench.backups`.

Each backup must be whole, pass SQLite's own check and hold at least what was acknowledged when it began.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep

import apsw

from lean_memory import Memory
from lean_memory.custody import Backup
from support import children
from support.embedding import WordEmbedder

SECONDS, EVERY, WRITERS = 30.0, 1.0, 4
WRITER = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    print("ready", flush=True)
    number = 0
    while True:
        memory.add("ana", f"Locker {number} of {sys.argv[2]} holds badge {number * 7}.")
        number += 1
        with open(sys.argv[3], "w") as acknowledged:
            acknowledged.write(str(number))
"""


def main() -> None:
    """Run it and print the figures; an `AssertionError` names what does not hold."""
    with TemporaryDirectory() as folder, Memory(root=Path(folder) / "memory", embedder=WordEmbedder()) as memory:
        memory.add("ana", "I live in Porto.")
        counts = [Path(folder) / f"count-{number}" for number in range(WRITERS)]
        writers = [children.start(WRITER, memory.root, number, counts[number]) for number in range(WRITERS)]
        try:
            assert [children.line(writer) for writer in writers] == ["ready"] * WRITERS
            took = _backed_up(memory, counts)
        finally:
            for writer in writers:
                children.killed(writer)
        assert memory.check("ana") == []
        print(f"{len(took)} backups in {SECONDS:.0f} s beside {WRITERS} writers, who added {sum(map(_count, counts)):,} texts")
        print(
            f"median {median(took):.2f} s, longest {max(took):.2f} s; each whole, sound, and with all that was acknowledged when it began"
        )


def _backed_up(memory: Memory, counts: list[Path]) -> list[float]:
    took: list[float] = []
    ends = monotonic() + SECONDS
    while (begun := monotonic()) < ends:
        acknowledged, before = sum(map(_count, counts)), perf_counter()
        backup = memory.backup()
        took.append(perf_counter() - before)
        _look_over(memory, backup, acknowledged)
        sleep(max(0.0, begun + EVERY - monotonic()))
    return took


def _look_over(memory: Memory, backup: Backup, acknowledged: int) -> None:
    assert memory.verify_backup(backup.path).problem == ""
    (held,) = backup.namespaces
    file = f"file:{backup.path / held.file}?immutable=1"
    with contextlib.closing(apsw.Connection(file, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as con:
        assert con.execute("PRAGMA integrity_check").get == "ok"
        episodes = con.execute("SELECT count(*) FROM episode").get
    assert episodes == held.episodes > acknowledged


def _count(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0


if __name__ == "__main__":
    main()
