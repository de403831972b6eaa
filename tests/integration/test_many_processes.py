"""Several processes may have one file open: they agree on entities, chains and the present."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lean_memory import Memory
from support.embedding import WordEmbedder

WRITER = """
import sys
from support.embedding import WordEmbedder
from lean_memory import Memory

root, number = sys.argv[1], int(sys.argv[2])
with Memory(root=root, embedder=WordEmbedder()) as memory:
    print("READY", flush=True)
    sys.stdin.readline()
    for turn in range(5):
        memory.add("team", f"Quentin works at Company{number}x{turn}.")
"""

PROCESSES = 6


def start(root: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    tests = Path(__file__).parents[1]
    engine = Path(sys.modules["lean_memory"].__file__ or "").parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", program, str(root), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": f"{engine}:{tests}", "PATH": ""},
    )


def test_six_processes_leave_one_entity_one_current_employer_and_the_whole_chain(root: Path) -> None:
    writers = [start(root, WRITER, str(number)) for number in range(PROCESSES)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "READY\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert (writer.returncode, errors) == (0, "")
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        told = memory.facts("team", subject="Quentin", predicate="works_at", include_history=True)
        assert len(told) == PROCESSES * 5
        [current] = memory.facts("team", subject="Quentin", predicate="works_at")
        chain = memory.history("team", current.id)
        assert len(chain) == PROCESSES * 5
        assert [entry.reason for entry in chain] == ["superseded"] * (PROCESSES * 5 - 1) + [None]
        assert memory.check("team") == []
        [status] = memory.status("team")
        assert status.unfinished == 0


def test_a_search_in_one_process_sees_what_another_has_just_added(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as reader:
        reader.add("team", "The staging port is 8081.")
        assert "8081" in reader.search("team", "staging port")[0].fact.fact_text
        with Memory(root=root, embedder=WordEmbedder()) as other:
            other.add("team", "The staging port is 8090.")
        assert "8090" in reader.search("team", "staging port")[0].fact.fact_text
