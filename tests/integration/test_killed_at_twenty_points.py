"""Making a backup, restoring, importing and migrating, each killed with SIGKILL at twenty points: nothing that was acknowledged is lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.domain import Instant, Source, Span
from lean_memory.settings import Settings
from lean_memory.store.migrate import builtin_migrations
from lean_memory.store.namespace_store import NamespaceStore, NewEpisode
from support.children import finished, line, start, tell
from support.embedding import WordEmbedder
from support.killed_at import PROGRAM
from support.statements import day

POINTS = 20
NEWEST = builtin_migrations()[-1].version


@pytest.fixture(scope="module")
def killer() -> Iterator[subprocess.Popen[str]]:
    child = start(PROGRAM)
    yield child
    assert finished(child) == []


def killed_at_each(killer: subprocess.Popen[str], deed: str, base: Path, other: Path, then: Callable[[Memory], None]) -> None:
    """Carry out a deed on copies of a data root, kill it at points spread over all its changes to the disk, and look at what is left."""

    def done(point: int) -> str:
        shutil.copytree(base, trial)
        tell(killer, f"{deed}\t{trial}\t{other}\t{point}")
        return line(killer)

    trial = base.with_name(f"trial-{deed}")
    outcome, _, count = done(0).partition(" ")
    shutil.rmtree(trial)
    assert outcome == "ended"
    assert int(count) >= POINTS
    for number in range(POINTS):
        assert done(1 + number * int(count) // POINTS) == "killed"
        with Memory(root=trial, embedder=WordEmbedder()) as memory:
            then(memory)
            assert memory.check("ana") == []
            assert [backup.problem for backup in memory.backups() if backup.problem] == []
        shutil.rmtree(trial)


def objects(memory: Memory) -> list[str]:
    return [fact.object for fact in memory.facts("ana", predicate="lives_in")]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    with Memory(root=tmp_path / "base", embedder=WordEmbedder()) as memory:
        memory.add("ana", "I live in Porto.", t_ref=day(1))
    return tmp_path / "base"


def moved(base: Path) -> None:
    with Memory(root=base, embedder=WordEmbedder()) as memory:
        memory.add("ana", "I moved to Lisbon.", t_ref=day(2))


def test_making_a_backup(killer: subprocess.Popen[str], base: Path) -> None:
    def then(memory: Memory) -> None:
        assert objects(memory) == ["Porto"]
        assert memory.backup().namespaces[0].episodes == 1
        assert not [path for path in (memory.root / "backups").iterdir() if path.name.startswith(".")]

    killed_at_each(killer, "backup", base, base, then)


def test_restoring(killer: subprocess.Popen[str], base: Path, tmp_path: Path) -> None:
    with Memory(root=base, embedder=WordEmbedder()) as memory:
        memory.backup(tmp_path / "backup")
    moved(base)

    def then(memory: Memory) -> None:
        (found,) = objects(memory)
        assert found in {"Porto", "Lisbon"}
        aside = [backup for backup in memory.backups() if backup.occasion == "before-restore"]
        assert found == "Lisbon" or aside
        memory.restore(tmp_path / "backup")
        assert objects(memory) == ["Porto"]

    killed_at_each(killer, "restore", base, tmp_path / "backup", then)


def test_importing(killer: subprocess.Popen[str], base: Path, tmp_path: Path) -> None:
    shutil.copytree(base, tmp_path / "ahead")
    moved(tmp_path / "ahead")
    with Memory(root=tmp_path / "ahead", embedder=WordEmbedder()) as ahead:
        ahead.export("ana", tmp_path / "ana.leanmem")

    def then(memory: Memory) -> None:
        assert objects(memory) in (["Porto"], ["Lisbon"])
        memory.import_(tmp_path / "ana.leanmem", apply=True)
        assert objects(memory) == ["Lisbon"]

    killed_at_each(killer, "import", base, tmp_path / "ana.leanmem", then)


def test_bringing_a_file_to_the_newest_version(killer: subprocess.Popen[str], tmp_path: Path) -> None:
    old, text = tmp_path / "old", "I live in Porto."
    first = builtin_migrations()[:1]
    with_clock = {"settings": Settings(root=old), "clock": lambda: Instant(day(1))}
    store = NamespaceStore.open(old, "ana", migrations=first, **with_clock)  # type: ignore[arg-type]
    said = NewEpisode(text=text, source=Source.USER, t_ref=Instant(day(1)), tz="UTC", passages=[Span(start=0, end=len(text))])
    store.record_episode(said)
    store.close()

    def then(memory: Memory) -> None:
        assert memory.status("ana")[0].schema_version == NEWEST
        assert objects(memory) == ["Porto"]
        assert any(".backup-v1-" in path.name and not path.name.endswith(".partial") for path in memory.root.iterdir())

    killed_at_each(killer, "migrate", old, old, then)
