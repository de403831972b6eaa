"""A process that forks: both go on with the same memory, and nothing that either acknowledges is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lean_memory import Memory
from support.children import finished, start
from support.embedding import WordEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

PARENT = """
import os, sys, threading
from lean_memory import Memory
from support.embedding import WordEmbedder

root = sys.argv[1]
memory = Memory(root=root, embedder=WordEmbedder())
memory.add("ana", "My locker 0 is blue0x.")
memory.search("ana", "locker")
done_here, done_there = os.pipe(), os.pipe()

def add(names):
    for name in names:
        text = f"My locker {name} is blue{name}x."
        memory.add("ana", text)
        os.write(1, (text + "\\n").encode())

PLACE
child = os.fork()
if not child:
    add(range(100, 120))
    os.write(done_there[1], b".")
    os.read(done_here[0], 1)
    add(range(120, 140))
    own = Memory(root=root, embedder=WordEmbedder())
    own.add("ana", "My locker 150 is blue150x.")
    os.write(1, b"My locker 150 is blue150x.\\n")
    os._exit(0)
add(range(200, 220))
os.read(done_there[0], 1)
AFTER
memory.close()
os.write(done_here[1], b".")
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""

THREADS = """
stop = threading.Event()

def busy(name):
    number = 0
    while not stop.is_set():
        number += 1
        add([f"{name}{number}"])
        memory.search("ana", "locker")

threads = [threading.Thread(target=busy, args=(name,)) for name in "ab"]
[thread.start() for thread in threads]
"""


@pytest.mark.parametrize("threads", [False, True], ids=["alone", "while threads add and search"])
def test_what_parent_and_child_acknowledge_after_a_fork_is_kept(root: Path, threads: bool) -> None:
    program = PARENT.replace("PLACE", THREADS if threads else "")
    program = program.replace("AFTER", "stop.set(); [thread.join() for thread in threads]" if threads else "")
    acknowledged = finished(start(program, root))
    assert len(acknowledged) >= 61
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        said = [fact.fact_text for fact in memory.facts("ana", include_history=True)]
        assert [text for text in acknowledged if said.count(text) != 1] == []
        assert memory.check("ana") == []


CUT_OFF = """
import os, sys, threading
from lean_memory import Memory, open_namespaces
from lean_memory.errors import ClosedError
from support.embedding import WordEmbedder

open_namespaces._FORK_WAITS_SECONDS = 0.1
memory = Memory(root=sys.argv[1], embedder=WordEmbedder())
memory.add("ana", "I like tea.")
memory.add("bob", "I like tea.")
began, end = threading.Event(), threading.Event()

def hold(tx):
    began.set()
    end.wait()

[store] = [opened.store for opened in memory._files.every if opened.name == "ana"]
thread = threading.Thread(target=store.look, args=(hold,))
thread.start()
began.wait()
child = os.fork()
if not child:
    try:
        memory.add("ana", "I like jazz.")
    except ClosedError as error:
        os.write(1, f"{error}\\n".encode())
    memory.add("bob", "I like jazz.")
    memory.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
end.set()
thread.join()
memory.add("ana", "I like rice.")
memory.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_child_is_told_of_a_namespace_that_could_not_be_let_go_of(root: Path) -> None:
    [told] = finished(start(CUT_OFF, root))
    assert "forked while another thread was at work in the namespace “ana”" in told
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert {fact.object for fact in memory.facts("ana")} == {"tea", "rice"}
        assert {fact.object for fact in memory.facts("bob")} == {"tea", "jazz"}


FAILING = """
import os, signal, sys, threading
from lean_memory import Memory
from lean_memory.store.opened_file import OpenedFile
from support.embedding import WordEmbedder

signal.alarm(30)
memories = [Memory(root=sys.argv[1] + end, embedder=WordEmbedder()) for end in "ab"]
for memory in memories:
    memory.add("ana", "I like tea.")
    memory.add("bob", "I like tea.")
close, failed = OpenedFile.close, []

def fails_first(opened):
    if not failed:
        failed.append(opened)
        raise RuntimeError("in use")
    close(opened)

OpenedFile.close = fails_first
sys.unraisablehook = lambda *_: None
child = os.fork()
if not child:
    os._exit(0)
_, status = os.waitpid(child, 0)

def use():
    for memory in memories:
        memory.add("ana", "I like jazz.")
        memory.add("bob", "I like jazz.")
        memory.clear("cat")
    os.write(1, b"used\\n")

thread = threading.Thread(target=use)
thread.start()
thread.join()
for memory in memories:
    memory.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_fork_before_which_a_file_could_not_be_closed_locks_nobody_out(root: Path) -> None:
    assert finished(start(FAILING, root)) == ["used"]
    for end in "ab":
        with Memory(root=f"{root}{end}", embedder=WordEmbedder()) as memory:
            for name in ("ana", "bob"):
                assert {fact.object for fact in memory.facts(name)} == {"tea", "jazz"}


HELD = """
import os, signal, sys, threading
from lean_memory import Memory
from lean_memory.extraction import echo
from lean_memory.models import builtin
from lean_memory.store import namespace_store
from support.embedding import WordEmbedder

signal.alarm(30)
memory = Memory(root=sys.argv[1], embedder=WordEmbedder())
[tea] = memory.add("ana", "I like tea.").fact_ids
[jazz] = memory.add("ana", "I like jazz.").fact_ids
began, end = threading.Event(), threading.Event()
main = threading.get_ident()

def held(module, name):
    work = getattr(module, name)

    def hold(*given, **named):
        if threading.get_ident() != main:
            began.set()
            end.wait()
        return work(*given, **named)

    setattr(module, name, hold)

PLACE
thread = threading.Thread(target=busy)
thread.start()
began.wait()
child = os.fork()
if not child:
    busy()
    memory.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
end.set()
thread.join()
memory.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""

FORGETTING = """
held(namespace_store, "purge")
busy = lambda: memory.forget("ana", fact_id=tea if threading.get_ident() != main else jazz)
"""
SERVING = """
echo.none = lambda: ()
held(echo, "none")
ledger = echo.Ledger()
busy = lambda: ledger.note((fact for _ in "a" for fact in echo.none()), 0)
"""
LOADING = """
held(builtin, "_load")
embedder = builtin.BuiltinEmbedder()
busy = lambda: embedder.embed(["tea"])
"""


@pytest.mark.parametrize("place", [FORGETTING, SERVING, LOADING], ids=["forgetting", "noting what was served", "loading the model"])
def test_a_child_does_not_wait_for_what_another_thread_of_its_parent_held(root: Path, place: str) -> None:
    finished(start(HELD.replace("PLACE", place), root))
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert memory.check("ana") == []


GATE = """
import os, signal, sys, threading
from lean_memory import Memory, forking
from lean_memory.store import clear, namespaces
from support.embedding import WordEmbedder

signal.alarm(30)
memory = Memory(root=sys.argv[1], embedder=WordEmbedder())
memory.add("ana", "I like tea.")
began, forking_now, shut = threading.Event(), threading.Event(), forking.Gate.shut

def held(module, name):
    work = getattr(module, name)

    def hold(*given, **named):
        began.set()
        forking_now.wait()
        done = work(*given, **named)
        os.write(1, b"done\\n")
        return done

    setattr(module, name, hold)

def told(gate, deadline):
    forking_now.set()
    return shut(gate, deadline)

forking.Gate.shut = told
PLACE
thread.start()
began.wait()
child = os.fork()
if not child:
    os.write(1, b"forked\\n")
    memory.add("bob", "I like rice.")
    memory.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
thread.join()
memory.close()
sys.exit(os.waitstatus_to_exitcode(status))
"""

CLEARING = """
held(clear, "clear_file")
thread = threading.Thread(target=memory.clear, args=("ana",))
"""
LISTING = """
held(namespaces, "listing")
thread = threading.Thread(target=memory.namespaces)
"""


@pytest.mark.parametrize("place", [CLEARING, LISTING], ids=["clearing", "listing"])
def test_a_fork_waits_for_what_opens_files_of_its_own(root: Path, place: str) -> None:
    assert finished(start(GATE.replace("PLACE", place), root)) == ["done", "forked"]
