"""Backups while others write."""

from __future__ import annotations

from pathlib import Path

from lean_memory import Memory
from support.children import finished, line, start
from support.embedding import WordEmbedder
from support.statements import day

WRITER = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    number = 0
    print("ready", flush=True)
    while not (number and number >= int(sys.argv[3])):
        memory.add("ana", f"Locker {number} of {sys.argv[2]} holds badge {number * 7}.")
        number += 1
        with open(sys.argv[4], "w") as acknowledged:
            acknowledged.write(str(number))
"""


def _count(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0


def test_each_backup_holds_what_was_acknowledged_when_it_began(root: Path, tmp_path: Path) -> None:
    counts = [tmp_path / f"count-{number}" for number in range(4)]
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add("ana", "I live in Porto.", t_ref=day(1))
        writers = [start(WRITER, root, number, 30, counts[number]) for number in range(4)]
        for writer in writers:
            assert line(writer) == "ready"
        backups = 0
        while any(writer.poll() is None for writer in writers):
            acknowledged = sum(map(_count, counts))
            backup = memory.backup()
            assert backup.namespaces[0].episodes > acknowledged
            backups += 1
        for writer in writers:
            finished(writer)
        assert backups >= 2
        assert memory.backup().namespaces[0].episodes == 4 * 30 + 1
        last = memory.backups()[0]
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        other.restore(last.path)
        assert other.check("ana") == []
        assert other.status("ana")[0].episodes == 4 * 30 + 1
