"""Running programs without whatever this process's environment says to Python, pip and uv."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lean_memory_setup.failing import SetupError

_NOT_PASSED_ON = ("PYTHON", "UV_", "PIP_", "VIRTUAL_ENV", "CONDA")
_TOLD = 2000
"""Characters of a failed program's last words that are passed on."""


def bare_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which nothing but the payload decides what is installed and imported."""
    return {name: value for name, value in environ.items() if not name.startswith(_NOT_PASSED_ON)}


def run(words: Sequence[str | Path], *, why: str, more: Mapping[str, str] | None = None, patience: float = 600.0) -> str:
    """The standard output of a program. Raises `SetupError`, which begins with `why`, where it fails or takes more than `patience` seconds."""
    environ = {**bare_environment(), **(more or {})}
    try:
        done = subprocess.run(
            [str(word) for word in words],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{why}: {error}") from error
    if done.returncode != 0:
        raise SetupError(f"{why}: {(done.stderr or done.stdout).strip()[-_TOLD:]}")
    return done.stdout
