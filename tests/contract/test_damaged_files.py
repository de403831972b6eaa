"""One file that cannot be used takes no other namespace with it, and is told of in a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lean_memory import Memory
from lean_memory.errors import LeanMemoryError
from support.embedding import WordEmbedder


def scripted(script: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        con = sqlite3.connect(path)
        con.executescript(script)
        con.close()

    return change


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def overwrite(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096] + b"\x55" * 60_000)


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def dangle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


HARMS: dict[str, Callable[[Path], None]] = {
    "cut short": cut_short,
    "overwritten": overwrite,
    "a link": link,
    "a link to nowhere": dangle,
    "without a table": scripted("DROP TABLE entity"),
    "of no version": scripted("PRAGMA user_version = 0"),
    "without its next moment": scripted("DELETE FROM setting WHERE key = 'next_moment'"),
    "with a strange next moment": scripted("UPDATE setting SET value = 'soon' WHERE key = 'next_moment'"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_file_that_cannot_be_used_is_told_of_and_the_others_are_used(root: Path, harm: str) -> None:
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        memory.add("ana", "I like tea.")
        memory.add("bob", "I like rice.")
    HARMS[harm](root / "bob.memory.db")
    with Memory(root=root, embedder=WordEmbedder()) as memory:
        assert "ana" in memory.namespaces()
        ana, bob = memory.status()
        assert (ana.name, ana.facts, ana.problems) == ("ana", 1, ())
        assert (bob.name, bob.writable) == ("bob", False)
        assert bob.problems[0].endswith(".")
        for use in (
            lambda: memory.status("bob"),
            lambda: memory.add("bob", "I like wine."),
            lambda: memory.facts("bob"),
            lambda: memory.search("bob", "rice"),
            lambda: memory.check("bob"),
            lambda: memory.forget("bob", entity="rice"),
            lambda: memory.clear("bob"),
        ):
            with pytest.raises(LeanMemoryError):
                use()
        assert [f.object for f in memory.facts("ana")] == ["tea"]
