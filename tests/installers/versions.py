"""The version before this one, for bringing it up to date: the same project under an earlier number."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

PROJECT = Path(__file__).parents[2]
OLD = "0.0.9"
EPOCH = 1_700_000_000
"""The time that both note in their archives."""
_NOT_NEEDED = (".git", ".venv", "dist", "build", ".hypothesis", "tests")


def previous(folder: Path) -> Path:
    """The source of the version before, made in `folder`, which does not exist."""
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns(*_NOT_NEEDED))
    described = folder / "pyproject.toml"
    text = described.read_text(encoding="utf-8")
    described.write_text(re.sub(r'^version = ".*"', f'version = "{OLD}"', text, count=1, flags=re.MULTILINE), encoding="utf-8")
    return folder
