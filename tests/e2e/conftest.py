"""A fresh command for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """The command with an empty home."""
    return Command(home=tmp_path)
