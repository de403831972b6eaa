"""Bundles and backups that somebody made to do harm: refused with a sentence, and the memory is as it was."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from lean_memory import Memory
from lean_memory.bundles.bundle_file import opened_bundle
from lean_memory.domain import Instant
from lean_memory.errors import BusyError, DamagedFileError, InvalidInputError, StorageError, StorageFullError
from support.embedding import WordEmbedder
from support.proposals import tell_of_old_likes
from support.statements import day

Change = Callable[[list[dict[str, Any]]], object]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    with Memory(root=tmp_path / "there", embedder=WordEmbedder()) as there:
        there.add("ana", "I live in Porto.", t_ref=day(1))
        there.export("ana", tmp_path / "ana.leanmem")
    return tmp_path / "ana.leanmem"


def remade(bundle: Path, change: Change = lambda records: None, **manifest: object) -> Path:
    """The bundle with other records, which its manifest vouches for."""
    with zipfile.ZipFile(bundle) as old:
        told, lines = json.loads(old.read("manifest.json")), old.read("records.jsonl").splitlines()
    records = [json.loads(line) for line in lines]
    change(records)
    data = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    with zipfile.ZipFile(bundle, "w") as new:
        new.writestr("records.jsonl", data)
        new.writestr("manifest.json", json.dumps({**told, "sha256": hashlib.sha256(data).hexdigest(), "records": len(records), **manifest}))
    return bundle


def first(kind: str, **fields: object) -> Change:
    return lambda records: next(record for record in records if record["kind"] == kind).update(fields)


@pytest.mark.parametrize(
    "change",
    [
        first("episode", source="god"),
        first("episode", state="lost"),
        first("episode", tz="../../etc/passwd"),
        first("episode", t_ref=10**30),
        first("episode", t_ref=10**17),
        first("episode", text=5),
        first("fact", trust="god"),
        first("fact", tier="lukewarm"),
        first("fact", reasons="["),
        first("fact", confidence=float("inf")),
        first("passage", span_start=-5),
        first("setting", key="next_moment", value=2**62),
        first("setting", key="salt", value="none"),
    ],
)
def test_a_value_that_nothing_could_be_read_of_afterwards_is_refused(memory: Memory, bundle: Path, change: Change) -> None:
    with pytest.raises(DamagedFileError, match="do not fit together"):
        memory.import_(remade(bundle, change), apply=True)
    assert memory.namespaces() == []


def test_a_schema_that_there_never_was_and_a_manifest_nested_without_end_are_refused(memory: Memory, bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match="schema 0"):
        memory.import_(remade(bundle, schema_version=0))
    with zipfile.ZipFile(tmp_path / "deep.leanmem", "w") as deep:
        deep.writestr("manifest.json", "[" * 100_000)
    with pytest.raises(DamagedFileError, match="is damaged"):
        memory.import_(tmp_path / "deep.leanmem")


def test_what_was_recorded_in_the_far_future_would_take_all_that_follows_along_and_is_refused(memory: Memory, bundle: Path) -> None:
    ahead = 4_000_000_000_000
    with pytest.raises(InvalidInputError, match="in the year 2096, which is still to come"):
        memory.import_(
            remade(bundle, lambda records: [r.update(value=ahead) for r in records if r.get("key") == "next_moment"]), apply=True
        )
    assert memory.namespaces() == []


def test_a_small_file_of_endless_records_is_not_unpacked_onto_a_disk_without_room(memory: Memory, tmp_path: Path) -> None:
    bomb, line = tmp_path / "bomb.leanmem", b" " * (1 << 20)
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        with packed.open("records.jsonl", "w") as records:
            for _ in range(64):
                records.write(line)
        told = {"namespace": "ana", "schema_version": 2, "at": 0, "records": 1, "counts": {}, "sha256": ""}
        packed.writestr("manifest.json", json.dumps({"format": "lean-memory bundle", "version": 1, **told}))
    with pytest.raises(StorageFullError, match="needs at least"), opened_bundle(bomb, None, room=1 << 20):
        pass
    with pytest.raises(DamagedFileError):
        memory.import_(bomb)


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"episode","text":[' + b"[]," * 1_000_000 + b"[]]}",
        b"{" + b",".join(b'"%d":1' % number for number in range(300_000)) + b"}",
        b'{"kind":"' + b'\\"' * 1_000_000,
    ],
)
def test_a_long_line_that_is_no_record_is_refused_before_anything_is_made_of_it(tmp_path: Path, line: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.leanmem", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("records.jsonl", line + b"\n")
        told = {
            "namespace": "ana",
            "schema_version": 2,
            "at": 0,
            "records": 1,
            "counts": {},
            "sha256": hashlib.sha256(line + b"\n").hexdigest(),
        }
        packed.writestr("manifest.json", json.dumps({"format": "lean-memory bundle", "version": 1, **told}))
    tracemalloc.start()
    try:
        with pytest.raises(DamagedFileError), opened_bundle(tmp_path / "bomb.leanmem", None, room=1 << 30) as (_, records):
            next(records)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(line)
    finally:
        tracemalloc.stop()


def test_a_long_text_of_brackets_and_quotes_comes_in_as_it_was(memory: Memory, tmp_path: Path) -> None:
    text = 'Look: [{"a", "b"}] \\ ' * 10_000
    with Memory(root=tmp_path / "there", embedder=WordEmbedder()) as there:
        there.add("ana", text, t_ref=day(1))
        there.export("ana", tmp_path / "long.leanmem")
    assert memory.import_(tmp_path / "long.leanmem", apply=True).episodes == 1


def test_something_that_is_no_file_is_not_read(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "endless.leanmem").symlink_to("/dev/zero")
    with pytest.raises(StorageError, match="is no file"):
        memory.import_(tmp_path / "endless.leanmem")


def test_a_text_that_looks_like_written_bytes_stays_a_text(memory: Memory, tmp_path: Path) -> None:
    with Memory(root=tmp_path / "there", embedder=WordEmbedder()) as there:
        there.add("ana", "hex:deadbeef", t_ref=day(1))
        there.export("ana", tmp_path / "ana.leanmem")
    memory.import_(tmp_path / "ana.leanmem", apply=True)
    assert [hit.fact.fact_text for hit in memory.search("ana", "hex:deadbeef")] == ["hex:deadbeef"]


def test_a_memory_of_which_maintenance_proposed_something_comes_back_with_its_proposals(tmp_path: Path) -> None:
    tell_of_old_likes(tmp_path / "there")
    with Memory(root=tmp_path / "there") as there:
        there.maintain("default", apply=True)
        there.export("default", tmp_path / "mine.leanmem")
        waiting = there.review_queue("default").by_kind
    with Memory(root=tmp_path / "here") as here:
        here.import_(tmp_path / "mine.leanmem", apply=True)
        assert here.review_queue("default").by_kind == waiting
        assert waiting


def test_an_export_takes_no_place_among_the_files_of_the_memory(memory: Memory) -> None:
    memory.add("ana", "I live in Porto.")
    backup = memory.backup()
    for place in (memory.root / "ana.memory.db", memory.root / "mine.md", backup.path.parent / "mine.leanmem"):
        with pytest.raises(InvalidInputError, match="among the files of the memory itself"):
            memory.export("ana", place)
    assert [fact.object for fact in memory.facts("ana")] == ["Porto"]
    assert memory.check("ana") == []


@pytest.mark.parametrize(
    "change",
    [
        {"at": "yesterday"},
        {"at": 10**40},
        {"namespaces": [{"bytes": "many"}]},
        {"namespaces": [{"next_moment": 10**40}]},
        {"namespaces": [{}, {}]},
    ],
)
def test_a_backup_whose_manifest_says_nonsense_is_told_as_damaged(memory: Memory, change: dict[str, Any]) -> None:
    memory.add("ana", "I live in Porto.")
    path = memory.backup().path / "manifest.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    (held,) = told["namespaces"]
    told.update(change, namespaces=[{**held, **one} for one in change.get("namespaces", [{}])])
    del told["sum"]
    told["sum"] = hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
    path.write_text(json.dumps(told), encoding="utf-8")
    (backup,) = memory.backups()
    assert "is damaged" in backup.problem
    with pytest.raises(DamagedFileError):
        memory.restore(path.parent)


def forgetting_beside(root: Path, work: str) -> Callable[[], Instant]:
    """A clock that, once work of this name is under way, has something forgotten by another process, so to say."""
    is_done = threading.Event()

    def now() -> Instant:
        if not is_done.is_set() and any((root / "backups").glob(f".lean-memory-{work}-*")):
            is_done.set()
            with Memory(root=root, embedder=WordEmbedder()) as other:
                other.forget_all("ana", sentence="I like zirkonpears.")
        return day(9)

    return now


def test_what_is_forgotten_while_a_backup_comes_back_does_not_come_back_with_it(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder(), clock=forgetting_beside(root, "restoring")) as memory:
        memory.add("ana", "I like zirkonpears.", t_ref=day(1))
        memory.add("ana", "I live in Porto.", t_ref=day(1))
        backup = memory.backup()
        with pytest.raises(BusyError, match="Something was forgotten here just now"):
            memory.restore(backup.path)
        assert [fact.object for fact in memory.facts("ana")] == ["Porto"]
        (restored,) = memory.restore(backup.path)
        assert restored.scrubbed >= 1
        assert [fact.object for fact in memory.facts("ana")] == ["Porto"]


def test_what_is_forgotten_while_a_bundle_comes_in_does_not_come_in_with_it(root: Path, tmp_path: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder(), clock=forgetting_beside(root, "importing")) as memory:
        memory.add("ana", "I like zirkonpears.", t_ref=day(1))
        with Memory(root=tmp_path / "there", embedder=WordEmbedder(), clock=lambda: day(8)) as there:
            there.add("ana", "I like zirkonpears. I live in Porto.", t_ref=day(1))
            there.export("ana", tmp_path / "ana.leanmem")
        with pytest.raises(BusyError, match="Something was forgotten here just now"):
            memory.import_(tmp_path / "ana.leanmem", apply=True)
        assert memory.facts("ana") == []
        memory.import_(tmp_path / "ana.leanmem", apply=True)
        assert [fact.object for fact in memory.facts("ana")] == ["Porto"]


def test_a_restore_that_ends_in_the_middle_says_what_came_back(memory: Memory) -> None:
    memory.add("ana", "I live in Porto.", t_ref=day(1))
    memory.add("bob", "I live in Oslo.", t_ref=day(1))
    backup = memory.backup()
    memory.add("ana", "I moved to Lisbon.", t_ref=day(2))
    # As a newer version of this program would leave it.
    with contextlib.closing(apsw.Connection(str(memory.root / "bob.memory.db"))) as bob:
        bob.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="“ana” came back, and “bob” did not"):
        memory.restore(backup.path)
    assert [fact.object for fact in memory.facts("ana")] == ["Porto"]


def test_many_at_work_at_once_do_not_take_each_others_place_away(root: Path, bundle: Path) -> None:
    """The folder in which they work goes with the last of them, and comes with the first."""
    troubles: list[BaseException] = []

    def look() -> None:
        try:
            with Memory(root=root, embedder=WordEmbedder()) as memory:
                for _ in range(4):
                    memory.import_(bundle)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells it
            troubles.append(error)

    looking = [threading.Thread(target=look) for _ in range(4)]
    for one in looking:
        one.start()
    for one in looking:
        one.join()
    assert troubles == []
