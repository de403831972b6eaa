"""Ctrl-C at any moment: nothing acknowledged is lost, nothing stays locked, for this process or another."""

from __future__ import annotations

from pathlib import Path

from lean_memory import Memory
from support.children import line, start
from support.embedding import WordEmbedder

INTERRUPTED = """
import random, signal, sys, time
from lean_memory import Memory
from support.embedding import WordEmbedder

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
chance, interrupts, number = random.Random(7), 0, 0
memory = Memory(root=sys.argv[1], embedder=WordEmbedder())
took = []
for thing in "tea", "rice", "jazz", "cake":
    began = time.perf_counter()
    memory.add("ana", f"I like {thing}.")
    took.append(time.perf_counter() - began)
usual = min(took)
acknowledged, kept = [], []
while number < 250:
    number += 1
    text = f"My locker {number} is blue{number}x."
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.02, 2.0) * usual if number % 5 else 0)
        if number % 4:
            memory.add("ana", text)
            acknowledged.append(text)
        else:
            memory.search("ana", "locker")
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt as interrupted:
        interrupts += 1
        kept = [*kept[-20:], interrupted]  # as an interactive session keeps them, with all their frames
print(interrupts, *acknowledged, sep="\\n")
with Memory(root=sys.argv[1], embedder=WordEmbedder()) as other:
    other.add("ana", "Said beside it.")
memory.add("ana", "Said afterwards.")
print("SAID", flush=True)
sys.stdin.readline()
"""

EACH = """
import sys
from lean_memory import Memory
from support.embedding import WordEmbedder

LOCKED = "threading.py", "forking.py", "echo.py", "open_namespace.py", "open_namespaces.py", "namespace_store.py"
memory = Memory(root=sys.argv[1], embedder=WordEmbedder())
said = looked = stop_at = 0


def say(namespace):
    global said
    said += 1
    memory.add(namespace, f"My locker {said} is blue{said}x.")


def forget(namespace):
    memory.forget(namespace, fact_id=memory.facts(namespace)[0].id)


def interrupt(frame, event, function):
    # Where Python lets Ctrl-C in: as a function begins, and as one of C has ended.
    global looked
    if event in ("call", "c_return") and frame.f_code.co_filename.endswith(LOCKED):
        looked += 1
        if looked == stop_at:
            sys.setprofile(None)
            raise KeyboardInterrupt


def watched(do, namespace, moment):
    # How many such moments there were; at the one asked for, it is interrupted.
    global looked, stop_at
    looked, stop_at = 0, moment
    try:
        sys.setprofile(interrupt)
        do(namespace)
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return looked


for do, namespace in (say, "ana"), (forget, "ben"), (memory.clear, "cho"):
    say(namespace)
    say(namespace)
    moments = watched(do, namespace, 0)
    for moment in range(1, moments + 1):
        say(namespace)
        say(namespace)
        watched(do, namespace, moment)
    print(moments, flush=True)
print("ALL", flush=True)
sys.stdin.readline()
"""


def test_an_interrupt_at_each_step_that_holds_a_lock_holds_nobody_up(root: Path) -> None:
    child = start(EACH, root)
    adding, forgetting, clearing = (int(line(child)) for _ in range(3))
    assert min(adding, forgetting, clearing) > 20
    assert line(child) == "ALL"
    child.communicate("end\n", timeout=120)
    assert child.returncode == 0


def test_interrupts_at_any_moment_lose_nothing_and_lock_nobody_out(root: Path) -> None:
    child = start(INTERRUPTED, root)
    printed: list[str] = []
    while not printed or printed[-1] != "SAID":
        printed.append(line(child))
        assert printed[-1], "the child ended early"
    # While the interrupted process lives, another one writes.
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add("ana", "I like jazz.")
        assert memory.check("ana") == []
        said = [fact.fact_text for fact in memory.facts("ana", include_history=True)]
    acknowledged = [text for text in printed if text.startswith("My locker")]
    assert int(printed[0]) >= 20
    assert len(acknowledged) >= 20
    assert [text for text in acknowledged if said.count(text) != 1] == []
    # What Python says of a file that it was interrupted in opening does not matter here.
    output, _ = child.communicate("end\n", timeout=120)
    assert (child.returncode, output) == (0, "")
