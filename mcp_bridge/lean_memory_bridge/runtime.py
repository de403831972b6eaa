"""Finding the service of a data root, and making sure that what answers there is it. The standard library alone; loads no engine code.

`<root>/runtime.json` says where the service listens; `<root>/admin.token` is the secret of this data root. A file, a live process id or an
open port prove nothing: a stranger may listen there by now. So the caller sends a fresh challenge and the service answers with
`HMAC-SHA256(token, challenge, instance, port)`: only a process that can read the token file can do that, and the token itself is never sent
before. The port is part of the proof, so that a stranger cannot pass the challenge on to the real service.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from lean_memory.private_files import replace_private, write_new

RUNTIME_FILE = "runtime.json"
TOKEN_FILE = "admin.token"
DEFAULT_PORT = 7337
HOST = "127.0.0.1"
CLIENT_HEADER = "X-Lean-Memory-Client"
"""With the admin token: the name of the assistant on whose behalf the shim speaks."""
EXIT_ALREADY_RUNNING = 3
"""How the service process ends when another one serves the same data root; that one answers, or holds the lock."""
EXIT_BEGIN_ANEW = 4
"""How a supervised service ends that wants to be started again at once, as other models are to be used."""
ENDING = -32050
"""The JSON-RPC error of a call that the service ended before it was done; nothing was, and the next instance can be asked the same."""

_LARGEST_ANSWER = 65_536
_SHORTEST_TOKEN = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a running service writes of itself after it has bound its port; `started_at` is epoch milliseconds."""

    port: int
    pid: int
    started_at: int
    version: str
    instance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A service that has proved that it knows the token of the data root."""

    port: int
    pid: int
    version: str
    instance: str

    @property
    def address(self) -> str:
        """Where it is, as an address without a path."""
        return f"http://{HOST}:{self.port}"


def fresh_key() -> str:
    """A key for one call. It says when it was made, as an instance that did not live to see the call can tell by that what was done before it."""
    return f"{time.time_ns() // 1_000_000:013}-{secrets.token_hex(16)}"


def read_runtime(root: Path) -> Runtime | None:
    """What the runtime file says; `None` where there is none, or none that can be understood. It may be stale: `verify` it."""
    try:
        fields = _object((root / RUNTIME_FILE).read_bytes())
    except OSError:
        return None
    if fields is None:
        return None
    port, pid, started_at = (fields.get(name) for name in ("port", "pid", "started_at"))
    if not (isinstance(port, int) and isinstance(pid, int) and isinstance(started_at, int) and 0 < port < 65_536):
        return None
    return Runtime(
        port=port, pid=pid, started_at=started_at, version=str(fields.get("version", "")), instance=str(fields.get("instance", ""))
    )


def write_runtime(root: Path, runtime: Runtime) -> None:
    """Put the runtime file in place, whole or not at all, for its owner's eyes only."""
    _make_root(root)
    replace_private(root / RUNTIME_FILE, json.dumps(asdict(runtime)))


def remove_runtime(root: Path, instance: str) -> None:
    """Take the runtime file away if it is still that of `instance`."""
    held = read_runtime(root)
    if held is not None and held.instance == instance:
        (root / RUNTIME_FILE).unlink(missing_ok=True)


def admin_token(root: Path) -> str:
    """The secret of this data root, made when first asked for; of several that ask at once, all get the same one."""
    path = root / TOKEN_FILE
    held = _read_token(path)
    if held is not None:
        return held
    _make_root(root)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    write_new(fresh, secrets.token_urlsafe(32))
    try:
        _put_if_absent(fresh, path)
    except FileExistsError:
        if _read_token(path) is None:
            fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    made = _read_token(path)
    if made is None:
        raise OSError(f"{path} cannot be read back after it was written.")
    return made


def proof(token: str, challenge: str, instance: str, port: int) -> str:
    """What a service with `token` answers to a challenge, in hex."""
    said = f"lean-memory handshake 1\n{challenge}\n{instance}\n{port}"
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


def verify(runtime: Runtime, token: str, *, timeout: float = 2.0) -> Live | None:
    """The service at `runtime.port`, if within `timeout` seconds it proves that it knows `token`; whatever the file said of its instance.

    `None` for a closed port, a mute or slow listener, a foreign program, or a service of another data root. The token is not sent.
    """
    challenge = secrets.token_hex(32)
    answer = _ask(runtime.port, f"/healthz?challenge={challenge}", timeout)
    return None if answer is None else proved(answer, challenge, token, runtime.port)


def proved(answer: bytes, challenge: str, token: str, port: int) -> Live | None:
    """The service at `port` that gave this answer to a challenge, if it knows `token`."""
    held = _object(answer) or {}
    instance, version, pid, given = (held.get(name) for name in ("instance", "version", "pid", "proof"))
    if not (isinstance(instance, str) and isinstance(version, str) and isinstance(pid, int) and isinstance(given, str)):
        return None
    if not hmac.compare_digest(given.encode(), proof(token, challenge, instance, port).encode()):
        return None
    return Live(port=port, pid=pid, version=version, instance=instance)


def find(root: Path, *, timeout: float = 2.0) -> Live | None:
    """The live service of a data root, if there is one. Writes nothing: without a token file no service can have been there."""
    runtime = read_runtime(root)
    token = _read_token(root / TOKEN_FILE)
    return verify(runtime, token, timeout=timeout) if runtime is not None and token is not None else None


def _ask(port: int, path: str, timeout: float) -> bytes | None:
    """One GET with a deadline for all of it, so that a listener that drips cannot hold the caller."""
    deadline = time.monotonic() + timeout
    request = f"GET {path} HTTP/1.0\r\nHost: {HOST}:{port}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    received = bytearray()
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as connection:
            connection.sendall(request.encode())
            while len(received) < _LARGEST_ANSWER:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                part = connection.recv(8192)
                if not part:
                    break
                received += part
                if time.monotonic() > deadline:
                    return None
    except OSError:
        return None
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split()
    return body if len(status) >= 2 and status[1] == b"200" else None


def _object(body: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _read_token(path: Path) -> str | None:
    try:
        held = path.read_text(encoding="ascii").strip()
        if os.name == "posix" and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return held if len(held) >= _SHORTEST_TOKEN else None


def _make_root(root: Path) -> None:
    root.mkdir(mode=0o700, parents=True, exist_ok=True)


def _put_if_absent(source: Path, target: Path) -> None:
    """Raises `FileExistsError` where the target is there already."""
    if os.name != "posix":
        source.rename(target)
        return
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(target) from None
        source.replace(target)
