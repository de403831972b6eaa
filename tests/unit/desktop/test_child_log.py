"""Logs of child processes stay short, and are never what keeps a child from starting."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from lean_memory_desktop import child_log

LONG = b"x" * (child_log.LARGEST + 1)


def test_a_long_log_is_begun_anew_and_what_was_before_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "service.log"
    log.parent.mkdir()
    log.write_bytes(LONG)
    with child_log.opened(log) as opened:
        opened.write(b"new")
    assert log.read_bytes() == b"new"
    assert log.with_suffix(".log.1").read_bytes() == LONG


def test_a_disk_without_room_for_what_was_before_keeps_no_child_from_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "logs" / "service.log"
    log.parent.mkdir()
    log.write_bytes(LONG)

    def full(_source: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copy", full)
    with child_log.opened(log) as opened:
        opened.write(b"new")
    assert log.read_bytes() == LONG + b"new"
