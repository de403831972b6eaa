"""Where no service can be started, a shim says why."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from lean_memory_bridge.shim.starting import NoServiceError, Starter


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def full(_: object) -> Usage:
    return Usage(1_000_000, 1_000_000, 0)


def test_a_full_disk_is_told_as_the_reason_why_no_service_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", full)
    starter = Starter(tmp_path, program=(sys.executable, "-c", "raise SystemExit(1)"))

    with pytest.raises(NoServiceError, match="The disk of the data folder is full: free some space and try again"):
        starter.service(30.0)
