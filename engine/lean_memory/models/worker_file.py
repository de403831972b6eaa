"""What the worker says of itself in `<data root>/worker.json`, and how it proves that it is the one that wrote it.

The file is its owner's alone. A port that it names may be a stranger's by now, so whoever connects sends a challenge first, and what was
stored goes only to who answers it with the secret of the file: to the worker of this data root, and nobody else.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import cast

from lean_memory.models.installed import write_privately
from lean_memory.models.manifest import Role

WORKER_FILE = "worker.json"
LOCK_FILE = "worker.lock"
HOST = "127.0.0.1"


class State(StrEnum):
    """How far a model is."""

    ABSENT = "absent"
    """It belongs to no tier in use, or is not downloaded."""
    WARMING = "warming"
    READY = "ready"
    IDLE = "idle"
    """It was not needed for a while and gave its memory back; the next one who asks brings it back."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleState:
    """How far the model of one role is; `message` is a sentence for a person where there is something to say."""

    state: State = State.ABSENT
    message: str = ""
    model_id: str = ""
    revision: str = ""


Roles = Mapping[Role, RoleState]
NOBODY: Roles = {role: RoleState() for role in Role}


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A running worker; `started_at` is epoch milliseconds."""

    port: int
    pid: int
    started_at: int
    instance: str
    secret: str = field(repr=False)
    roles: Roles = field(default_factory=lambda: NOBODY)


def read_worker(root: Path) -> Worker | None:
    """What the file says; `None` where there is none, or none that can be understood. It may be stale."""
    try:
        held = json.loads((root / WORKER_FILE).read_bytes())
        return Worker(
            port=int(held["port"]),
            pid=int(held["pid"]),
            started_at=int(held["started_at"]),
            instance=str(held["instance"]),
            secret=str(held["secret"]),
            roles=roles_of(held["state"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_worker(root: Path, worker: Worker) -> None:
    """Put the file in place, whole or not at all, for its owner's eyes only."""
    said = asdict(worker)
    said["state"] = said.pop("roles")
    write_privately(root / WORKER_FILE, said)


def remove_worker(root: Path, instance: str) -> None:
    """Take the file away if it is still that of `instance`."""
    held = read_worker(root)
    if held is not None and held.instance == instance:
        (root / WORKER_FILE).unlink(missing_ok=True)


def roles_of(said: object) -> Roles:
    """The states as they go through JSON. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    by_role = cast("Mapping[str, Mapping[str, str]]", said)
    return {**NOBODY, **{Role(role): _role_state(state) for role, state in by_role.items()}}


def proof(secret: str, challenge: str, instance: str, port: int) -> str:
    """What a worker answers to a challenge, in hex. The port is part of it, so that a stranger cannot pass the challenge on."""
    said = f"lean-memory worker 1\n{challenge}\n{instance}\n{port}"
    return hmac.new(secret.encode(), said.encode(), hashlib.sha256).hexdigest()


def _role_state(said: Mapping[str, str]) -> RoleState:
    return RoleState(state=State(said["state"]), **{name: str(said.get(name, "")) for name in ("message", "model_id", "revision")})
