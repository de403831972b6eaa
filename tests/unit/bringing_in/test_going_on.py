"""Stopping, going on, being killed: nothing is lost and nothing comes twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.bringing_in import Report, came_before
from lean_memory.errors import DamagedFileError, LeanMemoryError
from support import children
from support.embedding import WordEmbedder
from support.exports import chatgpt_conversation, chatgpt_export
from support.older_files import older_file

TALKS_OF = 50
TALKS = [
    chatgpt_conversation(
        f"c{number}", [("user", f"My locker number {number} is {number * 7}."), ("user", "Thank you!")], begun=1 + number % 28
    )
    for number in range(TALKS_OF)
]
TEXTS = 2 * len(TALKS)

CHILD = """
import sys, threading
from support.embedding import WordEmbedder
from lean_memory import Memory
from lean_memory.ingest import Ingest
from lean_memory.store.namespace_store import NamespaceStore, WriteTransaction

root, source, stage, batch = sys.argv[1:]
calls = 0

def stop_here(*args, **kwargs):
    print("REACHED", flush=True)
    threading.Event().wait()

def stopping(do, *, after):
    def done(*args, **kwargs):
        global calls
        calls += 1
        if calls == int(batch) and not after:
            stop_here()
        result = do(*args, **kwargs)
        if calls == int(batch) and after:
            stop_here()
        return result
    return done

with Memory(root=root, embedder=WordEmbedder()) as memory:
    if stage == "before-storing":
        Ingest.add = stopping(Ingest.add, after=False)
    elif stage == "between":
        Ingest.finish = stopping(Ingest.finish, after=False)
    elif stage == "inside-the-first":
        WriteTransaction.record = stopping(WriteTransaction.record, after=True)
    elif stage == "inside-the-second":
        WriteTransaction.apply = stopping(WriteTransaction.apply, after=True)
    else:
        Ingest.add = stopping(Ingest.add, after=True)
    memory.bring_in(source, namespace="ana")
"""


def is_whole(memory: Memory) -> None:
    """Every text is there once, with what it says."""
    [status] = memory.status("ana")
    assert (status.episodes, status.unfinished) == (TEXTS, 0)
    counted = Counter(f.fact_text for f in memory.facts("ana", include_history=True))
    assert counted == Counter(f"My locker number {number} is {number * 7}." for number in range(TALKS_OF))
    assert memory.check("ana") == []


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return chatgpt_export(tmp_path / "export.zip", TALKS)


def test_progress_goes_on_to_the_end_and_a_preview_writes_nothing(memory: Memory, export: Path) -> None:
    told: list[tuple[int, int]] = []
    preview = memory.preview_bring_in(export, namespace="ana", progress=lambda done, total: told.append((done, total)))
    assert (preview.texts, preview.added, len(preview.samples)) == (TEXTS, TEXTS, 5)
    assert memory.namespaces() == []
    assert told == sorted(told)
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1]


def bring_some(memory: Memory, export: Path, most: int) -> Report:
    """Bring in at most so many batches."""
    told = 0

    def count(_done: int, _total: int) -> None:
        nonlocal told
        told += 1

    # The first is told before anything is done, and each batch tells once.
    return memory.bring_in(export, namespace="ana", progress=count, cancelled=lambda: told > most)


def test_what_is_stopped_stays_and_the_same_call_goes_on(memory: Memory, export: Path) -> None:
    first = bring_some(memory, export, 1)
    assert (first.state, first.known) == ("stopped", 0)
    assert 0 < first.added == memory.status("ana")[0].episodes < TEXTS
    last = bring_some(memory, export, 1_000)
    assert (last.state, last.known, last.added) == ("done", first.added, TEXTS - first.added)
    is_whole(memory)


def test_brought_in_again_nothing_comes_twice_and_a_later_export_brings_what_is_new(memory: Memory, export: Path, tmp_path: Path) -> None:
    memory.bring_in(export, namespace="ana")
    assert memory.bring_in(export, namespace="ana").added == 0
    is_whole(memory)
    later = chatgpt_export(tmp_path / "later.zip", [chatgpt_conversation("new", [("user", "I like tea.")]), *TALKS])
    report = memory.bring_in(later, namespace="ana")
    assert (report.added, report.known) == (1, TEXTS)


def test_what_was_forgotten_is_not_brought_in_again(memory: Memory, export: Path) -> None:
    memory.bring_in(export, namespace="ana")
    memory.forget_all("ana", sentence="My locker number 7 is 49.")
    report = memory.bring_in(export, namespace="ana")
    assert (report.added, report.forgotten) == (0, 1)
    assert "My locker number 7 is 49." not in [f.fact_text for f in memory.facts("ana", include_history=True)]


def test_what_one_client_brought_in_can_be_forgotten_as_a_whole(memory: Memory, export: Path) -> None:
    memory.add("ana", "I like tea.")
    memory.bring_in(export, namespace="ana")
    memory.forget_all("ana", client="chatgpt")
    assert [f.object for f in memory.facts("ana", include_history=True)] == ["tea"]


@pytest.mark.parametrize(
    ("stage", "batch"),
    [
        ("before-storing", 2),
        ("inside-the-first", 5),
        ("between", 1),
        ("between", 2),
        ("inside-the-second", 3),
        ("inside-the-second", 70),
        ("after", 1),
    ],
)
def test_killed_at_any_stage_it_goes_on_and_nothing_is_lost_or_there_twice(root: Path, export: Path, stage: str, batch: int) -> None:
    child = children.start(CHILD, root, export, stage, batch)
    assert children.line(child) == "REACHED"
    children.killed(child)
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        report = memory.bring_in(export, namespace="ana")
        assert report.state == "done"
        assert report.known + report.added == TEXTS
        is_whole(memory)


def test_an_error_in_the_middle_says_what_was_brought_in_by_then(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(TALKS)[:-40], encoding="utf-8")
    with pytest.raises(DamagedFileError) as broken:
        memory.bring_in(path, namespace="ana")
    report = came_before(broken.value)
    assert report is not None
    assert (report.state, report.namespaces) == ("stopped", ("ana",))
    assert 0 < report.added == memory.status("ana")[0].episodes


def test_an_older_file_that_cannot_be_read_leaves_the_report_of_those_before_it(memory: Memory, tmp_path: Path) -> None:
    older_file(tmp_path / "a.db", 3)
    (tmp_path / "b.db").write_bytes((tmp_path / "a.db").read_bytes()[:100])
    with pytest.raises(LeanMemoryError) as broken:
        memory.bring_in(tmp_path)
    report = came_before(broken.value)
    assert report is not None
    assert report.namespaces == ("ana",)
    assert 0 < report.added == memory.status("ana")[0].episodes
