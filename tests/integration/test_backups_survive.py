"""Backups while others write, and kill -9 in the middle of making one and of restoring one."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

from lean_memory import Memory
from support.children import finished, killed, line, start
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

BACKER = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    print("ready", flush=True)
    while True:
        memory.backup()
"""

RESTORER = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    print("ready", flush=True)
    while True:
        for path in sys.argv[2:]:
            memory.restore(path)
"""


IMPORTER = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder()) as memory:
    print("ready", flush=True)
    memory.import_(sys.argv[2], apply=True)
    print("done", flush=True)
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


def test_a_backup_that_is_killed_leaves_the_memory_and_no_half_backup(root: Path) -> None:
    chance = random.Random(1)
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add_many("ana", [{"text": f"Locker {number} holds badge {number * 7}.", "t_ref": day(1)} for number in range(200)])
    for _ in range(3):
        backer = start(BACKER, root)
        assert line(backer) == "ready"
        time.sleep(chance.uniform(0.0, 0.3))
        killed(backer)
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            assert all(not backup.problem and backup.namespaces[0].episodes == 200 for backup in memory.backups())
            assert memory.check("ana") == []
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.backup()
    assert not [path for path in (root / "backups").iterdir() if path.name.startswith(".")]


def test_a_restore_that_is_killed_leaves_the_old_or_the_new_state(root: Path, tmp_path: Path) -> None:
    chance = random.Random(2)
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add_many("ana", [{"text": f"Locker {number} holds badge {number * 7}.", "t_ref": day(1)} for number in range(60)])
        small = memory.backup(tmp_path / "small").path
        memory.add_many("ana", [{"text": f"Drawer {number} holds badge {number * 7}.", "t_ref": day(2)} for number in range(60)])
        large = memory.backup(tmp_path / "large").path
    for _ in range(3):
        restorer = start(RESTORER, root, small, large)
        assert line(restorer) == "ready"
        time.sleep(chance.uniform(0.0, 1.0))
        killed(restorer)
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            assert memory.check("ana") == []
            assert memory.status("ana")[0].episodes in {60, 120}
            assert all(not backup.problem for backup in memory.backups())
        for left in (root / "backups").iterdir():
            shutil.rmtree(left)


def test_an_import_that_is_killed_leaves_the_old_or_the_new_state_and_is_done_by_the_next(root: Path, tmp_path: Path) -> None:
    chance, bundle = random.Random(3), tmp_path / "ana.leanmem"
    with Memory(root=tmp_path / "other", embedder=WordEmbedder()) as other:
        other.add_many("ana", [{"text": f"Locker {number} holds badge {number * 7}.", "t_ref": day(1)} for number in range(60)])
        small = other.backup(tmp_path / "small").path
        other.add_many("ana", [{"text": f"Drawer {number} holds badge {number * 7}.", "t_ref": day(2)} for number in range(60)])
        other.export("ana", bundle)
        wanted = other.facts("ana")
    for _ in range(3):
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            memory.restore(small)
        importer = start(IMPORTER, root, bundle)
        assert line(importer) == "ready"
        time.sleep(chance.uniform(0.0, 0.8))
        killed(importer)
        with Memory(root=root, embedder=WordEmbedder()) as memory:
            assert memory.check("ana") == []
            assert memory.status("ana")[0].episodes in {60, 120}
            memory.import_(bundle, apply=True)
            assert memory.facts("ana") == wanted
            assert not [path for path in (root / "backups").iterdir() if path.name.startswith(".")]
