"""A full disk: an error that says so, and a store as it was before."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import StorageFullError
from support.embedding import WordEmbedder
from support.statements import current, day, likes, open_store, say, works_at

ROOM = 8 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with eight megabytes of room: a file system of its own, where this user may make one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, check=False)
    yield folder
    if mounted.returncode == 0:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def limited(folder: Path) -> bool:
    return folder.stat().st_dev != folder.parent.stat().st_dev


def test_a_full_disk_is_an_error_and_the_store_is_as_it_was(small_disk: Path) -> None:
    store = open_store(small_disk)
    if not limited(small_disk):
        with store.write() as tx:
            tx.connection.execute("PRAGMA max_page_count = 150")
    said: list[str] = []
    with pytest.raises(StorageFullError, match="is full; nothing of this was kept"):
        for n in range(2_000):
            say(store, likes(f"thing {n}", f"I like thing {n}." + " And so on." * 20), at=day(1))
            said.append(f"thing {n}")
    assert len(said) > 20
    assert sorted(f.object for f in current(store)) == sorted(said)
    assert store.check() == []
    store.close()
    store = open_store(small_disk)
    assert sorted(f.object for f in current(store)) == sorted(said)
    assert store.check() == []
    store.close()


def test_a_namespace_that_the_disk_has_no_room_for_is_not_half_made(small_disk: Path) -> None:
    if not limited(small_disk):
        pytest.skip("this user may not make a file system of its own, and only a small one runs full while a file is made")
    (small_disk / "ballast").write_bytes(b"x" * (ROOM - 100_000))
    with pytest.raises(StorageFullError):
        open_store(small_disk)
    assert [f.name for f in small_disk.iterdir()] == ["ballast"]
    (small_disk / "ballast").unlink()
    store = open_store(small_disk)
    say(store, works_at("Acme"), at=day(1))
    store.close()


def test_what_comes_back_or_in_and_has_no_room_is_told_and_leaves_nothing_behind(small_disk: Path, tmp_path: Path) -> None:
    if not limited(small_disk):
        pytest.skip("this user may not make a file system of its own, and only a small one runs full while a file is made")
    with Memory(root=small_disk / "memory", embedder=WordEmbedder()) as memory:
        memory.add("ana", "I live in Porto.")
        backup, bundle = memory.backup(tmp_path / "backup"), tmp_path / "ana.leanmem"
        memory.export("ana", bundle)
        memory.add("ana", "I moved to Lisbon.")
        free = shutil.disk_usage(small_disk).free
        (small_disk / "ballast").write_bytes(b"x" * (free - 100_000))
        with pytest.raises(StorageFullError, match=r"memory/ana\.memory\.db is full"):
            memory.restore(backup.path)
        with pytest.raises(StorageFullError):
            memory.import_(bundle, namespace="bea", apply=True)
        (small_disk / "ballast").unlink()
        assert [fact.object for fact in memory.facts("ana")] == ["Lisbon"]
        assert memory.namespaces() == ["ana"]
        assert memory.check("ana") == []
        assert not (memory.root / "backups").exists()
        memory.import_(bundle, namespace="bea", apply=True)
        assert [fact.object for fact in memory.facts("bea")] == ["Porto"]
