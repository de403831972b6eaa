"""No byte of a secret reaches the disk: not the file, not its log, not what a killed process leaves, not what is logged."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import pytest

from lean_memory import Memory
from support.children import killed, line, start
from support.made_up_secrets import Maker, Secret

_ADDING = """
import sys
from lean_memory import Memory
from support.made_up_secrets import Maker

memory = Memory(root=sys.argv[1])
secrets = Maker(int(sys.argv[2])).every()
for number, secret in enumerate(secrets):
    memory.add("ana", secret.text)
    if number == 20:
        print("ready", flush=True)
        sys.stdin.readline()
"""
_STORED_ONLY = """
import os, sys
from lean_memory import Memory, ingest
from support.made_up_secrets import Maker

memory = Memory(root=sys.argv[1])
ingest.extract = lambda *arguments, **named: os._exit(9)
memory.add_many("ana", [secret.text for secret in Maker(int(sys.argv[2])).every()])
"""


def left(root: Path, secrets: Iterable[Secret]) -> list[tuple[str, str]]:
    """The secrets of which something stands in a file under `root`."""
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert files
    return [
        (secret.name, name) for secret in secrets for name, held in files.items() if any(part.encode() in held for part in secret.parts)
    ]


def test_nothing_of_a_secret_is_on_the_disk_or_in_a_log(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    one_by_one, many = Maker(11).every(), Maker(12).every()
    with Memory(root=root) as memory:
        results = [memory.add("ana", secret.text) for secret in one_by_one]
        results += memory.add_many("ana", [secret.text for secret in many])
        assert [r for r in results if not r.redacted] == []
        assert left(root, [*one_by_one, *many]) == []
        memory.search("ana", "what is the password?", k=50)
        memory.forget("ana", episode_id=str(results[0].episode_id))
        memory.add("ana", one_by_one[0].text, relearn=True)
    assert left(root, [*one_by_one, *many]) == []
    assert [secret.name for secret in [*one_by_one, *many] if any(part in caplog.text for part in secret.parts)] == []


def test_nothing_of_a_secret_is_left_by_a_killed_process_or_learned_when_it_is_resumed(root: Path) -> None:
    child = start(_ADDING, root, 13)
    assert line(child) == "ready"
    killed(child)
    assert left(root, Maker(13).every()) == []
    with Memory(root=root) as memory:
        assert memory.search("ana", "password")
    assert left(root, Maker(13).every()) == []


def test_what_is_stored_and_not_yet_understood_holds_no_secret(root: Path) -> None:
    child = start(_STORED_ONLY, root, 14)
    child.communicate(timeout=120)
    assert child.returncode == 9
    assert left(root, Maker(14).every()) == []
    with Memory(root=root) as memory:
        assert memory.status("ana")[0].unfinished > 0
        memory.facts("ana")
        assert memory.status("ana")[0].unfinished == 0
        assert not [f for f in memory.facts("ana", include_history=True) if "redacted" in f.object]
    assert left(root, Maker(14).every()) == []


def test_the_rest_of_a_text_is_learned_and_the_secret_is_no_fact(memory: Memory) -> None:
    told = memory.add("ana", "I work at Acme and my password is hunter22. My sister Ana lives in Porto.")
    assert told.redacted == ("password",)
    assert {(f.predicate, f.object) for f in memory.facts("ana")} >= {("works_at", "Acme"), ("lives_in", "Porto")}
    assert not [f for f in memory.facts("ana", include_history=True) if "redacted" in f.object]
    assert memory.search("ana", "password")[0].source.startswith("I work at Acme and my password is [redacted: password].")
