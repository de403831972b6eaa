"""Where each assistant keeps its configuration on each system, and what an entry looks like in it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from lean_memory_bridge.clients.catalogue import CLIENTS, Client, client_called
from lean_memory_bridge.clients.entry import Launch, entries_of, entry_of, is_ours, launch_of, our_launch
from lean_memory_bridge.clients.places import Computer, places_of

LAUNCH = Launch(command=["/opt/bin/lean-memory-mcp"], environment={"LM_CLIENT": "x"})
HOME = Path("/people/ana")


def computer(system: str, home: Path = HOME, **environ: str) -> Computer:
    return Computer(home=home, environ=environ, system=system)


@pytest.mark.parametrize(
    ("name", "mac", "linux", "windows"),
    [
        (
            "claude-desktop",
            "Library/Application Support/Claude/claude_desktop_config.json",
            ".config/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        (
            "vscode",
            "Library/Application Support/Code/User/mcp.json",
            ".config/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json", ".gemini/settings.json"),
        ("windsurf", *[".codeium/windsurf/mcp_config.json"] * 3),
        ("lmstudio", ".lmstudio/mcp.json", ".lmstudio/mcp.json", ".lmstudio/mcp.json"),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
        ("opencode", *[".config/opencode/opencode.json"] * 3),
    ],
)
def test_each_client_has_its_place_on_each_system(name: str, mac: str, linux: str, windows: str) -> None:
    client = client_called(name)
    assert client is not None
    for system, expected in (("darwin", mac), ("linux", linux), ("win32", windows)):
        assert [place.file for place in places_of(client, computer(system))] == [HOME / expected]


@pytest.mark.parametrize(
    ("name", "variable", "system", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "linux", ".claude.json"),
        ("codex", "CODEX_HOME", "darwin", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "linux", ".gemini/settings.json"),
        ("zed", "XDG_CONFIG_HOME", "linux", "zed/settings.json"),
        ("cursor", "NOTHING", "linux", None),
        ("claude-desktop", "APPDATA", "win32", "Claude/claude_desktop_config.json"),
    ],
)
def test_the_variables_that_clients_heed_are_heeded(name: str, variable: str, system: str, file: str | None, tmp_path: Path) -> None:
    client = client_called(name)
    assert client is not None
    found = places_of(client, computer(system, **{variable: str(tmp_path)}))[0].file
    assert found == (tmp_path / file if file else HOME / ".cursor/mcp.json")


def test_every_edition_of_claude_desktop_on_windows_is_connected(tmp_path: Path) -> None:
    client = client_called("claude-desktop")
    assert client is not None
    (tmp_path / "AppData/Roaming/Claude").mkdir(parents=True)
    (tmp_path / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc").mkdir(parents=True)
    files = [place.file.relative_to(tmp_path).as_posix() for place in places_of(client, computer("win32", tmp_path))]
    assert files == [
        "AppData/Roaming/Claude/claude_desktop_config.json",
        "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
    ]


def test_the_packaged_edition_alone_is_connected_alone(tmp_path: Path) -> None:
    client = client_called("claude-desktop")
    assert client is not None
    (tmp_path / "AppData/Local/Packages/Claude_abc").mkdir(parents=True)
    found = places_of(client, computer("win32", tmp_path))
    assert [(place.installed, "Claude_abc" in str(place.file)) for place in found] == [(True, True)]


def test_of_two_names_of_a_configuration_the_one_that_is_there_is_used(tmp_path: Path) -> None:
    client = client_called("opencode")
    assert client is not None
    folder = tmp_path / ".config/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{}", encoding="utf-8")
    assert [place.file.name for place in places_of(client, computer("linux", tmp_path))] == ["opencode.jsonc"]


def test_a_client_that_is_not_there_is_not_installed(tmp_path: Path) -> None:
    assert not any(place.installed for client in CLIENTS for place in places_of(client, computer("linux", tmp_path)))


@pytest.mark.parametrize("spelling", ["VS Code", "vs-code", "VSCODE", "vscode"])
def test_a_client_is_found_however_its_name_is_spelled(spelling: str) -> None:
    found = client_called(spelling)
    assert found is not None
    assert found.id == "vscode"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_what_is_written_starts_what_was_meant(client: Client) -> None:
    launch = Launch(command=["/opt/a b/lean-memory-mcp", "--flag"], environment={"LM_CLIENT": "ä", "X": 'q"\\'})
    entry = entry_of(client, launch)
    shown = entries_of(client).shown("lean-memory", entry)
    tree = tomllib.loads(shown) if client.dialect.value == "toml" else json.loads(shown)
    for key in client.path:
        tree = tree[key]
    assert launch_of(client, tree["lean-memory"]) == launch
    assert is_ours(client, entry)


def test_the_entries_have_the_shapes_that_the_clients_document() -> None:
    shapes = {client.id: entry_of(client, LAUNCH) for client in CLIENTS}
    plain = {"command": "/opt/bin/lean-memory-mcp", "args": [], "env": {"LM_CLIENT": "x"}}
    assert shapes["claude-desktop"] == shapes["cursor"] == shapes["gemini"] == shapes["windsurf"] == shapes["lmstudio"] == plain
    assert shapes["codex"] == plain
    assert shapes["claude-code"] == shapes["vscode"] == {"type": "stdio", **plain}
    assert shapes["zed"] == {"source": "custom", **plain}
    assert shapes["opencode"] == {
        "type": "local",
        "command": ["/opt/bin/lean-memory-mcp"],
        "environment": {"LM_CLIENT": "x"},
        "enabled": True,
    }


def test_our_entry_names_the_client_and_the_data_only_where_it_is_not_the_usual_place(tmp_path: Path) -> None:
    launch = our_launch("cursor", tmp_path)
    assert Path(launch.command[0]).is_absolute()
    assert launch.environment["LM_CLIENT"] == "cursor"
    assert launch.environment["LM_DATA_ROOT"] == str(tmp_path)
    assert "LM_DATA_ROOT" not in our_launch("cursor", Path("~/.lean_memory").expanduser()).environment


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "C:\\Program Files\\lm\\lean-memory-mcp.exe"}, True),
        ({"command": "python", "args": ["-m", "lean_memory_bridge.stdio"]}, True),
        ({"command": "uvx", "args": ["lean-memory-mcp"]}, True),
        ({"command": "npx", "args": ["other"]}, False),
        ({"url": "http://127.0.0.1:7337/mcp"}, False),
        ("nonsense", False),
        ({"command": 3}, False),
    ],
)
def test_an_entry_is_ours_when_it_starts_our_shim(entry: object, ours: bool) -> None:
    assert is_ours(CLIENTS[0], entry) is ours
