"""Assistants connected from the window: entered, tried out, told of and taken out again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lean_memory.errors import NotFoundError
from lean_memory_bridge import assistants
from support.service import running_service

BEFORE = b'{"mcpServers": {"other": {"command": "x"}}}'


@pytest.fixture
def cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Cursor's configuration in a home where nothing else is."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / ".cursor").mkdir()
    file = tmp_path / ".cursor" / "mcp.json"
    file.write_bytes(BEFORE)
    yield file


def standing(root: Path) -> dict[str, tuple[bool, str]]:
    return {one.id: (one.installed, one.standing) for one in assistants.known_assistants(root).assistants}


def test_an_assistant_is_connected_tried_and_disconnected_to_the_byte(cursor: Path, tmp_path: Path) -> None:
    with running_service(tmp_path) as service:
        assert standing(service.root)["cursor"] == (True, "not connected")
        done = assistants.connect(service.root, "cursor")
        assert done.outcomes[0].outcome == "connected", done.sentence
        assert "tools answered" in done.sentence
        assert standing(service.root)["cursor"] == (True, "connected")
        assert assistants.disconnect(service.root, "cursor").outcomes[0].outcome == "disconnected"
    assert cursor.read_bytes() == BEFORE


def test_what_is_not_connected_says_so_when_tried(cursor: Path, tmp_path: Path) -> None:
    assert assistants.test(tmp_path / "memory", "cursor").outcomes[0].outcome == "silent"
    assert assistants.disconnect(tmp_path / "memory", "cursor").sentence == "It was not connected."


def test_a_configuration_that_cannot_be_understood_is_left_alone(cursor: Path, tmp_path: Path) -> None:
    cursor.write_bytes(b"{ not json")
    done = assistants.connect(tmp_path / "memory", "cursor")
    assert done.outcomes[0].outcome == "refused"
    assert cursor.read_bytes() == b"{ not json"


def test_an_unknown_assistant_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        assistants.connect(tmp_path, "clippy")


def test_there_is_something_to_paste_into_any_other(cursor: Path, tmp_path: Path) -> None:
    assert "lean-memory" in assistants.known_assistants(tmp_path).snippet
