"""A small pack of packages for running larger models: the names are right, and nothing is in them."""

from __future__ import annotations

import json
import platform
import sys
import zipfile
from pathlib import Path

from lean_memory.models.packages import NAMES, NOTE

SYSTEM = {"linux": "linux", "win32": "windows", "darwin": "macos"}[sys.platform]
TARGET = f"{SYSTEM}-{platform.machine().replace('AMD64', 'x86_64')}"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def write_pack(file: Path, *, target: str = TARGET, python: str = PYTHON, more: str = "") -> Path:
    """A pack at `file` for this computer, or for what is named; `more` is a further file in it."""
    with zipfile.ZipFile(file, "w") as into:
        into.writestr(NOTE, json.dumps({"version": "0.1.0", "target": target, "python": python}))
        for name in NAMES:
            into.writestr(f"{name}/__init__.py", f"SAID = 'the {name} of a pack'\n" * 500)
        if more:
            into.writestr(more, "")
    return file
