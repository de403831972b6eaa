"""The `lean-memory` command as a person starts it: a process of its own, with a home and a data folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds after which a command that has not ended is a failure."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """Starts the command in `home`; its data lies in `root` unless `--root` says otherwise."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def root(self) -> Path:
        return self.home / "data"

    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LM_", "PYTHONIOENCODING", "PYTHONUTF8", "LC_", "LANG"))
        }
        own = {"HOME": str(self.home), "USERPROFILE": str(self.home), "LM_DATA_ROOT": str(self.root), "LM_TZ": "Europe/Vienna"}
        return {**kept, **own, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **self.environ}

    def arguments(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "lean_memory_desktop", *words]

    def run(self, *words: str, said: bytes = b"") -> Outcome:
        """Run to the end with `said` on standard input, which is a pipe."""
        done = subprocess.run(
            self.arguments(*words), input=said, env=self.environment(), capture_output=True, timeout=PATIENCE, check=False
        )
        encoding = self.environment()["PYTHONIOENCODING"].partition(":")[0]
        return Outcome(code=done.returncode, out=done.stdout.decode(encoding), err=done.stderr.decode(encoding))

    @contextmanager
    def started(self, *words: str) -> Generator[subprocess.Popen[bytes]]:
        """A command under way, of which nobody reads what it writes; it does not outlive the block."""
        child = subprocess.Popen(
            self.arguments(*words), env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield child
        finally:
            child.kill()
            child.wait(timeout=PATIENCE)

    def done(self, *words: str, said: bytes = b"") -> str:
        """What a command that must succeed prints."""
        outcome = self.run(*words, said=said)
        assert outcome.code == 0, outcome
        return outcome.out

    def json(self, *words: str, said: bytes = b"") -> Any:
        """What a command that must succeed prints with `--json`."""
        return json.loads(self.done(*words, "--json", said=said))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    def is_one_sentence(self) -> bool:
        """Whether it failed the way a person can read: one line on stderr, no traceback, nothing on stdout."""
        return not self.out and len(self.err.strip().splitlines()) == 1 and "Traceback" not in self.err
