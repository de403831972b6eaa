"""The assistants that `connect` knows, one record each: where the configuration lies on each system, and what our entry looks like in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

MAC = "darwin"
LINUX = "linux"
WINDOWS = "win32"
EVERYWHERE = (MAC, LINUX, WINDOWS)


class Dialect(Enum):
    """How a configuration is written."""

    JSON = "json"
    JSONC = "jsonc"
    TOML = "toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """One place where a client may keep its configuration.

    `folder` and `signs` begin with a base in braces (see `places.py`) and may hold a `*`; the client is there when one of `signs` exists.
    Of `files` the first that exists is meant, else the first. Where none of a client's places is there, the first of the system is meant.
    """

    systems: tuple[str, ...]
    folder: str
    files: tuple[str, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What an entry looks like: fields before the command, fields after it, and how the command and its environment are written."""

    first: Mapping[str, object] = field(default_factory=dict[str, object])
    command_is_list: bool = False
    environment: str = "env"
    last: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An assistant: its identifier (which is also its `LM_CLIENT`), its name for people, and how it is told of a server.

    `applies` says what the person has to do before the client notices.
    """

    id: str
    name: str
    dialect: Dialect
    path: tuple[str, ...]
    locations: tuple[Location, ...]
    shape: Shape = field(default_factory=Shape)
    applies: str = "Restart it to use the memory."


_STDIO = Shape(first={"type": "stdio"})


def _one_folder(folder: str, *files: str, systems: tuple[str, ...] = EVERYWHERE) -> Location:
    return Location(systems=systems, folder=folder, files=files, signs=(folder,))


def _code(edition: str) -> tuple[Location, ...]:
    bases = {MAC: "{support}", LINUX: "{config}", WINDOWS: "{roaming}"}
    return tuple(
        Location(systems=(system,), folder=f"{base}/{edition}/User", files=("mcp.json",), signs=(f"{base}/{edition}",))
        for system, base in bases.items()
    )


CLIENTS: tuple[Client, ...] = (
    Client(
        id="claude-desktop",
        name="Claude Desktop",
        dialect=Dialect.JSON,
        path=("mcpServers",),
        locations=(
            _one_folder("{support}/Claude", "claude_desktop_config.json", systems=(MAC,)),
            _one_folder("{config}/Claude", "claude_desktop_config.json", systems=(LINUX,)),
            _one_folder("{roaming}/Claude", "claude_desktop_config.json", systems=(WINDOWS,)),
            # The packaged edition sees its own copy of the roaming folder and never the classic one.
            Location(
                systems=(WINDOWS,),
                folder="{local}/Packages/Claude_*/LocalCache/Roaming/Claude",
                files=("claude_desktop_config.json",),
                signs=("{local}/Packages/Claude_*",),
            ),
        ),
        applies="Quit it and start it again to use the memory.",
    ),
    Client(
        id="claude-code",
        name="Claude Code",
        dialect=Dialect.JSON,
        path=("mcpServers",),
        locations=(
            Location(systems=EVERYWHERE, folder="{claude}", files=(".claude.json",), signs=("{claude}/.claude.json", "{home}/.claude")),
        ),
        shape=_STDIO,
        applies="Start a new session to use the memory.",
    ),
    Client(
        id="cursor",
        name="Cursor",
        dialect=Dialect.JSONC,
        path=("mcpServers",),
        locations=(_one_folder("{home}/.cursor", "mcp.json"),),
    ),
    Client(
        id="vscode",
        name="VS Code",
        dialect=Dialect.JSONC,
        path=("servers",),
        locations=(*_code("Code"), *_code("Code - Insiders")),
        shape=_STDIO,
        applies="Start the server under MCP: List Servers, or restart it.",
    ),
    Client(
        id="codex",
        name="Codex CLI",
        dialect=Dialect.TOML,
        path=("mcp_servers",),
        locations=(_one_folder("{codex}", "config.toml"),),
        applies="Start a new session to use the memory.",
    ),
    Client(
        id="gemini",
        name="Gemini CLI",
        dialect=Dialect.JSONC,
        path=("mcpServers",),
        locations=(_one_folder("{gemini}/.gemini", "settings.json"),),
        applies="Start a new session to use the memory.",
    ),
    Client(
        id="windsurf",
        name="Windsurf",
        dialect=Dialect.JSON,
        path=("mcpServers",),
        locations=(
            Location(systems=EVERYWHERE, folder="{home}/.codeium/windsurf", files=("mcp_config.json",), signs=("{home}/.codeium",)),
        ),
        applies="Refresh its list of MCP servers to use the memory.",
    ),
    Client(
        id="lmstudio",
        name="LM Studio",
        dialect=Dialect.JSON,
        path=("mcpServers",),
        locations=(_one_folder("{home}/.lmstudio", "mcp.json"),),
        applies="Switch it on among its MCP servers to use the memory.",
    ),
    Client(
        id="zed",
        name="Zed",
        dialect=Dialect.JSONC,
        path=("context_servers",),
        locations=(
            _one_folder("{home}/.config/zed", "settings.json", systems=(MAC,)),
            _one_folder("{config}/zed", "settings.json", systems=(LINUX,)),
            _one_folder("{roaming}/Zed", "settings.json", systems=(WINDOWS,)),
        ),
        shape=Shape(first={"source": "custom"}),
        applies="It notices by itself.",
    ),
    Client(
        id="opencode",
        name="OpenCode",
        dialect=Dialect.JSONC,
        path=("mcp",),
        locations=(_one_folder("{config}/opencode", "opencode.json", "opencode.jsonc"),),
        shape=Shape(first={"type": "local"}, command_is_list=True, environment="environment", last={"enabled": True}),
        applies="Start a new session to use the memory.",
    ),
)


def client_called(name: str) -> Client | None:
    """The client with this identifier or name, however it is spelled."""
    wanted = _squeezed(name)
    return next((client for client in CLIENTS if wanted in (_squeezed(client.id), _squeezed(client.name))), None)


def _squeezed(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
