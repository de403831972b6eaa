"""A ChatGPT export of a given size, made up and brought in by processes of their own: memory, time, and what comes of being killed in the middle.

`python -m bench.bring_in [--megabytes 200] [--folder FOLDER]` prints one JSON document: the first process is killed with SIGKILL at about a third,
the second is asked to stop at about two thirds, the third goes on to the end, a fourth finds everything there. `peak_mb` is the largest resident set of each.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, cast

from lean_memory import Memory

NAMESPACE = "mine"
SEED = 13
TURNS = 12
"""Messages of the person in each conversation; each is answered."""
_ANSWER_WORDS = 2_400
_FIRST = 1_600_000_000
_WORDS = [
    "the",
    "of",
    "a",
    "quick",
    "answer",
    "table",
    "river",
    "theory",
    "method",
    "number",
    "colour",
    "stone",
    "garden",
    "light",
    "paper",
    "morning",
    "list",
    "result",
    "city",
]
_THINGS = ("tea", "chess", "jazz", "rowing", "maps", "film", "bread", "hiking", "poetry", "gardening")


def export(path: Path, megabytes: int) -> int:
    """Write an export of at least so many megabytes; gives how many messages in it are the person's own."""
    draw, own, number = Random(SEED), 0, 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while file.tell() < megabytes * 1_000_000:
            file.write(", " if number else "")
            json.dump(_conversation(number, draw), file)
            own += TURNS
            number += 1
        file.write("]")
    return own


def _conversation(number: int, draw: Random) -> dict[str, object]:
    mapping: dict[str, object] = {"root": {"id": "root", "parent": None, "children": ["u0"], "message": None}}
    above = "root"
    for turn in range(TURNS):
        at = _FIRST + number * 3600 + turn * 60
        mapping[f"u{turn}"] = _node((above, f"u{turn}", f"a{turn}"), "user", _said(number, turn, draw), at)
        mapping[f"a{turn}"] = _node(
            (f"u{turn}", f"a{turn}", f"u{turn + 1}"), "assistant", " ".join(draw.choices(_WORDS, k=_ANSWER_WORDS)), at + 5
        )
        above = f"a{turn}"
    fields = {"title": f"Talk {number}", "create_time": _FIRST + number * 3600, "current_node": above, "conversation_id": f"c{number}"}
    return {**fields, "mapping": mapping}


def _said(number: int, turn: int, draw: Random) -> str:
    """Every third message says something durable; the others ask."""
    if turn % 3 == 0:
        return f"I like {draw.choice(_THINGS)} number {number}. How would you go about it?"
    return f"Can you explain step {turn} of that once more, in {draw.randint(2, 9)} short sentences, please?"


def _node(way: tuple[str, str, str], role: str, text: str, at: int) -> dict[str, object]:
    parent, name, child = way
    content = {"content_type": "text", "parts": [text]}
    message = {"id": name, "author": {"role": role, "name": None, "metadata": {}}, "create_time": at, "content": content, "status": "finished",
               "metadata": {}, "recipient": "all"}  # fmt: skip
    return {"id": name, "parent": parent, "children": [child], "message": message}


_CHILD = """
import json, os, signal, sys
from lean_memory import Memory
source, root, namespace, kill_at, stop_at = sys.argv[1:]
at = 0.0
def tell(done, total):
    global at
    at = done / total
    if at >= float(kill_at):
        print(json.dumps({"at": at}), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
with Memory(root=root) as memory:
    report = memory.bring_in(source, namespace=namespace, progress=tell, cancelled=lambda: at >= float(stop_at))
print(json.dumps({"at": at, "state": report.state, "texts": report.texts, "added": report.added, "known": report.known, "facts": report.facts}))
"""
_NEVER = 2.0


def run(source: Path, root: Path, *, kill_at: float = _NEVER, stop_at: float = _NEVER) -> dict[str, Any]:
    """What a process says that brings the export in until it ends, with its seconds and its peak."""
    before = perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(source), str(root), NAMESPACE, str(kill_at), str(stop_at)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in {0, -signal.SIGKILL}:
        raise SystemExit(f"A process ended with {child.returncode}.")
    told = cast("dict[str, Any]", json.loads(said))
    return {**told, "seconds": round(perf_counter() - before, 1), "peak_mb": round(used.ru_maxrss / 1024)}


def measured(folder: Path, megabytes: int) -> Iterator[tuple[str, object]]:
    """What the suite measures, by name."""
    source, root = folder / "conversations.json", folder / "root"
    own = export(source, megabytes)
    yield "megabytes", round(source.stat().st_size / 1_000_000)
    yield "own_messages", own
    yield "killed", run(source, root, kill_at=0.33)
    yield "stopped", run(source, root, stop_at=0.66)
    yield "finished", run(source, root)
    yield "again", run(source, root)
    with Memory(root=root) as memory:
        [status] = memory.status(NAMESPACE)
        yield "episodes", status.episodes
        yield "unfinished", status.unfinished
        yield "broken_promises", len(memory.check(NAMESPACE))
        yield "is_whole", status.episodes == own


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as folder:
        print(json.dumps(dict(measured(Path(folder), options.megabytes)), indent=2))


if __name__ == "__main__":
    main()
