"""Real processes that use a store, for tests of what several of them do to one file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that runs `program`; its `sys.argv[1:]` are the arguments."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=paths(),
    )


def paths() -> dict[str, str]:
    """The environment in which a process finds the engine and what the tests have in support."""
    tests = Path(__file__).parents[1]
    engine = Path(sys.modules["lean_memory"].__file__ or "").parents[1]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(engine), str(tests)])}


def line(child: subprocess.Popen[str]) -> str:
    """The next line that a child prints."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


def tell(child: subprocess.Popen[str], message: str = "go") -> None:
    """Send a child a line."""
    assert child.stdin is not None
    child.stdin.write(f"{message}\n")
    child.stdin.flush()


def finished(child: subprocess.Popen[str]) -> list[str]:
    """The lines that a child printed since they were last read, once it has ended well."""
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stdin, child.stdout, child.stderr:
        child.stdin.close()
        # Not communicate(): it would pass over what readline() has read ahead.
        output = child.stdout.read()
        errors = child.stderr.read()
    assert (child.wait(timeout=120), errors) == (0, ""), errors
    return output.splitlines()


def killed(child: subprocess.Popen[str]) -> None:
    """End a child with SIGKILL."""
    child.kill()
    child.communicate()
