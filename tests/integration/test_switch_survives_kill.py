"""kill -9 while the vectors of another embedder are made: the next process goes on, once for each text, while others add and search."""

from __future__ import annotations

from pathlib import Path

from lean_memory import Memory
from support.children import finished, killed, line, start, tell
from support.embedding import RotatedEmbedder, WordEmbedder
from support.statements import day

TEXTS = 300

MAKER = """
import sys
from lean_memory import Memory
from support.embedding import RotatedEmbedder, WordEmbedder

with Memory(root=sys.argv[1], embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
    def report(made, missing):
        print(made, missing, flush=True)
        sys.stdin.readline()

    done = memory.catch_up_vectors("ana", progress=report)
    print("DONE", done.made, done.missing, done.reason, flush=True)
"""


def found(memory: Memory) -> list[str]:
    return [hit.fact.id for hit in memory.search("ana", "locker 21", 10, now=day(9), recipe="builtin")]


def test_a_switch_that_is_killed_twice_completes_with_each_vector_made_once(root: Path) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add_many(
            "ana", [{"text": f"My locker number {number} holds badge {number * 7}.", "t_ref": day(1)} for number in range(TEXTS)]
        )
        before = found(memory)
    missing = [TEXTS]
    for _ in range(2):
        maker = start(MAKER, root)
        for _ in range(3):
            made, rest = map(int, line(maker).split())
            assert made + rest == missing[-1]
            tell(maker)
        # It is in the middle of the next batch, or waits with it done.
        killed(maker)
        with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
            left = next(space.missing for space in memory.status("ana")[0].vectors if space.role == "second")
            assert missing[-1] - 5 * 32 <= left <= rest
            missing.append(left)
            assert found(memory) == before
            memory.add("ana", f"The spare key {len(missing)} is with Ana.", t_ref=day(1))
            missing[-1] += 1
            assert memory.check("ana") == []
    maker = start(MAKER, root)
    first, _ = map(int, line(maker).split())
    with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
        assert memory.catch_up_vectors("ana").reason == "Another process is making them."
        memory.add("ana", "The last key is with Pablo.", t_ref=day(1))
    last = finished(maker)[-1].split()
    assert (first, last) == (32, ["DONE", str(missing[-1] + 1), "0"])
    with Memory(root=root, embedder=WordEmbedder(), second=RotatedEmbedder()) as memory:
        assert memory.search("ana", "with whom is the last key")[0].degraded == ()
        assert memory.check("ana") == []
