"""What an installation for one person puts outside its folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lean_memory_setup.placing import UNINSTALL, place, remove_placed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it is for Linux")


def test_what_was_placed_goes_again_but_for_what_somebody_else_put_there_since(tmp_path: Path) -> None:
    payload, home, prefix = tmp_path / "payload", tmp_path / "home", tmp_path / "prefix"
    (payload / "share" / "applications").mkdir(parents=True)
    (payload / "share" / "applications" / "app.desktop").write_text("Exec=@BIN@/lean-memory")
    home.mkdir()
    place(payload, home, prefix)
    entry, commands = prefix / "share" / "applications" / "app.desktop", prefix / "bin"
    assert entry.read_text() == f"Exec={commands}/lean-memory"
    assert (commands / "lean-memory").readlink() == home / "env" / "bin" / "lean-memory"
    (commands / "lean-memory").unlink()
    (commands / "lean-memory").write_text("of pip")
    (commands / "lean-memory-mcp").unlink()
    (commands / "lean-memory-mcp").symlink_to(tmp_path / "pipx")
    remove_placed(home)
    assert not entry.exists()
    assert sorted(path.name for path in commands.iterdir()) == ["lean-memory", "lean-memory-mcp"]
    assert not (commands / UNINSTALL).exists()
