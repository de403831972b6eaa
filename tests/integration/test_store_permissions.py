"""Folders and files that cannot be written: read where that is possible, and said clearly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.children import finished, start
from support.statements import day, open_store, say, works_at

READER = """
import ctypes, os, sys
from pathlib import Path
from lean_memory.errors import StorageError
from support.statements import current, day, objects, open_store, record

PR_CAPBSET_DROP, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2
if os.geteuid() == 0 and sys.argv[-1] != "without power":
    # Permissions do not hold for the superuser: begin again without the two capabilities that pass over them.
    libc = ctypes.CDLL(None)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        assert libc.prctl(PR_CAPBSET_DROP, capability) == 0
    os.execv(sys.executable, [*sys.orig_argv, "without power"])
try:
    store = open_store(Path(sys.argv[1]))
except StorageError as error:
    print("REFUSED", error)
else:
    print(store.writable, objects(current(store)))
    try:
        record(store, "x", day(2))
    except StorageError as error:
        print(error)
    store.close()
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="folders are made read-only in another way on Windows")


def run_without_power(root: Path) -> list[str]:
    """Run the reader as somebody that permissions hold for."""
    return finished(start(READER, root))


def test_a_namespace_in_a_read_only_folder_can_be_read(root: Path) -> None:
    store = open_store(root)
    say(store, works_at("Acme"), at=day(1))
    store.close()
    (root / "ana.memory.db").chmod(0o444)
    root.chmod(0o555)
    before = (root / "ana.memory.db").read_bytes()
    shown, refused = run_without_power(root)
    root.chmod(0o755)
    assert shown == "False ['Acme']"
    assert "can be read, but not written" in refused
    assert [f.name for f in root.iterdir()] == ["ana.memory.db"]
    assert (root / "ana.memory.db").read_bytes() == before


def test_a_namespace_cannot_be_made_in_a_read_only_folder(root: Path) -> None:
    root.mkdir(mode=0o555)
    (root / "other.txt").write_text("in the way of making it private")
    root.chmod(0o555)
    [said] = run_without_power(root)
    root.chmod(0o755)
    assert said.startswith("REFUSED")
    assert "Nothing was changed" in said
